mod live;
mod metrics;
mod ready;

use actix_web::HttpResponse;
use keyrack_api_types::{code::Code, health::Health};
use keyrack_http::Problem;
use keyrack_runtime::health::Report;
use utoipa_actix_web::service_config::ServiceConfig;

pub(crate) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(live::live).service(ready::ready).service(metrics::metrics);
}

/// Which check failed is told, why is only logged.
fn told(report: &Report) -> Result<HttpResponse, Problem> {
    let checks = report.checks.iter().map(|(name, good)| ((*name).to_owned(), *good)).collect();
    let health = Health { checks };
    if report.is_good() {
        return Ok(HttpResponse::Ok().json(health));
    }
    Err(Problem::new(Code::Unavailable, "A check failed.").fact("checks", health.checks))
}
