use actix_web::{HttpResponse, get, web};
use keyrack_api_types::health::Health as Answer;
use keyrack_http::Problem;
use keyrack_runtime::health::Health;

/// Can this process do its work at all? When not, only a restart helps. A database that is away
/// does not make it dead.
#[utoipa::path(
    tag = "health",
    operation_id = "is_alive",
    security(()),
    responses(
        (status = 200, body = Answer),
        (status = 503, description = "UNAVAILABLE"),
    ),
)]
#[get("/healthz")]
pub(crate) async fn live(health: web::Data<Health>) -> Result<HttpResponse, Problem> {
    super::told(&health.liveness().await)
}
