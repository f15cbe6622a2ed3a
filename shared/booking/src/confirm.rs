//! T3: the attempt is paid, the hold becomes a reservation. One transaction, whoever drives it:
//! the request, or reconciliation. A guard that matches nothing changes nothing.

use keyrack_domain::{
    actor::Actor,
    attempt::{AttemptState, Purpose},
    change::ChangeState,
    clock::Moment,
    event::{AttemptReconciling, Event, ReservationConfirmed},
    hold::HoldState,
    ids::{AttemptId, HoldId, RefundId, ReservationId},
    money::Money,
    reservation::ReservationState,
};
use keyrack_ledger::{
    AttemptMove, AttemptRow, Changes, Decision, Facts, Found, Grounds, HoldFacts, HoldRow, KeyClaim,
    Movement, MovementKind, Needs, NightDelta, Operation, ReservationRow, UnitNight, Write,
};
use keyrack_payments::Reference;
use keyrack_store::{audit::NewAudit, outbox::NewEvent, quotes::QuoteRow};

use crate::{
    availability,
    change_stay::swap::{Case, Swap, drifted, is_as_priced},
    charges, drift,
    release::operation::needs_of_hold,
};

#[derive(Clone, Debug)]
pub struct ConfirmOp {
    /// The guest whose request drives it, or the resolver.
    pub actor: Actor,
    pub attempt: AttemptId,
    /// PENDING_PAYMENT for the request, RECONCILING for the resolver: the two can never both complete it.
    pub guard: AttemptState,
    /// What the provider says it took.
    pub captured: Money,
    /// The id that the reservation gets.
    pub reservation: ReservationId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConfirmAnswer {
    Confirmed,
    /// The attempt is no longer in the guard's state: whoever moved it has answered.
    Stale(Option<AttemptState>),
    /// Paid, and the hold is gone, does not fit the counters, or another amount was taken. The attempt is
    /// RECONCILING, and what was captured is recorded.
    Unplaced,
}

impl Operation for ConfirmOp {
    type Answer = ConfirmAnswer;

    fn name(&self) -> &'static str {
        "confirm"
    }

    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    fn needs(&self, facts: &Facts) -> Needs {
        needs_of_attempt(self.attempt, facts)
    }

    fn decide(&self, facts: &Facts) -> Decision<ConfirmAnswer> {
        let attempt = facts.attempts.get(&self.attempt);
        let Some(attempt) = attempt.filter(|row| row.state == self.guard) else {
            return Decision::refuse(ConfirmAnswer::Stale(attempt.map(|row| row.state)));
        };
        let hold = attempt.hold.and_then(|id| facts.holds.get(&id)).filter(|hold| {
            hold.row.state == HoldState::Active
                && hold.row.change == attempt.change
                && self.captured == attempt.amount
                && drift::of(facts, self.attempt.hotel(), &hold.units).is_none()
        });
        let done = match attempt.purpose {
            Purpose::Booking => hold.and_then(|hold| self.confirm(facts, attempt, hold)),
            Purpose::Change => hold.and_then(|hold| self.change(facts, attempt, hold)),
            Purpose::Deposit | Purpose::Penalty => self.charge(facts, attempt),
        };
        done.unwrap_or_else(|| self.leave_to_the_resolver(attempt))
    }

    fn replay(&self, _found: &Found) -> Result<ConfirmAnswer, keyrack_db::DbError> {
        Ok(ConfirmAnswer::Stale(None))
    }
}

/// An attempt, its hold and quote, and the nights of its units.
pub(crate) fn needs_of_attempt(id: AttemptId, facts: &Facts) -> Needs {
    let mut needs = Needs::default();
    if let Some(attempt) = facts.attempts.get(&id) {
        needs = attempt.hold.map_or(needs, |hold| needs_of_hold(hold, facts));
        let hold = attempt.hold.and_then(|id| facts.holds.get(&id));
        needs.quotes.extend(hold.map(|hold| hold.row.quote));
        needs.reservations.extend(attempt.reservation);
        needs.changes.extend(attempt.change);
        if let Some(case) = Case::of(attempt, facts) {
            needs.nights.extend(case.difference().nights(id.hotel()));
        }
    }
    needs.attempts.insert(id);
    needs
}

/// The first time that a capture becomes known it enters the history.
pub(crate) fn capture_became_known(attempt: &AttemptRow, captured: Money) -> Option<Write> {
    (attempt.captured.is_zero() && !captured.is_zero()).then(|| {
        Write::Record(Movement {
            attempt: attempt.id,
            kind: MovementKind::Captured,
            amount: captured,
            reference: Reference::Capture(attempt.id).to_string(),
        })
    })
}

/// The attempt becomes a case of the resolver.
pub(crate) fn open_case(
    attempt: AttemptId,
    hold: Option<HoldId>,
    why: &'static str,
    actor: Actor,
) -> (NewEvent, NewAudit) {
    let hotel = attempt.hotel();
    let event = Event::AttemptReconciling(AttemptReconciling {
        attempt_id: attempt,
        hold_id: hold,
        why: why.to_owned(),
    });
    let audit = NewAudit {
        hotel,
        actor,
        action: event.type_name(),
        subject: attempt.to_string(),
        before: Some(serde_json::json!({ "state": AttemptState::PendingPayment })),
        after: Some(serde_json::json!({ "state": AttemptState::Reconciling, "why": why })),
    };
    (NewEvent { hotel, event }, audit)
}

