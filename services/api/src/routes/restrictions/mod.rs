mod edit;
mod list;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(edit::edit).service(list::list);
}
