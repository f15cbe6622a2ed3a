//! Paid, but no room: the attempt becomes PAYMENT_CAPTURED_BOOKING_FAILED and its refund is requested,
//! in one transaction. The conditional UPDATE of the counters is never skipped to honour a payment.

use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    change::ChangeState,
    event::{Event, RefundChanged},
    hold::HoldState,
    ids::{AttemptId, RefundId},
    money::Money,
    refund::RefundState,
};
use keyrack_ledger::{
    AttemptMove, AttemptRow, Changes, Decision, Facts, Found, KeyClaim, Movement, MovementKind, Needs,
    Operation, RefundRow, Write,
};
use keyrack_payments::{Reference, RefundTry};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};

use crate::{change_stay, charges, confirm::capture_became_known};

/// Why an attempt failed that took money.
pub const NO_ROOM: &str = "no_room";

/// The same, where it was to pay for a charge that is not owed any more, or took another amount.
const NOT_OWED: &str = "not_owed";

#[derive(Clone, Debug)]
pub struct GiveUpBookingOp {
    pub attempt: AttemptId,
    /// RECONCILING, or FAILED where the capture was found later.
    pub guard: AttemptState,
    pub captured: Money,
    pub refund: RefundId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GiveUpAnswer {
    RefundRequested,
    /// The hold can be spent after all; confirm instead.
    HoldAlive,
    Stale(Option<AttemptState>),
}

impl Operation for GiveUpBookingOp {
    type Answer = GiveUpAnswer;

    fn name(&self) -> &'static str {
        "give_up_booking"
    }

    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    fn needs(&self, facts: &Facts) -> Needs {
        needs_of_giving_up(self.attempt, facts)
    }

    fn decide(&self, facts: &Facts) -> Decision<GiveUpAnswer> {
        let attempt = facts.attempts.get(&self.attempt);
        let Some(attempt) = attempt.filter(|row| row.state == self.guard) else {
            return Decision::refuse(GiveUpAnswer::Stale(attempt.map(|row| row.state)));
        };
        let hold = attempt.hold.and_then(|id| facts.holds.get(&id));
        let alive = hold.is_some_and(|hold| {
            let row = &hold.row;
            row.state == HoldState::Active && !row.drifted && row.change == attempt.change
        });
        let spent = alive && self.captured == attempt.amount && self.guard == AttemptState::Reconciling;
        if spent && !change_stay::end::is_overtaken(attempt, facts) {
            return Decision::refuse(GiveUpAnswer::HoldAlive);
        }
        Decision::Commit(self.changes(attempt, facts), GiveUpAnswer::RefundRequested)
    }

    fn replay(&self, _found: &Found) -> Result<GiveUpAnswer, keyrack_db::DbError> {
        Ok(GiveUpAnswer::Stale(None))
    }
}

/// The attempt with its hold, and where it paid for a change, that and its reservation.
pub(crate) fn needs_of_giving_up(id: AttemptId, facts: &Facts) -> Needs {
    let mut needs = Needs::default();
    if let Some(attempt) = facts.attempts.get(&id) {
        needs.holds.extend(attempt.hold);
        needs.reservations.extend(attempt.reservation);
        needs.add(&change_stay::end::needs(attempt, facts));
    }
    needs.attempts.insert(id);
    needs
}

impl GiveUpBookingOp {
    fn changes(&self, attempt: &AttemptRow, facts: &Facts) -> Changes {
        let hotel = self.attempt.hotel();
        let why = if attempt.hold.is_some() { NO_ROOM } else { NOT_OWED };
        let refund = RefundRow {
            id: self.refund,
            attempt: attempt.id,
            number: 1,
            try_number: 1,
            state: RefundState::Requested,
            amount: self.captured,
            reason: why.to_owned(),
            requested_at: facts.now,
        };
        let mut changes = Changes::default();
        changes.writes.push(Write::ShiftAttempt(AttemptMove {
            failure: Some(why.to_owned()),
            captured: self.captured,
            refund_committed: self.captured,
            refunds: 1,
            ..attempt.moved(AttemptState::PaymentCapturedBookingFailed)
        }));
        changes.writes.extend(capture_became_known(attempt, self.captured));
        changes.writes.push(Write::Record(Movement {
            attempt: attempt.id,
            kind: MovementKind::RefundRequested,
            amount: self.captured,
            reference: Reference::from(RefundTry { attempt: attempt.id, number: 1, try_number: 1 })
                .to_string(),
        }));
        let event = Event::RefundRequested(RefundChanged {
            refund_id: refund.id,
            attempt_id: attempt.id,
            amount: refund.amount,
            reason: refund.reason.clone(),
        });
        change_stay::end::end(attempt, ChangeState::Failed, &Actor::Worker, facts, &mut changes);
        let reservation = attempt.reservation.and_then(|id| facts.reservations.get(&id));
        if let Some(charge) = reservation.and_then(|reservation| charges::owed_by(attempt, reservation)) {
            charges::fail(charge, attempt, &Actor::Worker, facts.now, &mut changes);
        }
        changes.writes.push(Write::RequestRefund(refund));
        changes.events.push(NewEvent { hotel, event });
        changes.audit.push(NewAudit {
            hotel,
            actor: Actor::Worker,
            action: "booking.given_up",
            subject: attempt.id.to_string(),
            before: Some(serde_json::json!({ "state": self.guard })),
            after: Some(serde_json::json!({ "refund": self.refund, "amount": self.captured })),
        });
        changes
    }
}

/// The name of a refund's present try; `None` for numbers that the schema does not allow.
pub(crate) fn reference_of(refund: &RefundRow) -> Option<RefundTry> {
    Some(RefundTry {
        attempt: refund.attempt,
        number: refund.number.try_into().ok()?,
        try_number: refund.try_number.try_into().ok()?,
    })
}