/// What the hold of a paid attempt becomes.
pub(crate) fn reservation_of(
    id: ReservationId,
    attempt: &AttemptRow,
    hold: &HoldRow,
    quote: &QuoteRow,
    now: Moment,
) -> ReservationRow {
    ReservationRow {
        id,
        principal: attempt.principal,
        hold: Some(hold.id),
        attempt: Some(attempt.id),
        state: ReservationState::Confirmed,
        version: 1,
        stay: hold.stay,
        total: hold.total,
        change_fees: Money::zero(hold.total.currency()),
        guest: attempt.guest.clone(),
        document: quote.document.clone(),
        created_at: now,
    }
}

pub(crate) fn tell(
    actor: &Actor,
    captured: Money,
    row: &ReservationRow,
    units: &[UnitNight],
    facts: &Facts,
    changes: &mut Changes,
) {
    let hotel = row.id.hotel();
    let event = Event::ReservationConfirmed(ReservationConfirmed {
        reservation_id: row.id,
        hold_id: row.hold,
        attempt_id: row.attempt,
        principal_id: row.principal,
        stay: row.stay,
        total: row.total,
        nights: availability::after(facts, changes, hotel, units),
    });
    changes.events.push(NewEvent { hotel, event });
    changes.audit.push(NewAudit {
        hotel,
        actor: actor.clone(),
        action: "reservation.confirmed",
        subject: row.id.to_string(),
        before: None,
        after: Some(serde_json::json!({
            "hold": row.hold,
            "attempt": row.attempt,
            "total": row.total,
            "captured": captured,
        })),
    });
}

impl ConfirmOp {
    fn confirm(
        &self,
        facts: &Facts,
        attempt: &AttemptRow,
        hold: &HoldFacts,
    ) -> Option<Decision<ConfirmAnswer>> {
        // The foreign key keeps a hold's quote; without it nothing may be sold.
        let quote = facts.quotes.get(&hold.row.quote)?;
        let reservation = reservation_of(self.reservation, attempt, &hold.row, quote, facts.now);
        let mut changes = Changes::default();
        changes.move_units(hold.row.id, &hold.units, NightDelta { held: -1, confirmed: 1, sellable: 0 });
        changes.writes.push(Write::CloseHold(hold.row.id, HoldState::Consumed));
        changes.writes.push(self.shift(attempt, AttemptState::Confirmed));
        changes.writes.extend(capture_became_known(attempt, self.captured));
        tell(&self.actor, self.captured, &reservation, &hold.units, facts, &mut changes);
        charges::begin(&reservation, attempt, &mut changes);
        changes.writes.push(Write::MakeReservation(Box::new(reservation), hold.units.clone()));
        Some(Decision::Commit(changes, ConfirmAnswer::Confirmed))
    }

    /// A charge of a reservation's schedule, unless it is no longer owed: cancelled, or another one took its
    /// place.
    fn charge(&self, facts: &Facts, attempt: &AttemptRow) -> Option<Decision<ConfirmAnswer>> {
        let reservation = facts.reservations.get(&attempt.reservation?)?;
        let charge = charges::owed_by(attempt, reservation)?;
        if self.captured != attempt.amount || charge.amount != attempt.amount {
            return None;
        }
        let mut changes = Changes::default();
        changes.writes.push(self.shift(attempt, AttemptState::Confirmed));
        changes.writes.extend(capture_became_known(attempt, self.captured));
        charges::pay(charge, Some(attempt), &self.actor, &mut changes);
        Some(Decision::Commit(changes, ConfirmAnswer::Confirmed))
    }

    /// The stay that was priced takes the place of the one it has, unless somebody has changed or cancelled
    /// that meanwhile.
    fn change(
        &self,
        facts: &Facts,
        attempt: &AttemptRow,
        hold: &HoldFacts,
    ) -> Option<Decision<ConfirmAnswer>> {
        let case = Case::of(attempt, facts)?;
        let difference = case.difference();
        let Case { reservation, change, document } = case;
        let is_ours = change.state == ChangeState::Started && change.attempt == Some(attempt.id);
        if !is_ours
            || !is_as_priced(&reservation.row, change)
            || drifted(&difference, self.attempt.hotel(), facts).is_some()
        {
            return None;
        }
        let mut changes = Changes::default();
        let swap = Swap {
            actor: &self.actor,
            reservation,
            change,
            document,
            difference: &difference,
            held: Some(hold),
            paid: Some(attempt),
            // It was paid for: nothing goes back.
            refund: RefundId::new(self.attempt.hotel(), self.reservation.uuid()),
        };
        swap.write(facts, &mut changes);
        changes.writes.push(self.shift(attempt, AttemptState::Confirmed));
        changes.writes.extend(capture_became_known(attempt, self.captured));
        Some(Decision::Commit(changes, ConfirmAnswer::Confirmed))
    }

    /// Money was taken and there is no hold to spend. The request hands over; the resolver goes on itself.
    fn leave_to_the_resolver(&self, attempt: &AttemptRow) -> Decision<ConfirmAnswer> {
        if self.guard != AttemptState::PendingPayment {
            return Decision::Refuse { answer: ConfirmAnswer::Unplaced, grounds: Grounds::Locks };
        }
        let mut changes = Changes::default();
        changes.writes.push(self.shift(attempt, AttemptState::Reconciling));
        changes.writes.extend(capture_became_known(attempt, self.captured));
        let (event, audit) = open_case(attempt.id, attempt.hold, "no_room", self.actor.clone());
        changes.events.push(event);
        changes.audit.push(audit);
        Decision::Commit(changes, ConfirmAnswer::Unplaced)
    }

    fn shift(&self, attempt: &AttemptRow, to: AttemptState) -> Write {
        Write::ShiftAttempt(AttemptMove { captured: self.captured, ..attempt.moved(to) })
    }
}
