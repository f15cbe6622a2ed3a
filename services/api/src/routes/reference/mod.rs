mod openapi;
mod problem;

pub(crate) use openapi::Document;
use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(openapi::openapi).service(problem::problem);
}
