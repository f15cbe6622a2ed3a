//! What a decision wants done: additions to counters, rows, events, audit, the answer to keep.

use std::collections::BTreeMap;

use keyrack_domain::{clock::Moment, event::NightAvailability, hold::HoldState, ids::HoldId};
use keyrack_store::{
    attempts::{AttemptMove, AttemptRow},
    audit::NewAudit,
    changes::ChangeMove,
    channel_bookings::ChannelBookingMove,
    holds::{HoldRow, UnitNight},
    nights::{Night, NightDelta, NightKey},
    outbox::NewEvent,
    payment_history::Movement,
    pms_batches::{BatchRow, CursorMove},
    pms_conflicts::{ConflictMove, ConflictRow},
    provider_events::EventRow,
    refunds::RefundRow,
    reservation_rooms::{NightsFrom, RoomCancelled},
    reservations::{ReservationMove, ReservationRow},
    scheduled_charges::{ChargeMove, ChargeRow},
    stay_changes::StayReplaced,
};

use crate::Facts;

#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub nights: BTreeMap<NightKey, NightDelta>,
    /// What a hotel's system says of nights below what is committed; `None` where that has ended.
    pub reported: BTreeMap<NightKey, Option<i32>>,
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
    /// Of a reservation that is not prepaid.
    AddCharge(ChargeRow),
    ShiftCharge(ChargeMove),
    /// Another stay in the place of the one it has, and the move to the version that has it.
    ReplaceStay(Box<StayReplaced>),
    /// A room that stands: its units go back.
    CancelRoom(RoomCancelled),
    GiveBack(NightsFrom),
    TakeAgain(NightsFrom),
    PutChannelBooking(Box<ChannelBookingMove>),
    /// A batch of a hotel's system; its cursor goes on where it is applied.
    TakeBatch(Box<BatchRow>, Option<CursorMove>),
    OpenConflict(ConflictRow),
    ShiftConflict(ConflictMove),
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
            delta.add(per_unit);
        }
    }

    /// For an event: what is available on a night after these changes.
    pub fn availability_after(&self, facts: &Facts, key: NightKey) -> Option<NightAvailability> {
        let night = self.night_after(facts, key)?;
        Some(NightAvailability {
            room_type_id: key.room_type,
            night: key.date,
            available: u32::try_from(night.available()).unwrap_or(0),
        })
    }

    pub fn night_after(&self, facts: &Facts, key: NightKey) -> Option<Night> {
        let mut night = *facts.nights.get(&key)?;
        self.change(key, &mut night);
        Some(night)
    }

    /// What they make of a night.
    pub(crate) fn change(&self, key: NightKey, night: &mut Night) {
        night.add(self.nights.get(&key).copied().unwrap_or_default());
        if let Some(reported) = self.reported.get(&key) {
            night.reported = *reported;
        }
    }

    /// Nights to which these changes give units back.
    pub(crate) fn gives_back(&self) -> impl Iterator<Item = NightKey> + '_ {
        self.nights
            .iter()
            .filter(|(_, delta)| delta.sellable - delta.held - delta.confirmed > 0)
            .map(|(key, _)| *key)
    }
}
