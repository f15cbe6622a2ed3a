//! What a delivery takes and gives back: units, rows, the event and the audit, in one transaction.

use std::collections::BTreeMap;

use keyrack_domain::{
    actor::Actor,
    channel_booking::ChannelBookingState,
    event::{Event, ReservationChanged, ReservationConfirmed},
    money::Money,
    reservation::ReservationState,
};
use keyrack_ledger::{
    Changes, ChannelBookingRow, Decision, Facts, Grounds, NightDelta, NightKey, ReservationFacts,
    ReservationRow, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};

use super::{
    Booked, Delivery,
    input::Wanted,
    operation::{BookAnswer, ChannelBookOp, put},
    replacing,
};
use crate::{
    availability::{self, night_of},
    place_hold::operation::{Short, units_of},
};

impl ChannelBookOp {
    pub(super) fn place(
        &self,
        from: Option<ChannelBookingState>,
        wanted: &Wanted,
        facts: &Facts,
    ) -> Decision<BookAnswer> {
        let units = units_of(&wanted.document);
        let mut changes = Changes::default();
        for unit in &units {
            changes.nights.entry(night_of(self.hotel.id, unit)).or_default().confirmed += 1;
        }
        if let Some(refusal) = sold_out(&changes.nights, facts) {
            return refusal;
        }
        let row = ReservationRow {
            id: self.reservation,
            principal: self.caller.principal,
            hold: None,
            attempt: None,
            state: ReservationState::Confirmed,
            version: 1,
            stay: wanted.document.stay,
            total: wanted.document.total,
            change_fees: Money::zero(wanted.document.total.currency()),
            guest: wanted.guest.clone(),
            document: wanted.document.clone(),
            created_at: facts.now,
        };
        let event = Event::ReservationConfirmed(ReservationConfirmed {
            reservation_id: row.id,
            hold_id: None,
            attempt_id: None,
            principal_id: row.principal,
            stay: row.stay,
            total: row.total,
            nights: availability::after(facts, &changes, self.hotel.id, &units),
        });
        self.tell(event, &row, None, &mut changes);
        changes.writes.push(Write::MakeReservation(Box::new(row), units));
        changes.writes.push(put(from, self.row(Some(self.reservation))));
        let booked = Booked { reservation: self.reservation, delivery: Delivery::Created };
        Decision::Commit(changes, BookAnswer::Booked(booked))
    }

    /// Only the difference is taken and given back, night by night: a modification never conflicts with what
    /// it has already.
    pub(super) fn modify(
        &self,
        known: &ChannelBookingRow,
        reservation: &ReservationFacts,
        wanted: &Wanted,
        facts: &Facts,
    ) -> Decision<BookAnswer> {
        let replaced = replacing::replace(reservation, wanted);
        let mut changes = Changes::default();
        for (units, by) in [(&replaced.dropped, -1), (&replaced.added, 1)] {
            for unit in units {
                changes.nights.entry(night_of(self.hotel.id, unit)).or_default().confirmed += by;
            }
        }
        changes.nights.retain(|_, delta| *delta != NightDelta::default());
        if let Some(refusal) = sold_out(&changes.nights, facts) {
            return refusal;
        }
        if let Some(night) = drift(&changes.nights, facts) {
            let answer = BookAnswer::Drift(reservation.row.id, night);
            return Decision::Refuse { answer, grounds: Grounds::Locks };
        }
        let row = ReservationRow {
            version: replaced.shift.to_version,
            stay: replaced.stay,
            total: replaced.total,
            ..reservation.row.clone()
        };
        let event = Event::ReservationChanged(ReservationChanged {
            reservation_id: row.id,
            version: row.version,
            stay: row.stay,
            total: row.total,
            nights: availability::after(
                facts,
                &changes,
                self.hotel.id,
                replaced.dropped.iter().chain(&replaced.added),
            ),
        });
        self.tell(event, &row, Some(&reservation.row), &mut changes);
        changes.writes.push(Write::ReplaceStay(Box::new(replaced)));
        changes.writes.push(put(Some(known.state), self.row(known.reservation)));
        let booked = Booked { reservation: row.id, delivery: Delivery::Modified };
        Decision::Commit(changes, BookAnswer::Booked(booked))
    }

    fn tell(
        &self,
        event: Event,
        after: &ReservationRow,
        before: Option<&ReservationRow>,
        changes: &mut Changes,
    ) {
        let told = |row: &ReservationRow| serde_json::json!({ "version": row.version, "stay": row.stay, "total": row.total });
        let mut after_it = told(after);
        after_it["channel"] = self.key.channel.as_str().into();
        after_it["booking_id"] = self.key.booking.as_str().into();
        after_it["revision"] = self.revision.into();
        changes.audit.push(NewAudit {
            hotel: self.hotel.id,
            actor: Actor::Caller(self.caller.clone()),
            action: event.type_name(),
            subject: after.id.to_string(),
            before: before.map(told),
            after: Some(after_it),
        });
        changes.events.push(NewEvent { hotel: self.hotel.id, event });
    }
}

/// Nights that do not fit, in date order. The identifier's state and the nights must be of one instant, or
/// a copy whose original took the last unit would hear that there is none.
fn sold_out(deltas: &BTreeMap<NightKey, NightDelta>, facts: &Facts) -> Option<Decision<BookAnswer>> {
    let mut short: Vec<Short> = deltas
        .iter()
        .filter_map(|(night, delta)| {
            // A night without a row is not for sale.
            let available = facts.nights.get(night).map_or(0, |counters| counters.available().max(0));
            (delta.confirmed > available).then_some(Short {
                night: *night,
                requested: delta.confirmed.unsigned_abs(),
                available: available.unsigned_abs(),
            })
        })
        .collect();
    short.sort_by_key(|short| (short.night.date, short.night));
    let sold_out = !short.is_empty();
    sold_out.then_some(Decision::Refuse { answer: BookAnswer::SoldOut(short), grounds: Grounds::Locks })
}

fn drift(deltas: &BTreeMap<NightKey, NightDelta>, facts: &Facts) -> Option<NightKey> {
    let lacks = |(night, delta): &(&NightKey, &NightDelta)| {
        delta.confirmed < 0
            && facts.nights.get(night).is_none_or(|counters| counters.confirmed + delta.confirmed < 0)
    };
    deltas.iter().find(lacks).map(|(night, _)| *night)
}
