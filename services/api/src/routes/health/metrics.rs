use actix_web::{HttpResponse, get, web};
use keyrack_telemetry::Metrics;

/// For Prometheus. The names are in `docs/metrics.md`.
#[utoipa::path(
    tag = "health",
    operation_id = "metrics",
    security(()),
    responses((status = 200, body = String, content_type = "text/plain")),
)]
#[get("/metrics")]
pub(crate) async fn metrics(metrics: web::Data<Metrics>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(metrics.render())
}
