//! Steps 7 and 8: one UPDATE of the counters with the sums, then the rows, set-based; the outbox last.

use std::collections::BTreeMap;

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    hold::HoldState,
    ids::{AttemptId, ChangeId, ConflictId, HoldId, ReservationId},
};
use keyrack_store::{
    attempts,
    attempts::{AttemptMove, AttemptRow},
    audit,
    audit::NewAudit,
    changes::{self, ChangeMove},
    channel_bookings,
    channel_bookings::ChannelBookingMove,
    holds,
    holds::{HoldRow, UnitNight},
    keys,
    keys::NewKey,
    nights,
    nights::{NightDelta, NightKey},
    outbox,
    outbox::NewEvent,
    payment_history,
    payment_history::Movement,
    pms_batches::{self, BatchRow, CursorMove},
    pms_conflicts::{self, ConflictMove, ConflictRow},
    provider_events,
    provider_events::EventRow,
    refunds,
    refunds::RefundRow,
    reservation_rooms,
    reservation_rooms::{NightsFrom, RoomCancelled},
    reservations,
    reservations::{ReservationMove, ReservationRow},
    scheduled_charges::{self, ChargeMove, ChargeRow},
    stay_changes,
    stay_changes::StayReplaced,
};

use crate::{Changes, Write};

/// The writes of a whole batch, gathered so that each table is written once and each row at most once.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    nights: BTreeMap<NightKey, NightDelta>,
    reported: BTreeMap<NightKey, Option<i32>>,
    closed: BTreeMap<HoldId, HoldState>,
    deferred: BTreeMap<HoldId, Option<Moment>>,
    drifted: Vec<HoldId>,
    shifted: BTreeMap<AttemptId, AttemptMove>,
    placed: Vec<(HoldRow, Vec<UnitNight>)>,
    opened: Vec<AttemptRow>,
    reserved: Vec<(ReservationRow, Vec<UnitNight>)>,
    changed: BTreeMap<ChangeId, ChangeMove>,
    moved: BTreeMap<ReservationId, ReservationMove>,
    replaced: Vec<StayReplaced>,
    charged: Vec<ChargeRow>,
    charges: BTreeMap<(ReservationId, i16), ChargeMove>,
    cancelled: Vec<RoomCancelled>,
    given_back: Vec<NightsFrom>,
    taken_again: Vec<NightsFrom>,
    channel_bookings: Vec<ChannelBookingMove>,
    batches: Vec<(BatchRow, Option<CursorMove>)>,
    conflicts: Vec<ConflictRow>,
    resolved: BTreeMap<ConflictId, ConflictMove>,
    refunds: Vec<RefundRow>,
    movements: Vec<Movement>,
    notices: Vec<EventRow>,
    audit: Vec<NewAudit>,
    keys: Vec<NewKey>,
    events: Vec<NewEvent>,
}

impl Sheet {
    pub(crate) fn add(&mut self, changes: Changes) {
        for (key, delta) in changes.nights {
            let sum = self.nights.entry(key).or_default();
            sum.add(delta);
        }
        self.reported.extend(changes.reported);
        changes.writes.into_iter().for_each(|write| self.add_write(write));
        self.audit.extend(changes.audit);
        self.events.extend(changes.events);
    }

    pub(crate) fn add_key(&mut self, key: NewKey) {
        self.keys.push(key);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nights.is_empty()
            && self.reported.is_empty()
            && self.batches.is_empty()
            && self.conflicts.is_empty()
            && self.resolved.is_empty()
            && self.closed.is_empty()
            && self.deferred.is_empty()
            && self.drifted.is_empty()
            && self.shifted.is_empty()
            && self.placed.is_empty()
            && self.opened.is_empty()
            && self.changed.is_empty()
            && self.reserved.is_empty()
            && self.channel_bookings.is_empty()
            && self.moved.is_empty()
            && self.replaced.is_empty()
            && self.charged.is_empty()
            && self.charges.is_empty()
            && self.keys.is_empty()
            && self.notices.is_empty()
    }

