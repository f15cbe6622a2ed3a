//! The views of `keyrack-booking`, as the API writes them.

mod booking;
mod change;
mod channel_booking;
mod declined;
mod explanation;
mod hold;
mod hotel;
mod inventory;
mod nights;
mod pms;
mod quote;
mod reservation;
mod timeline;

pub(crate) use booking::{LOOK_AGAIN_AFTER_S, attempt_path, booking, look_up, refund};
pub(crate) use change::{change, change_path};
pub(crate) use channel_booking::{channel_booking, channel_booking_line};
pub(crate) use declined::{after_failure, declined, look_up_reservations};
pub(crate) use explanation::explanation;
pub(crate) use hold::{hold, hold_path};
pub(crate) use hotel::{hotel, hotel_path};
pub(crate) use inventory::inventory_night;
pub(crate) use nights::{rate_night, restriction_night};
pub(crate) use pms::{pms_batch, pms_conflict};
pub(crate) use quote::{quote, quote_path};
pub(crate) use reservation::{cancellation, cancelled_rooms, charge, reservation, reservation_path};
pub(crate) use timeline::{belongings, timeline_item};
