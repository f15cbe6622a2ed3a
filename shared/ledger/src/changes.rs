//! What a decision wants done: additions to counters, rows, events, audit, the answer to keep.

use std::collections::BTreeMap;

use keyrack_domain::{clock::Moment, event::NightAvailability, hold::HoldState, ids::HoldId};
use keyrack_store::{
    attempts::{AttemptMove, AttemptRow},
    audit::NewAudit,
    changes::ChangeMove,
    channel_bookings::ChannelBookingMove,
    holds::{HoldRow, UnitNight},
    nights::{NightDelta, NightKey},
    outbox::NewEvent,
    payment_history::Movement,
    provider_events::EventRow,
    refunds::RefundRow,
    reservation_rooms::{NightsFrom, RoomCancelled},
    reservations::{ReservationMove, ReservationRow},
    stay_changes::StayReplaced,
};

use crate::Facts;

#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub nights: BTreeMap<NightKey, NightDelta>,
    pub writes: Vec<Write>,
    pub events: Vec<NewEvent>,
    pub audit: Vec<NewAudit>,
    /// Kept under the operation's key, where that lives in `idempotency_keys`.
    pub answer: Option<serde_json::Value>,
}

/// A row to write. Each move states where it comes from.
#[derive(Clone, Debug)]
pub enum Write {
    PlaceHold(HoldRow, Vec<UnitNight>),
    /// `ACTIVE ->`
    CloseHold(HoldId, HoldState),
    /// While ACTIVE: the release waits until then; `None` ends the wait.
    DeferHold(HoldId, Option<Moment>),
    /// While ACTIVE: the counters did not carry it.
    MarkDrift(HoldId),
    OpenAttempt(Box<AttemptRow>),
    ShiftChange(ChangeMove),
    ShiftAttempt(AttemptMove),
    MakeReservation(Box<ReservationRow>, Vec<UnitNight>),
    ShiftReservation(ReservationMove),
    /// Another stay in the place of the one it has, and the move to the version that has it.
    ReplaceStay(Box<StayReplaced>),
    /// A room that stands: its units go back.
    CancelRoom(RoomCancelled),
    GiveBack(NightsFrom),
    TakeAgain(NightsFrom),
    PutChannelBooking(Box<ChannelBookingMove>),
    RequestRefund(RefundRow),
    Record(Movement),
    /// A notice that has its effect in this transaction.
    NoteNotice(Box<EventRow>),
}

impl Changes {
    /// Adds to the counters of the units' nights: `per_unit` for each.
    pub fn move_units<'u>(
        &mut self,
        hold: HoldId,
        units: impl IntoIterator<Item = &'u UnitNight>,
        per_unit: NightDelta,
    ) {
        for unit in units {
            let key = NightKey { hotel: hold.hotel(), room_type: unit.room_type, date: unit.date };
            let delta = self.nights.entry(key).or_default();
            delta.sellable += per_unit.sellable;
            delta.held += per_unit.held;
            delta.confirmed += per_unit.confirmed;
        }
    }

    /// For an event: what is available on a night after these changes.
    pub fn availability_after(&self, facts: &Facts, key: NightKey) -> Option<NightAvailability> {
        let delta = self.nights.get(&key).copied().unwrap_or_default();
        let available = facts.nights.get(&key)?.available() + delta.sellable - delta.held - delta.confirmed;
        Some(NightAvailability {
            room_type_id: key.room_type,
            night: key.date,
            available: u32::try_from(available).unwrap_or(0),
        })
    }

    /// Nights to which these changes give units back.
    pub(crate) fn gives_back(&self) -> impl Iterator<Item = NightKey> + '_ {
        self.nights
            .iter()
            .filter(|(_, delta)| delta.sellable - delta.held - delta.confirmed > 0)
            .map(|(key, _)| *key)
    }
}
