//! A channel's cancellation as an operation of the ledger: the units go back once, whatever is sent again.
//!
//! What comes before the booking that it cancels, since messages overtake each other, is kept: the
//! identifier is CANCELLED from then on, and the booking that arrives late takes no room from anybody.

use std::collections::BTreeMap;

use keyrack_domain::{
    actor::Actor,
    channel_booking::{ChannelBookingKey, ChannelBookingState},
    event::{Event, ReservationCancelled},
    hotel::HotelRef,
    ids::ReservationId,
    money::Money,
    principal::Caller,
    reservation::ReservationState,
};
use keyrack_ledger::{
    Changes, ChannelBookingRow, Decision, Facts, Found, Grounds, KeyClaim, Needs, NightDelta, NightKey,
    Operation, ReservationFacts, ReservationMove, RoomCancelled, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};
use uuid::Uuid;

use super::{Withdrawn, operation::put};
use crate::availability::{self, night_of};

#[derive(Clone, Debug)]
pub struct ChannelCancelOp {
    pub hotel: HotelRef,
    pub caller: Caller,
    pub key: ChannelBookingKey,
    pub try_id: Uuid,
}

#[derive(Clone, Copy, Debug)]
pub enum WithdrawAnswer {
    Withdrawn(Withdrawn),
    /// Nobody knew it. It is CANCELLED from now on.
    Unknown,
    /// Checked in, departed, not come, or past the day of arrival.
    NotChangeable(ReservationState),
    /// The counters do not carry what would be given back. Nothing was done.
    Drift(ReservationId, NightKey),
}

impl Operation for ChannelCancelOp {
    type Answer = WithdrawAnswer;

    fn name(&self) -> &'static str {
        "channel_cancel"
    }

    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs::default();
        needs.channel_bookings.insert(self.key.clone());
        let id = facts.channel_bookings.get(&self.key).and_then(|row| row.reservation);
        needs.reservations.extend(id);
        if let Some(reservation) = id.and_then(|id| facts.reservations.get(&id)) {
            needs.nights.extend(reservation.units.iter().map(|unit| night_of(self.hotel.id, unit)));
        }
        needs
    }

    fn decide(&self, facts: &Facts) -> Decision<WithdrawAnswer> {
        let Some(row) = facts.channel_bookings.get(&self.key) else {
            return self.close(None, Changes::default(), WithdrawAnswer::Unknown);
        };
        let withdrawn = |before| Withdrawn { reservation: row.reservation, before };
        let reservation = row.reservation.and_then(|id| facts.reservations.get(&id));
        match (row.state, reservation) {
            (ChannelBookingState::Cancelled, _) => {
                // This very try, whose commit had been in doubt, is answered as the original.
                let before = row.try_id != self.try_id;
                let unknown = !before && row.reservation.is_none() && row.revision.is_none();
                let answer = if unknown {
                    WithdrawAnswer::Unknown
                } else {
                    WithdrawAnswer::Withdrawn(withdrawn(before))
                };
                Decision::refuse(answer)
            }
            (ChannelBookingState::Unmapped, _) => {
                self.close(Some(row), Changes::default(), WithdrawAnswer::Withdrawn(withdrawn(false)))
            }
            (ChannelBookingState::Active, Some(reservation)) => self.cancel(row, reservation, facts),
            // The foreign key keeps it: it became known between two reads.
            (ChannelBookingState::Active, None) => {
                Decision::Refuse { answer: WithdrawAnswer::Unknown, grounds: Grounds::Locks }
            }
        }
    }

    fn replay(&self, _found: &Found) -> Result<WithdrawAnswer, keyrack_db::DbError> {
        Err(keyrack_db::DbError::unreadable("key of a channel's booking", &"it has none"))
    }
}

