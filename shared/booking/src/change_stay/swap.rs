//! The one transaction in which a stay takes the place of another: what was held for it is consumed, what it
//! no longer has goes back, what was paid too much is promised back, and the version rises.

use std::collections::BTreeMap;

use keyrack_domain::{
    actor::Actor,
    change::ChangeState,
    event::{Event, ReservationChanged},
    hold::HoldState,
    ids::{ChangeId, HotelId, RefundId},
    money::Money,
    quote::QuoteDocument,
    reservation::ReservationState,
    schedule::DueKind,
};
use keyrack_ledger::{
    AttemptRow, ChangeMove, ChangeRow, Changes, Facts, HoldFacts, NightDelta, NightKey, ReservationFacts,
    ReservationMove, ReservationRow, StayReplaced, UnitNight, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};
use rust_decimal::Decimal;

use crate::{
    availability,
    availability::night_of,
    charges::Schedule,
    place_hold::operation::units_of,
    request_refund::{left, lesser, pay_back, payments},
};

/// Why it is paid back.
pub(crate) const CHANGED: &str = "changed";

/// A change with what it is about.
pub(crate) struct Case<'f> {
    pub(crate) reservation: &'f ReservationFacts,
    pub(crate) change: &'f ChangeRow,
    /// The stay as it will be.
    pub(crate) document: &'f QuoteDocument,
}

impl<'f> Case<'f> {
    /// What an attempt pays for, where that is a change.
    pub(crate) fn of(attempt: &AttemptRow, facts: &'f Facts) -> Option<Self> {
        Self::of_change(attempt.change?, facts)
    }

    pub(crate) fn of_change(id: ChangeId, facts: &'f Facts) -> Option<Self> {
        let change = facts.changes.get(&id)?;
        let reservation = facts.reservations.get(&change.reservation)?;
        Some(Self { reservation, change, document: &facts.quotes.get(&change.quote)?.document })
    }

    pub(crate) fn difference(&self) -> Difference {
        Difference::of(self.reservation, self.change, self.document)
    }
}

/// What a change lets go and what it takes, room-night by room-night. One that is the same before and after is
/// in neither; nor is a night that had passed when a no-show was undone: it stays given back.
pub(crate) struct Difference {
    pub(crate) dropped: Vec<UnitNight>,
    pub(crate) added: Vec<UnitNight>,
}

impl Difference {
    pub(crate) fn of(reservation: &ReservationFacts, change: &ChangeRow, wanted: &QuoteDocument) -> Self {
        let goes = |room: i16| change.removed.iter().any(|(gone, _)| *gone == room);
        let stood =
            |room: i16| reservation.rooms.iter().any(|row| row.room == room && row.cancelled.is_some());
        let passed = |wanted: &UnitNight| {
            let is_it = |unit: &UnitNight| (unit.room, unit.date) == (wanted.room, wanted.date);
            reservation.given_back.iter().any(is_it)
        };
        let wanted: Vec<UnitNight> = units_of(wanted)
            .into_iter()
            .filter(|unit| !goes(unit.room) && !stood(unit.room) && !passed(unit))
            .collect();
        let dropped = reservation.units.iter().filter(|unit| !wanted.contains(unit)).cloned().collect();
        let added = wanted.into_iter().filter(|unit| !reservation.units.contains(unit)).collect();
        Self { dropped, added }
    }

    /// Per night, what is taken less what goes: a change never stands in its own way.
    pub(crate) fn net(&self, hotel: HotelId) -> BTreeMap<NightKey, i32> {
        let mut net = BTreeMap::new();
        for unit in &self.added {
            *net.entry(night_of(hotel, unit)).or_insert(0) += 1;
        }
        for unit in &self.dropped {
            *net.entry(night_of(hotel, unit)).or_insert(0) -= 1;
        }
        net.retain(|_, units| *units != 0);
        net
    }

    /// Units for what has to be held: per night as many as the net says.
    pub(crate) fn to_hold(&self, hotel: HotelId) -> Vec<UnitNight> {
        let mut net = self.net(hotel);
        let mut take = |unit: &&UnitNight| match net.get_mut(&night_of(hotel, unit)) {
            Some(units) if *units > 0 => {
                *units -= 1;
                true
            }
            _ => false,
        };
        self.added.iter().filter(|unit| take(unit)).cloned().collect()
    }

    pub(crate) fn nights(&self, hotel: HotelId) -> impl Iterator<Item = NightKey> + '_ {
        self.added.iter().chain(&self.dropped).map(move |unit| night_of(hotel, unit))
    }
}

/// The stay as it stands can be replaced by this change.
pub(crate) fn is_as_priced(reservation: &ReservationRow, change: &ChangeRow) -> bool {
    reservation.version == change.base_version && is_changeable(reservation.state)
}

pub(crate) const fn is_changeable(state: ReservationState) -> bool {
    matches!(state, ReservationState::Confirmed | ReservationState::CheckedIn)
}

/// The first night, in lock order, that does not carry what would go back.
pub(crate) fn drifted(difference: &Difference, hotel: HotelId, facts: &Facts) -> Option<NightKey> {
    let lacks = |(key, units): &(NightKey, i32)| {
        *units < 0 && facts.nights.get(key).is_none_or(|night| night.confirmed < -units)
    };
    difference.net(hotel).into_iter().find(lacks).map(|(key, _)| key)
}

/// Whoever has looked at everything calls this: it asks nothing. `held` is the hold of what the stay adds, and
/// `paid` the attempt that has just paid for it.
pub(crate) struct Swap<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) reservation: &'a ReservationFacts,
    pub(crate) change: &'a ChangeRow,
    pub(crate) document: &'a QuoteDocument,
    pub(crate) difference: &'a Difference,
    pub(crate) held: Option<&'a HoldFacts>,
    pub(crate) paid: Option<&'a AttemptRow>,
    pub(crate) refund: RefundId,
}

