//! The confirmation of a change as an operation of the ledger. Where nothing is owed it replaces the stay; else
//! it holds what the stay adds and opens the attempt, before the provider hears of it.

use std::time::Duration;

use keyrack_domain::{
    actor::Actor,
    attempt::{AttemptState, Purpose},
    change::ChangeState,
    clock::Moment,
    code::RoomTypeCode,
    event::{AttemptStarted, Event, HoldPlaced},
    hold::HoldState,
    hotel::HotelRef,
    ids::{AttemptId, ChangeId, HoldId, RefundId, ReservationId},
    method_token::MethodToken,
    money::Money,
    principal::Caller,
    quote::VALID_FOR,
    reservation::ReservationState,
    restriction::Violation,
};
use keyrack_ledger::{
    AttemptRow, ChangeMove, ChangeRow, Changes, Decision, Facts, Found, Grounds, HoldRow, KeyClaim, Needs,
    NightDelta, NightKey, Operation, UnitNight, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};
use serde::{Deserialize, Serialize};

use super::swap::{Case, Difference, Swap, drifted, is_as_priced, is_changeable};
use crate::{
    availability, key,
    place_hold::operation::Short,
    rules_again::{dates, not_worse},
    views::ChangeView,
};

#[derive(Clone, Debug)]
pub struct StartChangeOp {
    pub hotel: HotelRef,
    pub claim: KeyClaim,
    pub caller: Caller,
    pub reservation: ReservationId,
    pub change: ChangeId,
    pub method: Option<MethodToken>,
    pub if_match: i32,
    /// The ids that its hold, its attempt and its refunds get, where there are any.
    pub hold: HoldId,
    pub attempt: AttemptId,
    pub refunds: RefundId,
    pub auth_timeout: Duration,
}

/// What is kept under the key: the change as this call left it, and the attempt that tells the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub change: ChangeView,
    pub attempt: Option<AttemptId>,
}

#[derive(Clone, Debug)]
pub enum StartChangeAnswer {
    Started(Started),
    NotFound,
    Stale(i32, ReservationState),
    NotChangeable(ReservationState),
    Expired(Moment),
    NotPriced(ChangeState),
    InProgress(ChangeId),
    PaymentRequired(Money),
    Restricted(Vec<Violation<RoomTypeCode>>),
    /// In lock order, with what each room type is called.
    SoldOut {
        short: Vec<Short>,
        room_types: Vec<RoomTypeCode>,
    },
    Drift(NightKey),
}

impl Operation for StartChangeOp {
    type Answer = StartChangeAnswer;

    fn name(&self) -> &'static str {
        "start_change"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs::default();
        needs.reservations.insert(self.reservation);
        needs.changes.insert(self.change);
        needs.quotes.extend(facts.changes.get(&self.change).map(|change| change.quote));
        if let Some(case) = self.case(facts) {
            needs.attempts.extend(&case.reservation.paid_by);
            needs.restrictions.extend(dates(&self.hotel, case.document));
            needs.restrictions.extend(dates(&self.hotel, &case.reservation.row.document));
            needs.nights.extend(case.difference().nights(self.hotel.id));
        }
        needs
    }

    fn unseen(&self, facts: &Facts) -> Option<StartChangeAnswer> {
        self.case(facts).is_none().then_some(StartChangeAnswer::NotFound)
    }

    fn decide(&self, facts: &Facts) -> Decision<StartChangeAnswer> {
        let Some(case) = self.case(facts) else { return Decision::refuse(StartChangeAnswer::NotFound) };
        if let Some(refusal) = self.refusal(&case, facts) {
            return Decision::refuse(refusal);
        }
        let difference = case.difference();
        if let Some(refusal) = self.does_not_fit(&case, &difference, facts) {
            return refusal;
        }
        match &self.method {
            _ if case.change.charge.is_zero() => self.swap(&case, &difference, facts),
            Some(method) => self.hold_and_open(&case, &difference, method, facts),
            None => Decision::refuse(StartChangeAnswer::PaymentRequired(case.change.charge)),
        }
    }

    fn replay(&self, found: &Found) -> Result<StartChangeAnswer, keyrack_db::DbError> {
        key::recorded(found).map(StartChangeAnswer::Started)
    }
}

