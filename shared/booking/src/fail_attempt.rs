//! An attempt that took nothing: declined, or never arrived. It ends; the hold is as it was.

use keyrack_domain::{
    actor::Actor,
    attempt::{AttemptState, Purpose},
    change::ChangeState,
    event::{AttemptFailed, Event},
    hold::HoldState,
    ids::AttemptId,
};
use keyrack_ledger::{AttemptMove, Changes, Decision, Facts, Found, KeyClaim, Needs, Operation, Write};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};

use crate::{change_stay, charges};

#[derive(Clone, Debug)]
pub struct FailAttemptOp {
    /// The guest whose request drives it, or the resolver.
    pub actor: Actor,
    pub attempt: AttemptId,
    pub guard: AttemptState,
    /// Stable word, told to the guest.
    pub failure: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailAnswer {
    Failed,
    Stale(Option<AttemptState>),
}

impl Operation for FailAttemptOp {
    type Answer = FailAnswer;

    fn name(&self) -> &'static str {
        "fail_attempt"
    }

    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let mut needs = Needs::default();
        needs.attempts.insert(self.attempt);
        if let Some(attempt) = facts.attempts.get(&self.attempt) {
            needs.holds.extend(attempt.hold);
            needs.reservations.extend(attempt.reservation.filter(|_| attempt.hold.is_none()));
            needs.add(&change_stay::end::needs(attempt, facts));
        }
        needs
    }

    fn decide(&self, facts: &Facts) -> Decision<FailAnswer> {
        let attempt = facts.attempts.get(&self.attempt);
        let Some(attempt) = attempt.filter(|row| row.state == self.guard && row.captured.is_zero()) else {
            return Decision::refuse(FailAnswer::Stale(attempt.map(|row| row.state)));
        };
        let hotel = self.attempt.hotel();
        let mut changes = Changes::default();
        let hold = attempt.hold.and_then(|id| facts.holds.get(&id));
        let active = hold.filter(|hold| hold.row.state == HoldState::Active);
        if attempt.purpose == Purpose::Change {
            change_stay::end::end(attempt, ChangeState::Priced, &self.actor, facts, &mut changes);
        } else if let Some(hold) = active {
            // The release no longer waits for this attempt.
            changes.writes.push(Write::DeferHold(hold.row.id, None));
        }
        let reservation = attempt.reservation.and_then(|id| facts.reservations.get(&id));
        if let Some(charge) = reservation.and_then(|reservation| charges::owed_by(attempt, reservation)) {
            charges::fail(charge, attempt, &self.actor, facts.now, &mut changes);
        }
        changes.writes.push(Write::ShiftAttempt(AttemptMove {
            failure: Some(self.failure.clone()),
            ..attempt.moved(AttemptState::Failed)
        }));
        let event = Event::AttemptFailed(AttemptFailed {
            attempt_id: attempt.id,
            hold_id: attempt.hold,
            failure: self.failure.clone(),
        });
        changes.events.push(NewEvent { hotel, event });
        changes.audit.push(NewAudit {
            hotel,
            actor: self.actor.clone(),
            action: "attempt.failed",
            subject: attempt.id.to_string(),
            before: Some(serde_json::json!({ "state": self.guard })),
            after: Some(serde_json::json!({ "failure": self.failure })),
        });
        Decision::Commit(changes, FailAnswer::Failed)
    }

    fn replay(&self, _found: &Found) -> Result<FailAnswer, keyrack_db::DbError> {
        Ok(FailAnswer::Stale(None))
    }
}
