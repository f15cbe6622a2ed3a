//! What is known while a batch decides: as read, then as locked, then as changed by each decision.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use keyrack_domain::{
    attempt::AttemptState,
    change::ChangeState,
    channel_booking::ChannelBookingKey,
    clock::Moment,
    hold::HoldState,
    ids::{AttemptId, ChangeId, HoldId, HotelId, PrincipalId, QuoteId, ReservationId},
    money::Money,
    pms::ConflictState,
    restriction::Restrictions,
};
use keyrack_store::{
    attempts::{AttemptMove, AttemptRow},
    changes::{ChangeMove, ChangeRow},
    channel_bookings::ChannelBookingRow,
    facts::OwnHold,
    holds::{HoldRow, UnitNight},
    nights::{Night, NightDelta, NightKey},
    pms_batches::{BatchFacts, BatchKey},
    pms_conflicts::{ConflictMove, ConflictRow},
    provider_events::EventKey,
    quotes::QuoteRow,
    reservation_rooms::{Cancelled, RoomCancelled, RoomRow},
    reservations::ReservationRow,
    scheduled_charges::{ChargeMove, ChargeRow},
    stay_changes::StayReplaced,
};

use crate::{Changes, Needs, Write};

#[derive(Clone, Debug)]
pub struct Facts {
    /// Read after the aggregates' locks when the decision counts.
    pub now: Moment,
    /// A night that is needed and absent here has no row: it is not for sale.
    pub nights: BTreeMap<NightKey, Night>,
    pub restrictions: HashMap<HotelId, Restrictions>,
    pub quotes: HashMap<QuoteId, QuoteRow>,
    pub channel_bookings: HashMap<ChannelBookingKey, ChannelBookingRow>,
    pub pms_batches: HashMap<BatchKey, BatchFacts>,
    /// Those that wait on the nights known here.
    pub conflicts: HashMap<NightKey, ConflictRow>,
    pub reservations: HashMap<ReservationId, ReservationFacts>,
    pub changes: HashMap<ChangeId, ChangeRow>,
    pub holds: HashMap<HoldId, HoldFacts>,
    pub attempts: HashMap<AttemptId, AttemptRow>,
    /// Notices that have had their effect.
    pub notices: HashSet<EventKey>,
    /// ACTIVE holds by hotel and principal, those that end first first.
    pub own_holds: HashMap<(HotelId, PrincipalId), Vec<OwnHold>>,
    /// What has been asked for so far, found or not.
    pub(crate) asked: Needs,
}

#[derive(Clone, Debug)]
pub struct HoldFacts {
    pub row: HoldRow,
    pub units: Vec<UnitNight>,
    pub open_attempt: Option<AttemptId>,
}

#[derive(Clone, Debug)]
pub struct ReservationFacts {
    pub row: ReservationRow,
    pub rooms: Vec<RoomRow>,
    /// Not given back.
    pub units: Vec<UnitNight>,
    /// Of rooms that stand.
    pub given_back: Vec<UnitNight>,
    /// What has paid for it, first to last.
    pub paid_by: Vec<AttemptId>,
    /// A change of it that is STARTED.
    pub started_change: Option<ChangeId>,
    /// Of a stay that is not prepaid, first to last.
    pub charges: Vec<ChargeRow>,
}

impl Facts {
    pub fn at(now: Moment) -> Self {
        Self {
            now,
            nights: BTreeMap::new(),
            restrictions: HashMap::new(),
            quotes: HashMap::new(),
            channel_bookings: HashMap::new(),
            pms_batches: HashMap::new(),
            conflicts: HashMap::new(),
            reservations: HashMap::new(),
            changes: HashMap::new(),
            holds: HashMap::new(),
            attempts: HashMap::new(),
            notices: HashSet::new(),
            own_holds: HashMap::new(),
            asked: Needs::default(),
        }
    }

    /// The fold: what one decision changed is what the next one sees.
    pub(crate) fn apply(&mut self, changes: &Changes) {
        for key in changes.nights.keys().chain(changes.reported.keys()).collect::<BTreeSet<_>>() {
            if let Some(night) = self.nights.get_mut(key) {
                changes.change(*key, night);
            }
        }
        for write in &changes.writes {
            self.write(write);
        }
    }

