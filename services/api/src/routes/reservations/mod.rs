mod cancel;
mod cancel_room;
mod guest;
mod list;
mod preview;
mod show;

pub(super) use cancel::stale;
use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn configure(routes: &mut ServiceConfig<'_>) {
    routes
        .service(list::list)
        .service(show::show)
        .service(guest::change_guest)
        .service(preview::preview)
        .service(cancel::cancel_reservation)
        .service(cancel_room::cancel_room);
}
