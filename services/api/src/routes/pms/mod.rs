mod conflicts;
mod cursor;
mod put_batch;
mod refused;
mod resolve;
mod show_batch;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes
        .service(put_batch::put_batch)
        .service(show_batch::show_batch)
        .service(cursor::cursor)
        .service(conflicts::conflicts)
        .service(resolve::resolve);
}
