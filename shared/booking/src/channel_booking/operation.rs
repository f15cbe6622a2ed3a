//! A delivery as an operation of the ledger: none -> create and deduct together; active and the same -> as
//! it is; active and changed -> the difference, where the revision is higher; cancelled -> refused.
//!
//! Restrictions are not asked. They are rules for what is still to be sold, and this is sold: the channel
//! has closed its sale under the rules that it was given, and refusing it would leave a guest without the
//! room that is free. Whether there is a room is asked: units alone decide.

use keyrack_domain::{
    channel_booking::{ChannelBookingKey, ChannelBookingState},
    horizon::Horizon,
    hotel::HotelRef,
    ids::ReservationId,
    operation_key::Fingerprint,
    principal::Caller,
    reservation::ReservationState,
};
use keyrack_ledger::{
    Changes, ChannelBookingMove, ChannelBookingRow, Decision, Delivery as Message, Facts, Found, Grounds,
    KeyClaim, Needs, NightKey, Operation, ReservationFacts, Write,
};
use uuid::Uuid;

use super::{
    Booked, Delivery,
    input::{Unmapped, Wanted},
    standing,
};
use crate::{
    FieldError, availability::night_of, place_hold::operation::Short, place_hold::operation::units_of, quote,
};

#[derive(Clone, Debug)]
pub struct ChannelBookOp {
    pub hotel: HotelRef,
    pub caller: Caller,
    pub key: ChannelBookingKey,
    pub revision: i64,
    pub fingerprint: Fingerprint,
    pub wanted: Result<Wanted, Unmapped>,
    /// Kept where it cannot be placed.
    pub delivery: Message,
    pub horizon: Horizon,
    /// The id that a new reservation gets.
    pub reservation: ReservationId,
    pub try_id: Uuid,
}

#[derive(Clone, Debug)]
pub enum BookAnswer {
    Booked(Booked),
    Inactive,
    /// Not higher than this one, and something else.
    StaleRevision(i64),
    Unmapped(Vec<FieldError>),
    Invalid(Vec<FieldError>),
    /// In date order.
    SoldOut(Vec<Short>),
    NotChangeable(ReservationState),
    /// The counters do not carry what would be given back. Nothing was done.
    Drift(ReservationId, NightKey),
}

impl Operation for ChannelBookOp {
    type Answer = BookAnswer;

    fn name(&self) -> &'static str {
        "channel_book"
    }

    /// The identifier is its key, and lives as long as the booking.
    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs::default();
        needs.channel_bookings.insert(self.key.clone());
        if let Ok(wanted) = &self.wanted {
            needs.nights.extend(units_of(&wanted.document).iter().map(|unit| night_of(self.hotel.id, unit)));
        }
        let id = facts.channel_bookings.get(&self.key).and_then(|row| row.reservation);
        needs.reservations.extend(id);
        if let Some(reservation) = id.and_then(|id| facts.reservations.get(&id)) {
            needs.nights.extend(reservation.units.iter().map(|unit| night_of(self.hotel.id, unit)));
        }
        needs
    }

    fn decide(&self, facts: &Facts) -> Decision<BookAnswer> {
        let Some(row) = facts.channel_bookings.get(&self.key) else { return self.book(None, facts) };
        let reservation = row.reservation.and_then(|id| facts.reservations.get(&id));
        match standing(row.state, reservation.map(|reservation| reservation.row.state)) {
            ChannelBookingState::Cancelled => Decision::refuse(BookAnswer::Inactive),
            ChannelBookingState::Unmapped => match row.revision {
                // An older delivery may come late: it is not what the channel has now.
                Some(known) if known > self.revision => Decision::refuse(BookAnswer::StaleRevision(known)),
                Some(_) | None => self.book(Some(row), facts),
            },
            ChannelBookingState::Active => match reservation {
                Some(reservation) => self.meet(row, reservation, facts),
                // The foreign key keeps it: it became known between two reads.
                None => Decision::Refuse { answer: BookAnswer::Inactive, grounds: Grounds::Locks },
            },
        }
    }

    fn replay(&self, _found: &Found) -> Result<BookAnswer, keyrack_db::DbError> {
        Err(keyrack_db::DbError::unreadable("key of a channel's booking", &"it has none"))
    }
}