impl ChannelCancelOp {
    fn close(
        &self,
        known: Option<&ChannelBookingRow>,
        mut changes: Changes,
        answer: WithdrawAnswer,
    ) -> Decision<WithdrawAnswer> {
        let row = ChannelBookingRow {
            key: self.key.clone(),
            state: ChannelBookingState::Cancelled,
            revision: known.and_then(|row| row.revision),
            fingerprint: known.and_then(|row| row.fingerprint),
            reservation: known.and_then(|row| row.reservation),
            unplaced: None,
            try_id: self.try_id,
        };
        changes.writes.push(put(known.map(|row| row.state), row));
        Decision::Commit(changes, answer)
    }

    fn cancel(
        &self,
        known: &ChannelBookingRow,
        reservation: &ReservationFacts,
        facts: &Facts,
    ) -> Decision<WithdrawAnswer> {
        let row = &reservation.row;
        let withdrawn =
            |before| WithdrawAnswer::Withdrawn(Withdrawn { reservation: known.reservation, before });
        // The hotel has cancelled it: the units are back.
        if row.state == ReservationState::Cancelled {
            return self.close(Some(known), Changes::default(), withdrawn(true));
        }
        // Nights that have passed are not given back: from then on it is a no-show or a departure.
        let has_begun = facts.now.date_in(self.hotel.zone) > row.stay.check_in();
        if row.state != ReservationState::Confirmed || has_begun {
            return Decision::refuse(WithdrawAnswer::NotChangeable(row.state));
        }
        let mut changes = Changes::default();
        for unit in &reservation.units {
            changes.nights.entry(night_of(self.hotel.id, unit)).or_default().confirmed -= 1;
        }
        if let Some(night) = drift(&changes.nights, facts) {
            let answer = WithdrawAnswer::Drift(row.id, night);
            return Decision::Refuse { answer, grounds: Grounds::Locks };
        }
        let penalty = Money::zero(row.total.currency());
        let standing: Vec<i16> =
            reservation.rooms.iter().filter(|room| room.cancelled.is_none()).map(|room| room.room).collect();
        changes.writes.extend(standing.iter().map(|room| {
            let units = reservation.units.iter().filter(|unit| unit.room == *room).count();
            // Nothing of ours was paid.
            let refund = penalty;
            Write::CancelRoom(RoomCancelled { reservation: row.id, room: *room, penalty, refund, units })
        }));
        let version = row.version + 1;
        changes.writes.push(Write::ShiftReservation(ReservationMove {
            id: row.id,
            from: row.state,
            to: ReservationState::Cancelled,
            from_version: row.version,
            to_version: version,
        }));
        self.tell(reservation, standing, penalty, version, facts, &mut changes);
        self.close(Some(known), changes, withdrawn(false))
    }

    fn tell(
        &self,
        reservation: &ReservationFacts,
        rooms: Vec<i16>,
        penalty: Money,
        version: i32,
        facts: &Facts,
        changes: &mut Changes,
    ) {
        let hotel = self.hotel.id;
        let (id, state) = (reservation.row.id, ReservationState::Cancelled);
        changes.audit.push(NewAudit {
            hotel,
            actor: Actor::Caller(self.caller.clone()),
            action: "reservation.cancelled",
            subject: id.to_string(),
            before: Some(serde_json::json!({
                "state": reservation.row.state,
                "version": reservation.row.version,
            })),
            after: Some(serde_json::json!({
                "state": state,
                "version": version,
                "rooms": rooms,
                "channel": self.key.channel,
                "booking_id": self.key.booking,
            })),
        });
        let event = Event::ReservationCancelled(ReservationCancelled {
            reservation_id: id,
            rooms,
            state,
            version,
            penalty,
            // Nothing of ours was paid.
            refund: penalty,
            nights: availability::after(facts, changes, hotel, &reservation.units),
        });
        changes.events.push(NewEvent { hotel, event });
    }
}

/// The first night whose counter does not carry what would be given back.
fn drift(deltas: &BTreeMap<NightKey, NightDelta>, facts: &Facts) -> Option<NightKey> {
    let lacks = |(night, delta): &(&NightKey, &NightDelta)| {
        facts.nights.get(night).is_none_or(|counters| counters.confirmed + delta.confirmed < 0)
    };
    deltas.iter().find(lacks).map(|(night, _)| *night)
}
