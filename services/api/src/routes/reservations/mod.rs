mod list;
mod show;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(list::list).service(show::show);
}
