//! A channel of the hotel of the tests, and what it sends.

use keyrack_booking::channel_booking::{
    self, Address, Booked, ChannelBookingError, ChannelBookingView, Delivered, DeliveredRoom, Withdrawn,
};
use keyrack_domain::{
    guest::{Guest, GuestDetails},
    principal::{Caller, Role},
};

use crate::{
    desk_world::DeskWorld,
    world::{caller, day},
};

pub(crate) const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// Calls the desk as a channel's credential of its hotel.
pub(crate) struct Channel {
    pub(crate) caller: Caller,
}

impl Channel {
    pub(crate) async fn of(at: &DeskWorld) -> Self {
        let hotel = at.world.hotels.by_code(&at.hotel).await.expect("the hotel").id;
        Self { caller: Caller { hotel: Some(hotel), ..caller(Role::Channel) } }
    }

    pub(crate) async fn try_put(
        &self,
        at: &DeskWorld,
        booking: &str,
        delivered: Delivered,
    ) -> Result<Booked, ChannelBookingError> {
        channel_booking::deliver(&at.desk, &self.caller, address(at, booking), delivered).await
    }

    pub(crate) async fn put(&self, at: &DeskWorld, booking: &str, delivered: Delivered) -> Booked {
        self.try_put(at, booking, delivered).await.expect("a booking")
    }

    pub(crate) async fn try_delete(
        &self,
        at: &DeskWorld,
        booking: &str,
    ) -> Result<Withdrawn, ChannelBookingError> {
        channel_booking::withdraw(&at.desk, &self.caller, address(at, booking)).await
    }

    pub(crate) async fn delete(&self, at: &DeskWorld, booking: &str) -> Withdrawn {
        self.try_delete(at, booking).await.expect("a withdrawal")
    }

    pub(crate) async fn look(&self, at: &DeskWorld, booking: &str) -> ChannelBookingView {
        let found = channel_booking::find(&at.desk, &self.caller, address(at, booking)).await;
        found.expect("the booking")
    }
}

pub(crate) fn address(at: &DeskWorld, booking: &str) -> Address {
    Address {
        hotel: at.hotel.clone(),
        channel: "OTA".parse().expect("a code"),
        booking: booking.parse().expect("an identifier"),
    }
}

/// Revision 1: one room for two adults, 14,560.00.
pub(crate) fn delivered(stay: (&str, &str)) -> Delivered {
    let details = GuestDetails { name: "Asha Rao".to_owned(), ..GuestDetails::default() };
    Delivered {
        revision: 1,
        check_in: day(stay.0),
        check_out: day(stay.1),
        rooms: vec![room("RT-DLX")],
        guest: Guest::new(details).expect("a guest"),
        total: "14560.00".to_owned(),
        currency: "INR".to_owned(),
    }
}

pub(crate) fn revision(revision: i64, stay: (&str, &str)) -> Delivered {
    Delivered { revision, ..delivered(stay) }
}

pub(crate) fn room(room_type: &str) -> DeliveredRoom {
    DeliveredRoom { room_type: room_type.to_owned(), rate_plan: None, adults: 2, children_ages: Vec::new() }
}
