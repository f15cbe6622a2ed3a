//! Bookings that a channel brings under identifiers of its own: those are their keys, and for ever.

use keyrack_domain::{
    channel_booking::ChannelBookingState,
    ids::{HotelId, PrincipalId, ReservationId},
    quote::QuoteDocument,
    reservation::ReservationState,
};

use crate::{
    nights::{Move, Units, beyond, count, room_nights},
    outcome::{Answer, Answered, Outcome, Refusal},
    world::{Reservation, World},
};

/// Hotel, and the identifier with its channel.
pub type ChannelKey = (HotelId, String);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelBooking {
    pub state: ChannelBookingState,
    /// The highest that took effect, with what it said.
    pub revision: Option<i64>,
    pub document: Option<QuoteDocument>,
    pub reservation: Option<ReservationId>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deliver {
    pub principal: PrincipalId,
    pub booking: ChannelKey,
    pub revision: i64,
    /// What is delivered. Of its rooms only types and number matter here.
    pub document: QuoteDocument,
    /// The new reservation's, if one is made.
    pub id: ReservationId,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Withdraw {
    pub principal: PrincipalId,
    pub booking: ChannelKey,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    Created,
    Repeated,
    Modified,
}

impl World {
    pub fn deliver(&mut self, call: &Deliver) -> Answer {
        let Some(known) = self.channel_bookings.get(&call.booking).cloned() else {
            return self.place_delivered(call);
        };
        let reservation = known.reservation.and_then(|id| Some((id, self.reservations.get(&id)?)));
        let Some((id, reservation)) =
            reservation.filter(|(_, made)| made.state != ReservationState::Cancelled)
        else {
            return Err(Refusal::BookingInactive);
        };
        let highest = known.revision.unwrap_or(call.revision);
        if known.document.as_ref() == Some(&call.document) {
            let version = reservation.version;
            let revision = Some(highest.max(call.revision));
            self.channel_bookings.insert(call.booking.clone(), ChannelBooking { revision, ..known });
            return Ok(told(Outcome::Delivered { reservation: id, delivery: Delivery::Repeated, version }));
        }
        if highest >= call.revision {
            return Err(Refusal::StaleRevision(highest));
        }
        if reservation.state != ReservationState::Confirmed || self.has_begun(id) {
            return Err(Refusal::Conflict(reservation.state));
        }
        self.modify(id, call)
    }

    fn place_delivered(&mut self, call: &Deliver) -> Answer {
        let hotel = call.booking.0;
        if call.document.stay.check_in() < self.today(hotel) {
            return Err(Refusal::Invalid);
        }
        let made = Reservation::new(call.principal, call.document.clone());
        let units = count(&made.nights);
        self.must_fit(hotel, &units, &Units::new())?;
        self.change(hotel, &units, Move::Allocate);
        self.reservations.insert(call.id, made);
        self.keep(call, call.id);
        let version = 1;
        Ok(told(Outcome::Delivered { reservation: call.id, delivery: Delivery::Created, version }))
    }

    /// Only the difference is taken and given back.
    fn modify(&mut self, id: ReservationId, call: &Deliver) -> Answer {
        let hotel = call.booking.0;
        if call.document.stay.check_in() < self.today(hotel) {
            return Err(Refusal::Invalid);
        }
        let reservation = self.reservations.get(&id).ok_or(Refusal::NotFound)?;
        let nights = room_nights(&call.document, |_| true);
        let (had, has) = (count(&reservation.nights), count(&nights));
        self.must_fit(hotel, &beyond(&has, &had), &Units::new())?;
        self.change(hotel, &beyond(&had, &has), Move::GiveUp);
        self.change(hotel, &beyond(&has, &had), Move::Allocate);
        let reservation = self.reservations.get_mut(&id).ok_or(Refusal::NotFound)?;
        (reservation.nights, reservation.document) = (nights, call.document.clone());
        reservation.version += 1;
        let version = reservation.version;
        self.keep(call, id);
        Ok(told(Outcome::Delivered { reservation: id, delivery: Delivery::Modified, version }))
    }

    fn keep(&mut self, call: &Deliver, reservation: ReservationId) {
        let kept = ChannelBooking {
            state: ChannelBookingState::Active,
            revision: Some(call.revision),
            document: Some(call.document.clone()),
            reservation: Some(reservation),
        };
        self.channel_bookings.insert(call.booking.clone(), kept);
    }

    /// Once. What comes before its booking is kept: that takes no room any more.
    pub fn withdraw(&mut self, call: &Withdraw) -> Answer {
        let state = ChannelBookingState::Cancelled;
        let Some(known) = self.channel_bookings.get(&call.booking).cloned() else {
            let unknown = ChannelBooking { state, revision: None, document: None, reservation: None };
            self.channel_bookings.insert(call.booking.clone(), unknown);
            return Err(Refusal::NotFound);
        };
        let id = known.reservation;
        let before = Ok(told(Outcome::Withdrawn { reservation: id, before: true }));
        let Some((id, reservation)) = id.and_then(|id| Some((id, self.reservations.get(&id)?))) else {
            return before;
        };
        if known.state == state {
            return before;
        }
        let is_cancelled = reservation.state == ReservationState::Cancelled;
        if !is_cancelled && (reservation.state != ReservationState::Confirmed || self.has_begun(id)) {
            return Err(Refusal::Conflict(reservation.state));
        }
        self.channel_bookings.insert(call.booking.clone(), ChannelBooking { state, ..known });
        if is_cancelled {
            return before;
        }
        let reservation = self.reservations.get_mut(&id).ok_or(Refusal::NotFound)?;
        let nights = std::mem::take(&mut reservation.nights);
        reservation.state = ReservationState::Cancelled;
        reservation.version += 1;
        let (zero, rooms) = (reservation.zero(), reservation.document.rooms.len());
        reservation.cancelled.extend((1..=rooms).map(|room| (room, zero)));
        self.change(id.hotel(), &count(&nights), Move::GiveUp);
        Ok(told(Outcome::Withdrawn { reservation: Some(id), before: false }))
    }
}

/// These calls have no key, so nothing is replayed.
const fn told(outcome: Outcome) -> Answered {
    Answered { outcome, replayed: false }
}
