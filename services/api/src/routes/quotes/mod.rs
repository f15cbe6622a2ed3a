mod create;
mod explain;
mod show;

pub(super) use create::room;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(create::create).service(show::show).service(explain::explain);
}