impl StartChangeOp {
    /// Its guest's, or its hotel's staff's.
    fn case<'f>(&self, facts: &'f Facts) -> Option<Case<'f>> {
        let case = Case::of_change(self.change, facts)?;
        let row = &case.reservation.row;
        let own = row.principal == self.caller.principal || self.caller.runs(self.hotel.id);
        (own && row.id == self.reservation).then_some(case)
    }

    /// Everything that forbids it but the nights.
    fn refusal(&self, case: &Case<'_>, facts: &Facts) -> Option<StartChangeAnswer> {
        let (row, change) = (&case.reservation.row, case.change);
        if change.state != ChangeState::Priced {
            return Some(StartChangeAnswer::NotPriced(change.state));
        }
        if let Some(other) = case.reservation.started_change {
            return Some(StartChangeAnswer::InProgress(other));
        }
        if !is_changeable(row.state) {
            return Some(StartChangeAnswer::NotChangeable(row.state));
        }
        if self.if_match != row.version || !is_as_priced(row, change) {
            return Some(StartChangeAnswer::Stale(row.version, row.state));
        }
        if facts.now.is_past(change.expires_at) {
            return Some(StartChangeAnswer::Expired(change.expires_at));
        }
        let broken = not_worse(&self.hotel, &row.document, case.document, facts);
        let told = |broken: Violation| Some(broken.told(case.document.code_of(broken.room_type)?.clone()));
        let told: Vec<_> = broken.into_iter().filter_map(told).collect();
        (!told.is_empty()).then_some(StartChangeAnswer::Restricted(told))
    }

    fn does_not_fit(
        &self,
        case: &Case<'_>,
        difference: &Difference,
        facts: &Facts,
    ) -> Option<Decision<StartChangeAnswer>> {
        if let Some(night) = drifted(difference, self.hotel.id, facts) {
            let answer = StartChangeAnswer::Drift(night);
            return Some(Decision::Refuse { answer, grounds: Grounds::Locks });
        }
        let mut short: Vec<Short> = Vec::new();
        for (night, units) in difference.net(self.hotel.id) {
            let available = facts.nights.get(&night).map_or(0, |night| night.available());
            if units > available {
                let whole = |number: i32| u32::try_from(number).unwrap_or(0);
                short.push(Short { night, requested: whole(units), available: whole(available) });
            }
        }
        if short.is_empty() {
            return None;
        }
        short.sort_by_key(|short| (short.night.date, short.night.room_type));
        let room_types =
            short.iter().filter_map(|s| case.document.code_of(s.night.room_type).cloned()).collect();
        let grounds = Grounds::Units(short.iter().map(|short| short.night).collect());
        Some(Decision::Refuse { answer: StartChangeAnswer::SoldOut { short, room_types }, grounds })
    }

    fn swap(&self, case: &Case<'_>, difference: &Difference, facts: &Facts) -> Decision<StartChangeAnswer> {
        let mut changes = Changes::default();
        let shift = Swap {
            actor: &Actor::Caller(self.caller.clone()),
            reservation: case.reservation,
            change: case.change,
            document: case.document,
            difference,
            held: None,
            paid: None,
            refund: self.refunds,
        }
        .write(facts, &mut changes);
        answer(case, shift, None, changes)
    }

    fn hold_and_open(
        &self,
        case: &Case<'_>,
        difference: &Difference,
        method: &MethodToken,
        facts: &Facts,
    ) -> Decision<StartChangeAnswer> {
        let mut changes = Changes::default();
        let units = difference.to_hold(self.hotel.id);
        changes.move_units(self.hold, &units, NightDelta { held: 1, ..NightDelta::default() });
        let attempt = self.attempt(case, method, facts.now);
        let hold = self.held(case, &attempt, facts.now);
        self.tell(&hold, &units, &attempt, facts, &mut changes);
        let shift = ChangeMove {
            hold: Some(hold.id),
            attempt: Some(attempt.id),
            ..case.change.moved(ChangeState::Started)
        };
        changes.writes.push(Write::PlaceHold(hold, units));
        changes.writes.push(Write::OpenAttempt(Box::new(attempt)));
        changes.writes.push(Write::ShiftChange(shift));
        answer(case, shift, Some(self.attempt), changes)
    }

    fn held(&self, case: &Case<'_>, attempt: &AttemptRow, now: Moment) -> HoldRow {
        HoldRow {
            id: self.hold,
            principal: case.reservation.row.principal,
            quote: case.change.quote,
            change: Some(self.change),
            state: HoldState::Active,
            stay: case.document.stay,
            total: case.change.charge,
            created_at: now,
            expires_at: now.plus(VALID_FOR),
            deferred_until: Some(attempt.deadline_at),
            drifted: false,
        }
    }

    fn attempt(&self, case: &Case<'_>, method: &MethodToken, now: Moment) -> AttemptRow {
        let amount = case.change.charge;
        AttemptRow {
            id: self.attempt,
            purpose: Purpose::Change,
            hold: Some(self.hold),
            reservation: Some(self.reservation),
            change: Some(self.change),
            principal: self.caller.principal,
            endpoint: self.claim.scope.endpoint,
            key: self.claim.scope.key.clone(),
            try_id: self.claim.try_id,
            fingerprint: self.claim.fingerprint,
            state: AttemptState::PendingPayment,
            amount,
            method: method.clone(),
            guest: case.reservation.row.guest.clone(),
            deadline_at: now.plus(self.auth_timeout),
            created_at: now,
            failure: None,
            captured: Money::zero(amount.currency()),
            refund_committed: Money::zero(amount.currency()),
            refunds: 0,
        }
    }

    fn tell(
        &self,
        hold: &HoldRow,
        units: &[UnitNight],
        attempt: &AttemptRow,
        facts: &Facts,
        changes: &mut Changes,
    ) {
        let hotel = self.hotel.id;
        let placed = Event::HoldPlaced(HoldPlaced {
            hold_id: hold.id,
            quote_id: hold.quote,
            principal_id: hold.principal,
            stay: hold.stay,
            total: hold.total,
            expires_at: hold.expires_at,
            nights: availability::after(facts, changes, hotel, units),
        });
        let started = Event::AttemptStarted(AttemptStarted {
            attempt_id: attempt.id,
            hold_id: Some(hold.id),
            amount: attempt.amount,
        });
        changes.events.extend([placed, started].map(|event| NewEvent { hotel, event }));
        changes.audit.push(NewAudit {
            hotel,
            actor: Actor::Caller(self.caller.clone()),
            action: "change.started",
            subject: self.change.to_string(),
            before: None,
            after: Some(serde_json::json!({
                "reservation": self.reservation,
                "hold": hold.id,
                "attempt": attempt.id,
                "amount": attempt.amount,
                "nights": units.iter().map(|u| (u.room, u.date, u.amount, u.price_version)).collect::<Vec<_>>(),
            })),
        });
    }
}

/// The change as this call leaves it is what its key tells.
fn answer(
    case: &Case<'_>,
    shift: ChangeMove,
    attempt: Option<AttemptId>,
    mut changes: Changes,
) -> Decision<StartChangeAnswer> {
    let row = ChangeRow {
        state: shift.to,
        hold: shift.hold,
        attempt: shift.attempt,
        to_version: shift.to_version,
        ..case.change.clone()
    };
    let started = Started { change: ChangeView::of(&row, case.document.stay), attempt };
    changes.answer = key::answer(&started);
    Decision::Commit(changes, StartChangeAnswer::Started(started))
}