    fn add_write(&mut self, write: Write) {
        match write {
            Write::PlaceHold(row, units) => self.placed.push((row, units)),
            Write::CloseHold(id, to) => {
                // Closing ends any deferral in the same UPDATE.
                self.deferred.remove(&id);
                self.closed.insert(id, to);
            }
            Write::DeferHold(id, until) => {
                self.deferred.insert(id, until);
            }
            Write::MarkDrift(id) => self.drifted.push(id),
            Write::OpenAttempt(row) => self.opened.push(*row),
            Write::ShiftAttempt(shift) => match self.shifted.get_mut(&shift.id) {
                // Two moves of one attempt in one batch are one row change, from the first state to the last.
                Some(earlier) => *earlier = AttemptMove { from: earlier.from, ..shift },
                None => {
                    self.shifted.insert(shift.id, shift);
                }
            },
            Write::ShiftChange(shift) => match self.changed.get_mut(&shift.id) {
                Some(earlier) => *earlier = ChangeMove { from: earlier.from, ..shift },
                None => {
                    self.changed.insert(shift.id, shift);
                }
            },
            Write::MakeReservation(row, units) => self.reserved.push((*row, units)),
            Write::ShiftReservation(shift) => match self.moved.get_mut(&shift.id) {
                // As with attempts: from where the first one came to where the last one goes.
                Some(earlier) => {
                    *earlier =
                        ReservationMove { from: earlier.from, from_version: earlier.from_version, ..shift };
                }
                None => {
                    self.moved.insert(shift.id, shift);
                }
            },
            Write::AddCharge(charge) => self.charged.push(charge),
            Write::ShiftCharge(shift) => match self.charges.get_mut(&(shift.to.reservation, shift.to.number))
            {
                Some(earlier) => *earlier = ChargeMove { from: earlier.from, ..shift },
                None => {
                    self.charges.insert((shift.to.reservation, shift.to.number), shift);
                }
            },
            Write::ReplaceStay(change) => self.replaced.push(*change),
            Write::CancelRoom(room) => self.cancelled.push(room),
            Write::GiveBack(nights) => self.given_back.push(nights),
            Write::TakeAgain(nights) => self.taken_again.push(nights),
            Write::PutChannelBooking(booking) => self.channel_bookings.push(*booking),
            Write::TakeBatch(row, moved) => self.batches.push((*row, moved)),
            Write::OpenConflict(row) => self.conflicts.push(row),
            Write::ShiftConflict(shift) => {
                let from = self.resolved.get(&shift.id).map_or(shift.from, |earlier| earlier.from);
                self.resolved.insert(shift.id, ConflictMove { from, ..shift });
            }
            Write::RequestRefund(row) => self.refunds.push(row),
            Write::Record(movement) => self.movements.push(movement),
            Write::NoteNotice(event) => self.notices.push(*event),
        }
    }

    /// Step 7. Exactly one row per night, or everything is rolled back.
    pub(crate) async fn write_counters(&self, connection: &mut PgConnection) -> Result<(), DbError> {
        let deltas: Vec<(NightKey, NightDelta)> = self
            .nights
            .iter()
            .filter(|(_, delta)| **delta != NightDelta::default())
            .map(|(key, delta)| (*key, *delta))
            .collect();
        let reported: Vec<_> = self.reported.iter().map(|(key, number)| (*key, *number)).collect();
        nights::report(connection, &reported).await?;
        nights::apply(connection, &deltas).await
    }

    /// Step 8. Attempts leave the open states before others enter them, since one index guards both.
    pub(crate) async fn write_rows(self, connection: &mut PgConnection, now: Moment) -> Result<(), DbError> {
        let closed: Vec<_> = self.closed.into_iter().collect();
        let deferred: Vec<_> = self.deferred.into_iter().collect();
        let shifted: Vec<_> = self.shifted.into_values().collect();
        let changed: Vec<_> = self.changed.into_values().collect();
        let charges: Vec<_> = self.charges.into_values().collect();
        let moved: Vec<_> = self.moved.into_values().collect();
        holds::close(connection, &closed, now).await?;
        holds::defer(connection, &deferred).await?;
        holds::mark_drift(connection, &self.drifted, now).await?;
        attempts::shift(connection, &shifted, now).await?;
        holds::insert(connection, &self.placed).await?;
        attempts::insert(connection, &self.opened).await?;
        changes::shift(connection, &changed).await?;
        reservations::insert(connection, &self.reserved).await?;
        scheduled_charges::insert(connection, &self.charged).await?;
        scheduled_charges::shift(connection, &charges).await?;
        stay_changes::replace(connection, &self.replaced, now).await?;
        reservations::shift(connection, &moved).await?;
        reservation_rooms::cancel(connection, &self.cancelled, now).await?;
        reservation_rooms::give_back(connection, &self.given_back, now).await?;
        reservation_rooms::take_again(connection, &self.taken_again).await?;
        channel_bookings::write(connection, &self.channel_bookings, now).await?;
        // Conflicts end before others begin, since one index lets one wait on a night.
        pms_conflicts::shift(connection, &self.resolved.into_values().collect::<Vec<_>>(), now).await?;
        pms_conflicts::insert(connection, &self.conflicts).await?;
        for (batch, moved) in &self.batches {
            if let Some(moved) = moved {
                pms_batches::move_cursor(connection, batch.key, *moved, now).await?;
            }
            pms_batches::insert(connection, batch).await?;
        }
        refunds::insert(connection, &self.refunds).await?;
        payment_history::record(connection, &self.movements, now).await?;
        provider_events::insert(connection, &self.notices, now).await?;
        audit::append(connection, &self.audit).await?;
        keys::insert(connection, self.keys, now).await?;
        outbox::append(connection, &self.events).await
    }
}