impl ChannelBookOp {
    /// There is no reservation yet.
    fn book(&self, known: Option<&ChannelBookingRow>, facts: &Facts) -> Decision<BookAnswer> {
        let from = known.map(|row| row.state);
        let wanted = match &self.wanted {
            Ok(wanted) => wanted,
            Err(names) => {
                let row = ChannelBookingRow {
                    state: ChannelBookingState::Unmapped,
                    revision: Some(self.revision),
                    unplaced: Some(self.delivery.clone()),
                    ..self.row(None)
                };
                let changes = Changes { writes: vec![put(from, row)], ..Changes::default() };
                return Decision::Commit(changes, BookAnswer::Unmapped(names.clone()));
            }
        };
        let faults = self.not_on_this_day(wanted, facts);
        if !faults.is_empty() {
            return Decision::refuse(BookAnswer::Invalid(faults));
        }
        self.place(from, wanted, facts)
    }

    /// What is booked under the identifier stands.
    fn meet(
        &self,
        row: &ChannelBookingRow,
        reservation: &ReservationFacts,
        facts: &Facts,
    ) -> Decision<BookAnswer> {
        let id = reservation.row.id;
        if row.fingerprint == Some(self.fingerprint) {
            let booked = BookAnswer::Booked(Booked { reservation: id, delivery: self.repeated(row, id) });
            let known = row.revision.unwrap_or(self.revision);
            if known >= self.revision {
                return Decision::refuse(booked);
            }
            // Nothing has changed, and what is older than this one is old from now on.
            let row = ChannelBookingRow { revision: Some(self.revision), unplaced: None, ..row.clone() };
            let changes = Changes { writes: vec![put(Some(row.state), row)], ..Changes::default() };
            return Decision::Commit(changes, booked);
        }
        if let Some(known) = row.revision.filter(|known| *known >= self.revision) {
            return Decision::refuse(BookAnswer::StaleRevision(known));
        }
        let wanted = match &self.wanted {
            Ok(wanted) => wanted,
            // The guest keeps what is booked, and somebody has to look.
            Err(names) => {
                let row = ChannelBookingRow { unplaced: Some(self.delivery.clone()), ..row.clone() };
                let changes = Changes { writes: vec![put(Some(row.state), row)], ..Changes::default() };
                return Decision::Commit(changes, BookAnswer::Unmapped(names.clone()));
            }
        };
        let has_begun = facts.now.date_in(self.hotel.zone) > reservation.row.stay.check_in();
        if reservation.row.state != ReservationState::Confirmed || has_begun {
            return Decision::refuse(BookAnswer::NotChangeable(reservation.row.state));
        }
        let faults = self.not_on_this_day(wanted, facts);
        if !faults.is_empty() {
            return Decision::refuse(BookAnswer::Invalid(faults));
        }
        self.modify(row, reservation, wanted, facts)
    }

    /// This very try, whose commit had been in doubt, is answered as the original.
    fn repeated(&self, row: &ChannelBookingRow, id: ReservationId) -> Delivery {
        match row.try_id == self.try_id {
            true if id == self.reservation => Delivery::Created,
            true => Delivery::Modified,
            false => Delivery::Repeated,
        }
    }

    fn not_on_this_day(&self, wanted: &Wanted, facts: &Facts) -> Vec<FieldError> {
        quote::dates(wanted.document.stay, facts.now.date_in(self.hotel.zone), self.horizon)
    }

    /// As it is when this delivery has taken effect.
    pub(super) fn row(&self, reservation: Option<ReservationId>) -> ChannelBookingRow {
        ChannelBookingRow {
            key: self.key.clone(),
            state: ChannelBookingState::Active,
            revision: Some(self.revision),
            fingerprint: Some(self.fingerprint),
            reservation,
            unplaced: None,
            try_id: self.try_id,
        }
    }
}

pub(super) fn put(from: Option<ChannelBookingState>, to: ChannelBookingRow) -> Write {
    Write::PutChannelBooking(Box::new(ChannelBookingMove { from, to }))
}
