//! The beginning of a try as an operation of the ledger: opens an attempt without a hold, before the provider hears
//! of it. The method is the one that the booking was made with.

use std::{collections::BTreeSet, time::Duration};

use keyrack_domain::{
    actor::Actor,
    attempt::{AttemptState, Purpose},
    event::{AttemptStarted, Event},
    ids::{AttemptId, ReservationId},
    money::Money,
    schedule::{ChargeState, DueKind},
};
use keyrack_ledger::{
    AttemptRow, Changes, ChargeMove, ChargeRow, Decision, Facts, Found, KeyClaim, Needs, Operation, Write,
};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};

#[derive(Clone, Debug)]
pub struct OpenChargeOp {
    /// Derived from the reservation, the charge and the try: one attempt for each.
    pub claim: KeyClaim,
    pub reservation: ReservationId,
    pub number: i16,
    pub try_number: i16,
    /// The id that the attempt gets; the provider's references derive from it.
    pub attempt: AttemptId,
    pub auth_timeout: Duration,
}

#[derive(Clone, Debug)]
pub enum CollectAnswer {
    Opened(Box<AttemptRow>),
    /// Paid, waived, put off, being paid, or tried by somebody else.
    NotDue,
}

impl Operation for OpenChargeOp {
    type Answer = CollectAnswer;

    fn name(&self) -> &'static str {
        "open_charge"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    /// The reservation's lock, under which its charges change. The attempt that booked it never changes its
    /// method: read, and locked with the rest since that is how attempts are read.
    fn needs(&self, facts: &Facts) -> Needs {
        let reservation = facts.reservations.get(&self.reservation);
        let booked = reservation.and_then(|reservation| reservation.row.attempt);
        Needs {
            reservations: BTreeSet::from([self.reservation]),
            attempts: booked.into_iter().collect(),
            ..Needs::default()
        }
    }

    fn decide(&self, facts: &Facts) -> Decision<CollectAnswer> {
        let reservation = facts.reservations.get(&self.reservation);
        let charge = reservation.and_then(|reservation| {
            reservation.charges.iter().find(|charge| {
                charge.number == self.number
                    && charge.state.is_owed()
                    && charge.attempt.is_none()
                    && charge.kind != DueKind::AtProperty
                    && charge.tries + 1 == self.try_number
                    && !charge.due_at.is_past(facts.now)
            })
        });
        let booked = reservation.and_then(|reservation| facts.attempts.get(&reservation.row.attempt?));
        match (charge, booked) {
            (Some(charge), Some(booked)) => self.open(charge, booked, facts),
            _ => Decision::refuse(CollectAnswer::NotDue),
        }
    }

    fn replay(&self, found: &Found) -> Result<CollectAnswer, keyrack_db::DbError> {
        match found {
            Found::Attempt(row) => Ok(CollectAnswer::Opened(row.clone())),
            Found::Record(_) => Err(keyrack_db::DbError::unreadable("attempt", &"a key's record")),
        }
    }
}

impl OpenChargeOp {
    fn open(&self, charge: &ChargeRow, booked: &AttemptRow, facts: &Facts) -> Decision<CollectAnswer> {
        let hotel = self.reservation.hotel();
        let zero = Money::zero(charge.amount.currency());
        let is_penalty = charge.kind == DueKind::Penalty;
        let attempt = AttemptRow {
            id: self.attempt,
            purpose: if is_penalty { Purpose::Penalty } else { Purpose::Deposit },
            hold: None,
            reservation: Some(self.reservation),
            change: None,
            principal: self.claim.scope.principal,
            endpoint: self.claim.scope.endpoint,
            key: self.claim.scope.key.clone(),
            try_id: self.claim.try_id,
            fingerprint: self.claim.fingerprint,
            state: AttemptState::PendingPayment,
            amount: charge.amount,
            method: booked.method.clone(),
            guest: booked.guest.clone(),
            deadline_at: facts.now.plus(self.auth_timeout),
            created_at: facts.now,
            failure: None,
            captured: zero,
            refund_committed: zero,
            refunds: 0,
        };
        let to = ChargeRow {
            state: ChargeState::Due,
            attempt: Some(attempt.id),
            tries: self.try_number,
            next_try_at: None,
            ..charge.clone()
        };
        let mut changes = Changes::default();
        changes.writes.push(Write::OpenAttempt(Box::new(attempt.clone())));
        changes.writes.push(Write::ShiftCharge(ChargeMove { from: charge.state, to }));
        let event = Event::AttemptStarted(AttemptStarted {
            attempt_id: attempt.id,
            hold_id: None,
            amount: attempt.amount,
        });
        changes.events.push(NewEvent { hotel, event });
        changes.audit.push(NewAudit {
            hotel,
            actor: Actor::Worker,
            action: "attempt.started",
            subject: attempt.id.to_string(),
            before: None,
            after: Some(serde_json::json!({
                "reservation": self.reservation,
                "charge": self.number,
                "try": self.try_number,
                "amount": attempt.amount,
            })),
        });
        Decision::Commit(changes, CollectAnswer::Opened(Box::new(attempt)))
    }
}
