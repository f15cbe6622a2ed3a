//! One folder a resource, one file an endpoint. What is registered here is in the OpenAPI document.

mod bookings;
mod changes;
mod channel_bookings;
mod credentials;
mod front_desk;
mod guest_sessions;
mod holds;
mod hotels;
mod inventory;
mod nights_wanted;
mod operations;
mod ops;
mod pms;
mod quotes;
mod rates;
mod reservations;
mod restrictions;
mod webhooks;

pub(crate) mod health;
pub(crate) mod reference;
pub(crate) mod sandbox;

use utoipa_actix_web::service_config::ServiceConfig;

pub(crate) fn configure(routes: &mut ServiceConfig<'_>) {
    holds::configure(routes);
    bookings::configure(routes);
    reservations::configure(routes);
    changes::configure(routes);
    front_desk::configure(routes);
    channel_bookings::configure(routes);
    operations::configure(routes);
    ops::configure(routes);
    webhooks::configure(routes);
    credentials::configure(routes);
    guest_sessions::configure(routes);
    hotels::configure(routes);
    quotes::configure(routes);
    rates::configure(routes);
    restrictions::configure(routes);
    inventory::configure(routes);
    pms::configure(routes);
    health::configure(routes);
    reference::configure(routes);
}
