mod create;
mod show;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(create::create).service(show::show);
}
