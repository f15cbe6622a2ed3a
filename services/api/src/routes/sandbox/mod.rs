mod move_clock;

use utoipa_actix_web::service_config::ServiceConfig;

/// Only where the installation is a sandbox; elsewhere these paths do not exist.
pub(crate) fn configure(routes: &mut ServiceConfig<'_>) {
    routes.service(move_clock::move_clock);
}
