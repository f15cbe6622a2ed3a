use actix_web::{HttpResponse, get, web};
use keyrack_api_types::health::Health as Answer;
use keyrack_http::Problem;
use keyrack_runtime::health::Health;

/// Can this process do its work now? Not when a database is away, and not once it stops.
#[utoipa::path(
    tag = "health",
    operation_id = "is_ready",
    security(()),
    responses(
        (status = 200, body = Answer),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/readyz")]
pub(crate) async fn ready(health: web::Data<Health>) -> Result<HttpResponse, Problem> {
    super::told(&health.readiness().await)
}