impl Swap<'_> {
    pub(crate) fn write(&self, facts: &Facts, changes: &mut Changes) -> ChangeMove {
        let hotel = self.change.id.hotel();
        for (key, units) in self.difference.net(hotel) {
            let held = if units > 0 && self.held.is_some() { -units } else { 0 };
            let delta = changes.nights.entry(key).or_default();
            *delta = NightDelta { held: delta.held + held, confirmed: delta.confirmed + units, ..*delta };
        }
        if let Some(hold) = self.held {
            changes.writes.push(Write::CloseHold(hold.row.id, HoldState::Consumed));
        }
        let to_version = self.reservation.row.version + 1;
        let shift = ChangeMove {
            hold: self.held.map(|hold| hold.row.id),
            attempt: self.paid.map(|attempt| attempt.id),
            to_version: Some(to_version),
            ..self.change.moved(ChangeState::Completed)
        };
        changes.writes.push(Write::ShiftChange(shift));
        let replaced = self.replaced(to_version);
        self.tell(&replaced, facts, changes);
        changes.writes.push(Write::ReplaceStay(Box::new(replaced)));
        self.settle(facts, changes);
        shift
    }

    fn replaced(&self, to_version: i32) -> StayReplaced {
        let row = &self.reservation.row;
        let removed = self.change.removed.clone();
        let goes = |room: i16| removed.iter().any(|(gone, _)| *gone == room);
        let numbered = || (1_i16..).zip(self.document.rooms.iter().map(|room| room.total));
        let before = |number: i16| self.reservation.rooms.iter().find(|room| room.room == number);
        let stands = |number: i16| before(number).is_some_and(|room| room.cancelled.is_none());
        StayReplaced {
            shift: ReservationMove {
                id: row.id,
                from: row.state,
                to: row.state,
                from_version: row.version,
                to_version,
            },
            stay: self.document.stay,
            total: self.document.total,
            change_fees: row.change_fees.plus(self.change.fees).unwrap_or(row.change_fees),
            guest: row.guest.clone(),
            document: self.document.clone(),
            dropped: self.difference.dropped.clone(),
            added: self.difference.added.clone(),
            kept: numbered().filter(|(number, _)| stands(*number) && !goes(*number)).collect(),
            new_rooms: numbered().filter(|(number, _)| before(*number).is_none()).collect(),
            removed,
        }
    }

    /// What is owed of it later changes with the price; what was paid beyond what the stay costs now, and is not
    /// promised back already, goes back.
    fn settle(&self, facts: &Facts, changes: &mut Changes) {
        let zero = Money::zero(self.change.total.currency());
        let mut schedule = Schedule::of(self.reservation);
        let later = self.document.schedule.iter().find(|due| due.at.is_some());
        if let Some(due) = later {
            schedule.move_to(due.kind, due.at.unwrap_or(facts.now));
        } else {
            // The day of the balance has passed for the stay as it is now.
            schedule.move_to(DueKind::Balance, facts.now);
        }
        let more = self.change.difference;
        if more.amount() > zero.amount() {
            let (kind, at) = later.map_or((DueKind::Balance, None), |due| (due.kind, due.at));
            schedule.grow(more, kind, at.unwrap_or(facts.now));
        } else if let Some(less) = zero.minus(more) {
            let less = schedule.lessen(less);
            self.give_back(less, &mut schedule, facts, changes);
        }
        schedule.write(changes);
    }

    fn give_back(&self, less: Money, schedule: &mut Schedule, facts: &Facts, changes: &mut Changes) {
        let payments = payments(self.reservation, facts);
        let kept = left(&payments, less.currency()).plus(schedule.kept_at_the_desk());
        let above = kept.and_then(|kept| kept.minus(self.change.total));
        let Some(above) = above.filter(|above| above.amount() > Decimal::ZERO) else { return };
        let refund = schedule.pay_back(lesser(less, above), &payments);
        pay_back(self.refund, &payments, refund, CHANGED, facts.now, changes);
    }

    fn tell(&self, replaced: &StayReplaced, facts: &Facts, changes: &mut Changes) {
        let hotel = self.change.id.hotel();
        let row = &self.reservation.row;
        let units = self.difference.added.iter().chain(&self.difference.dropped);
        let event = Event::ReservationChanged(ReservationChanged {
            reservation_id: row.id,
            version: replaced.shift.to_version,
            stay: replaced.stay,
            total: replaced.total,
            nights: availability::after(facts, changes, hotel, units),
        });
        changes.audit.push(NewAudit {
            hotel,
            actor: self.actor.clone(),
            action: event.type_name(),
            subject: row.id.to_string(),
            before: Some(serde_json::json!({
                "version": row.version,
                "stay": row.stay,
                "total": row.total,
                "nights": told(&self.difference.dropped),
            })),
            after: Some(serde_json::json!({
                "change": self.change.id,
                "version": replaced.shift.to_version,
                "stay": replaced.stay,
                "total": replaced.total,
                "penalty": self.change.penalty,
                "nights": told(&self.difference.added),
                "charges": self.document.charges,
            })),
        });
        changes.events.push(NewEvent { hotel, event });
    }
}

fn told(units: &[UnitNight]) -> serde_json::Value {
    let unit = |u: &UnitNight| serde_json::json!([u.room, u.date, u.room_type, u.amount, u.price_version]);
    units.iter().map(unit).collect()
}