    /// After the fold's step: where what is committed has fallen to what the hotel's system reported, that number
    /// holds from now on, and the conflict has ended. Costs nothing where none waits.
    pub(crate) fn settle(&mut self, changes: &Changes) -> Changes {
        let mut settled = Changes::default();
        for key in changes.nights.keys() {
            let (Some(night), Some(conflict)) = (self.nights.get(key), self.conflicts.get(key)) else {
                continue;
            };
            let Some(reported) = night.reported.filter(|_| !night.is_in_conflict()) else { continue };
            let sellable = (reported - night.sellable).min(0);
            settled.nights.insert(*key, NightDelta { sellable, ..NightDelta::default() });
            settled.reported.insert(*key, None);
            let (id, from) = (conflict.id, conflict.state);
            settled.writes.push(Write::ShiftConflict(ConflictMove {
                id,
                night: *key,
                from,
                to: ConflictState::Settled,
            }));
        }
        self.apply(&settled);
        settled
    }

    fn write(&mut self, write: &Write) {
        match write {
            // Consumed at once, by a late capture: nobody's open hold.
            Write::PlaceHold(row, _) if row.state != HoldState::Active => {}
            Write::PlaceHold(row, units) => self.place(row, units),
            Write::CloseHold(id, to) => {
                self.own_holds.values_mut().for_each(|holds| holds.retain(|hold| hold.id != *id));
                if let Some(hold) = self.holds.get_mut(id) {
                    hold.row.state = *to;
                    hold.row.deferred_until = None;
                }
            }
            Write::DeferHold(id, until) => {
                if let Some(hold) = self.holds.get_mut(id) {
                    hold.row.deferred_until = *until;
                }
            }
            Write::MarkDrift(id) => {
                if let Some(hold) = self.holds.get_mut(id) {
                    hold.row.drifted = true;
                }
            }
            Write::OpenAttempt(row) => {
                if let Some(hold) = row.hold.and_then(|id| self.holds.get_mut(&id)) {
                    hold.open_attempt = Some(row.id);
                }
                self.attempts.insert(row.id, row.as_ref().clone());
            }
            Write::ShiftAttempt(shift) => self.shift(shift),
            Write::ShiftChange(shift) => self.shift_change(shift),
            Write::CancelRoom(cancelled) => {
                let now = self.now;
                self.reserved(cancelled.reservation, |reservation| reservation.cancel(cancelled, now));
            }
            Write::GiveBack(nights) => {
                self.reserved(nights.reservation, |reservation| {
                    let gone = reservation.units.extract_if(.., |unit| unit.date >= nights.first);
                    reservation.given_back.extend(gone);
                });
            }
            Write::TakeAgain(nights) => {
                self.reserved(nights.reservation, |reservation| {
                    let again = reservation.given_back.extract_if(.., |unit| unit.date >= nights.first);
                    reservation.units.extend(again);
                });
            }
            Write::ShiftReservation(shift) => {
                self.reserved(shift.id, |reservation| {
                    reservation.row.state = shift.to;
                    reservation.row.version = shift.to_version;
                });
            }
            Write::ReplaceStay(replaced) => {
                let now = self.now;
                self.reserved(replaced.shift.id, |reservation| reservation.replace(replaced, now));
            }
            Write::AddCharge(charge) => {
                self.reserved(charge.reservation, |reservation| reservation.charges.push(charge.clone()));
            }
            Write::ShiftCharge(shift) => {
                self.reserved(shift.to.reservation, |reservation| reservation.charge(shift));
            }
            Write::NoteNotice(event) => {
                self.notices.insert(event.key());
            }
            Write::PutChannelBooking(booking) => {
                self.channel_bookings.insert(booking.to.key.clone(), booking.to.clone());
            }
            Write::TakeBatch(..) | Write::OpenConflict(_) | Write::ShiftConflict(_) => self.report(write),
            Write::MakeReservation(..) | Write::RequestRefund(_) | Write::Record(_) => {}
        }
    }

    /// What a hotel's own system has said, and what became of it.
    fn report(&mut self, write: &Write) {
        match write {
            Write::TakeBatch(row, moved) => {
                let batch = self.pms_batches.entry(row.key).or_default();
                batch.cursor = moved.map(|_| row.key.sequence).or(batch.cursor);
                batch.known = Some(row.as_ref().clone());
            }
            Write::OpenConflict(row) => {
                self.conflicts.insert(row.night, *row);
            }
            Write::ShiftConflict(shift) => {
                if !shift.to.waits() {
                    self.conflicts.remove(&shift.night);
                } else if let Some(row) = self.conflicts.get_mut(&shift.night) {
                    row.state = shift.to;
                }
            }
            _ => {}
        }
    }

