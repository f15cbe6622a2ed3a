use actix_web::{
    HttpResponse, get,
    web::{self, Bytes},
};

/// The OpenAPI document, written once at start.
#[derive(Clone, Debug)]
pub(crate) struct Document(pub(crate) Bytes);

/// This document.
#[utoipa::path(
    tag = "reference",
    operation_id = "openapi",
    security(()),
    responses((status = 200, content_type = "application/json", body = serde_json::Value)),
)]
#[get("/openapi.json")]
pub(crate) async fn openapi(document: web::Data<Document>) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(document.0.clone())
}
