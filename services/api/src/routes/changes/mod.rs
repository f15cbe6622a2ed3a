mod confirm;
mod price;
mod show;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(price::price).service(show::show).service(confirm::confirm);
}