    fn place(&mut self, row: &HoldRow, units: &[UnitNight]) {
        let own = OwnHold {
            id: row.id,
            principal: row.principal,
            expires_at: row.expires_at,
            deferred_until: row.deferred_until,
            is_of_a_change: row.change.is_some(),
            room_types: units.iter().map(|unit| unit.room_type).collect(),
            check_in: row.stay.check_in(),
            check_out: row.stay.check_out(),
        };
        self.own_holds.entry((row.id.hotel(), row.principal)).or_default().push(own);
        let hold = HoldFacts { row: row.clone(), units: units.to_vec(), open_attempt: None };
        self.holds.insert(row.id, hold);
    }

    fn shift(&mut self, shift: &AttemptMove) {
        let Some(row) = self.attempts.get_mut(&shift.id) else { return };
        row.state = shift.to;
        row.failure.clone_from(&shift.failure);
        row.captured = shift.captured;
        row.refund_committed = shift.refund_committed;
        row.refunds = shift.refunds;
        // A hold may have another attempt that is open, where this one had ended before.
        if let Some(hold) = row.hold.and_then(|id| self.holds.get_mut(&id))
            && hold.open_attempt == Some(shift.id)
            && !shift.to.is_open()
        {
            hold.open_attempt = None;
        }
        let (attempt, paid) = (row.id, row.reservation.filter(|_| shift.to == AttemptState::Confirmed));
        if let Some(reservation) = paid.and_then(|id| self.reservations.get_mut(&id))
            && !reservation.paid_by.contains(&attempt)
        {
            reservation.paid_by.push(attempt);
        }
    }

    fn shift_change(&mut self, shift: &ChangeMove) {
        let Some(row) = self.changes.get_mut(&shift.id) else { return };
        row.state = shift.to;
        row.hold = shift.hold;
        row.attempt = shift.attempt;
        row.to_version = shift.to_version;
        let (change, reservation) = (row.id, row.reservation);
        let is_started = shift.to == ChangeState::Started;
        self.reserved(reservation, |reservation| {
            if is_started {
                reservation.started_change = Some(change);
            } else if reservation.started_change == Some(change) {
                reservation.started_change = None;
            }
        });
    }

    fn reserved(&mut self, id: ReservationId, change: impl FnOnce(&mut ReservationFacts)) {
        if let Some(reservation) = self.reservations.get_mut(&id) {
            change(reservation);
        }
    }
}

impl ReservationFacts {
    fn charge(&mut self, shift: &ChargeMove) {
        let charge = self.charges.iter_mut().find(|charge| charge.number == shift.to.number);
        if let Some(charge) = charge {
            charge.clone_from(&shift.to);
        }
    }

    fn cancel(&mut self, cancelled: &RoomCancelled, now: Moment) {
        self.units.retain(|unit| unit.room != cancelled.room);
        self.given_back.retain(|unit| unit.room != cancelled.room);
        let room = self.rooms.iter_mut().find(|room| room.room == cancelled.room);
        if let Some(room) = room {
            let RoomCancelled { penalty, refund, .. } = *cancelled;
            room.cancelled = Some(Cancelled { penalty, refund: Some(refund), at: now });
        }
    }

    fn replace(&mut self, change: &StayReplaced, now: Moment) {
        let row = &mut self.row;
        row.state = change.shift.to;
        row.version = change.shift.to_version;
        row.stay = change.stay;
        row.total = change.total;
        row.change_fees = change.change_fees;
        row.guest.clone_from(&change.guest);
        row.document.clone_from(&change.document);
        let place = |unit: &UnitNight| (unit.room, unit.date);
        let gone: BTreeSet<_> = change.dropped.iter().map(place).collect();
        self.units.retain(|unit| !gone.contains(&place(unit)));
        self.units.extend_from_slice(&change.added);
        self.units.sort_by_key(place);
        let of = |rooms: &[(i16, Money)], number| {
            rooms.iter().find(|(room, _)| *room == number).map(|(_, amount)| *amount)
        };
        for room in &mut self.rooms {
            if let Some(total) = of(&change.kept, room.room) {
                room.total = total;
            }
            if let Some(penalty) = of(&change.removed, room.room) {
                room.cancelled = Some(Cancelled { penalty, refund: None, at: now });
            }
        }
        self.given_back.retain(|unit| of(&change.removed, unit.room).is_none());
        let new = |(room, total): &(i16, Money)| RoomRow { room: *room, total: *total, cancelled: None };
        self.rooms.extend(change.new_rooms.iter().map(new));
    }
}
