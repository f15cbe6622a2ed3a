//! T2 as an operation of the ledger: opens the attempt, before the provider hears of it.

use std::time::Duration;

use keyrack_domain::{
    actor::Actor,
    attempt::{AttemptState, Purpose},
    clock::Moment,
    event::{AttemptStarted, Event},
    guest::Guest,
    hold::HoldState,
    ids::{AttemptId, HoldId, PrincipalId},
    method_token::MethodToken,
    money::Money,
};
use keyrack_ledger::{AttemptRow, Changes, Decision, Facts, Found, KeyClaim, Needs, Operation, Write};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};

#[derive(Clone, Debug)]
pub struct StartAttemptOp {
    pub claim: KeyClaim,
    pub actor: Actor,
    pub principal: PrincipalId,
    pub hold: HoldId,
    /// The id that the attempt gets; the provider's references derive from it.
    pub attempt: AttemptId,
    pub method: MethodToken,
    pub guest: Guest,
    /// The release waits so long for the provider, and no longer.
    pub auth_timeout: Duration,
}

#[derive(Clone, Debug)]
pub enum AttemptAnswer {
    Opened(Box<AttemptRow>),
    HoldNotFound,
    HoldExpired(Moment),
    HoldNotActive(HoldState),
    AttemptInProgress(AttemptId),
}

impl Operation for StartAttemptOp {
    type Answer = AttemptAnswer;

    fn name(&self) -> &'static str {
        "start_attempt"
    }

    fn key(&self) -> Option<&KeyClaim> {
        Some(&self.claim)
    }

    /// The hold's lock, under which an attempt is inserted. No counter changes. The quote tells what of the price
    /// is due at booking.
    fn needs(&self, facts: &Facts) -> Needs {
        let quote = facts.holds.get(&self.hold).map(|hold| hold.row.quote);
        Needs {
            holds: std::collections::BTreeSet::from([self.hold]),
            quotes: quote.into_iter().collect(),
            ..Needs::default()
        }
    }

    fn decide(&self, facts: &Facts) -> Decision<AttemptAnswer> {
        // What a change holds is paid for by the change alone.
        let Some(hold) = facts.holds.get(&self.hold).filter(|hold| hold.row.is_of_guest(self.principal))
        else {
            return Decision::refuse(AttemptAnswer::HoldNotFound);
        };
        let row = &hold.row;
        if let Some(open) = hold.open_attempt {
            return Decision::refuse(AttemptAnswer::AttemptInProgress(open));
        }
        match row.state {
            HoldState::Consumed | HoldState::Released => {
                return Decision::refuse(AttemptAnswer::HoldNotActive(row.state));
            }
            HoldState::Expired => return Decision::refuse(AttemptAnswer::HoldExpired(row.expires_at)),
            HoldState::Active if facts.now.is_past(row.expires_at) => {
                return Decision::refuse(AttemptAnswer::HoldExpired(row.expires_at));
            }
            HoldState::Active => {}
        }
        // The foreign key keeps a hold's quote.
        let quote = facts.quotes.get(&row.quote);
        let due = quote.map_or(row.total, |quote| quote.document.due_at_booking());
        let attempt = self.open(due, facts.now);
        let changes = self.changes(&attempt);
        Decision::Commit(changes, AttemptAnswer::Opened(Box::new(attempt)))
    }

    fn replay(&self, found: &Found) -> Result<AttemptAnswer, keyrack_db::DbError> {
        match found {
            Found::Attempt(row) => Ok(AttemptAnswer::Opened(row.clone())),
            Found::Record(_) => Err(keyrack_db::DbError::unreadable("attempt", &"a key's record")),
        }
    }
}

impl StartAttemptOp {
    fn open(&self, amount: Money, now: Moment) -> AttemptRow {
        AttemptRow {
            id: self.attempt,
            purpose: Purpose::Booking,
            hold: Some(self.hold),
            reservation: None,
            change: None,
            principal: self.principal,
            endpoint: self.claim.scope.endpoint,
            key: self.claim.scope.key.clone(),
            try_id: self.claim.try_id,
            fingerprint: self.claim.fingerprint,
            state: AttemptState::PendingPayment,
            amount,
            method: self.method.clone(),
            guest: self.guest.clone(),
            deadline_at: now.plus(self.auth_timeout),
            created_at: now,
            failure: None,
            captured: Money::zero(amount.currency()),
            refund_committed: Money::zero(amount.currency()),
            refunds: 0,
        }
    }

    fn changes(&self, attempt: &AttemptRow) -> Changes {
        let hotel = self.hold.hotel();
        let mut changes = Changes::default();
        changes.writes.push(Write::DeferHold(self.hold, Some(attempt.deadline_at)));
        changes.writes.push(Write::OpenAttempt(Box::new(attempt.clone())));
        let event = Event::AttemptStarted(AttemptStarted {
            attempt_id: attempt.id,
            hold_id: Some(self.hold),
            amount: attempt.amount,
        });
        changes.events.push(NewEvent { hotel, event });
        changes.audit.push(NewAudit {
            hotel,
            actor: self.actor.clone(),
            action: "attempt.started",
            subject: attempt.id.to_string(),
            before: None,
            after: Some(serde_json::json!({ "hold": self.hold, "amount": attempt.amount })),
        });
        changes
    }
}
