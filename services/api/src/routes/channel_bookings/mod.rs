mod cancel;
mod list;
mod put;
mod refused;
mod show;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(list::list).service(put::put).service(cancel::cancel).service(show::show);
}
