//! A notice about a payment: taken, set aside, or never to be taken. Its effect is that of the operation that
//! the request or the resolver would have run, under the same guards, with the notice recorded beside it.

use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    ids::{RefundId, ReservationId},
    money::Money,
    notice::{Finding, NoticeOutcome},
};
use keyrack_ledger::{
    AttemptRow, Changes, Decision, EventRow, Facts, Found, KeyClaim, Needs, Operation, Write,
};

use crate::{
    confirm::{ConfirmAnswer, ConfirmOp, needs_of_attempt, open_case},
    fail_attempt::FailAttemptOp,
    give_up_booking::{GiveUpBookingOp, needs_of_giving_up},
};

#[derive(Clone, Debug)]
pub struct ApplyNoticeOp {
    pub actor: Actor,
    /// As it is recorded; the decision adds what it has done.
    pub event: EventRow,
    pub fact: PaymentFact,
    /// The ids that a reservation or a refund gets, should it come to one.
    pub reservation: ReservationId,
    pub refund: RefundId,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PaymentFact {
    /// Set aside: by a customer who had to act first, or by a call that goes on by itself.
    Authorized {
        waits_for_its_customer: bool,
    },
    Captured(Money),
    /// Declined, or cancelled.
    TookNothing {
        /// Stable word, told to the guest.
        failure: String,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoticeAnswer {
    Recorded(NoticeOutcome, Option<Finding>),
    /// This event was recorded before.
    Duplicate,
    /// What it is about is not there, or not yet.
    NotThere,
}

type Verdict = (NoticeOutcome, Option<Finding>);

impl Operation for ApplyNoticeOp {
    type Answer = NoticeAnswer;

    fn name(&self) -> &'static str {
        "apply_notice"
    }

    fn key(&self) -> Option<&KeyClaim> {
        None
    }

    fn needs(&self, facts: &Facts) -> Needs {
        let id = self.event.attempt;
        let mut needs = Needs::default();
        if let Some(attempt) = facts.attempts.get(&id) {
            match attempt.state {
                AttemptState::PendingPayment => needs = needs_of_attempt(id, facts),
                AttemptState::Failed => needs = needs_of_giving_up(id, facts),
                AttemptState::Reconciling
                | AttemptState::Confirmed
                | AttemptState::PaymentCapturedBookingFailed
                | AttemptState::Refunded => {}
            }
        }
        needs.attempts.insert(id);
        needs.notices.insert(self.event.key());
        needs
    }

    fn decide(&self, facts: &Facts) -> Decision<NoticeAnswer> {
        if facts.notices.contains(&self.event.key()) {
            return Decision::refuse(NoticeAnswer::Duplicate);
        }
        let Some(attempt) = facts.attempts.get(&self.event.attempt) else {
            return Decision::refuse(NoticeAnswer::NotThere);
        };
        match &self.fact {
            PaymentFact::Authorized { waits_for_its_customer } => {
                self.authorized(attempt, *waits_for_its_customer)
            }
            PaymentFact::Captured(amount) => self.captured(*amount, attempt, facts),
            PaymentFact::TookNothing { failure } => self.took_nothing(failure, attempt, facts),
        }
    }

    fn replay(&self, _found: &Found) -> Result<NoticeAnswer, DbError> {
        Ok(NoticeAnswer::Duplicate)
    }
}

impl ApplyNoticeOp {
    /// Whoever asked for the authorization goes on with it, and else the sweep. Late, it says nothing.
    fn authorized(&self, attempt: &AttemptRow, waits_for_its_customer: bool) -> Decision<NoticeAnswer> {
        if attempt.state == AttemptState::PendingPayment && waits_for_its_customer {
            return self.hand_over(attempt, "customer_acted", None);
        }
        self.record(Changes::default(), (NoticeOutcome::NoOp, None))
    }

    fn captured(&self, amount: Money, attempt: &AttemptRow, facts: &Facts) -> Decision<NoticeAnswer> {
        let of_another_currency = amount.currency() != attempt.amount.currency();
        let differs = of_another_currency.then_some(Finding::AnotherCurrency);
        let differs = differs.or((amount != attempt.amount).then_some(Finding::AnotherAmount));
        match attempt.state {
            // Confirms nothing. What was taken is written down as the provider tells it when it is asked.
            AttemptState::PendingPayment if differs.is_some() => {
                self.hand_over(attempt, "another_amount", differs)
            }
            AttemptState::PendingPayment => {
                let confirm = ConfirmOp {
                    actor: self.actor.clone(),
                    attempt: attempt.id,
                    guard: AttemptState::PendingPayment,
                    captured: amount,
                    reservation: self.reservation,
                };
                self.beside(confirm.decide(facts), |answer| match answer {
                    ConfirmAnswer::Confirmed => (NoticeOutcome::Applied, None),
                    ConfirmAnswer::Unplaced | ConfirmAnswer::Stale(_) => (NoticeOutcome::HandedOver, None),
                })
            }
            AttemptState::Reconciling => {
                self.record(Changes::default(), (NoticeOutcome::HandedOver, differs))
            }
            AttemptState::Failed if of_another_currency => {
                self.record(Changes::default(), (NoticeOutcome::NoOp, differs))
            }
            // The guest was told that nothing was taken, and may have paid again: it goes back.
            AttemptState::Failed => {
                let give_up = GiveUpBookingOp {
                    attempt: attempt.id,
                    guard: AttemptState::Failed,
                    captured: amount,
                    refund: self.refund,
                };
                self.beside(give_up.decide(facts), |_| (NoticeOutcome::Applied, differs))
            }
            AttemptState::Confirmed | AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
                let news = (amount != attempt.captured).then_some(Finding::AnotherAmount);
                self.record(Changes::default(), (NoticeOutcome::NoOp, news))
            }
        }
    }

    /// Of this attempt alone: another card's payment of the same hold is another attempt.
    fn took_nothing(&self, failure: &str, attempt: &AttemptRow, facts: &Facts) -> Decision<NoticeAnswer> {
        match attempt.state {
            AttemptState::PendingPayment => {
                let fail = FailAttemptOp {
                    actor: self.actor.clone(),
                    attempt: attempt.id,
                    guard: AttemptState::PendingPayment,
                    failure: failure.to_owned(),
                };
                self.beside(fail.decide(facts), |_| (NoticeOutcome::Applied, None))
            }
            AttemptState::Reconciling => self.record(Changes::default(), (NoticeOutcome::HandedOver, None)),
            AttemptState::Failed => self.record(Changes::default(), (NoticeOutcome::NoOp, None)),
            AttemptState::Confirmed | AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
                let finding = Some(Finding::FailureAfterSuccess);
                self.record(Changes::default(), (NoticeOutcome::NoOp, finding))
            }
        }
    }

    /// The attempt becomes a case of the resolver, which asks the provider.
    fn hand_over(
        &self,
        attempt: &AttemptRow,
        why: &'static str,
        finding: Option<Finding>,
    ) -> Decision<NoticeAnswer> {
        let mut changes = Changes::default();
        changes.writes.push(Write::ShiftAttempt(attempt.moved(AttemptState::Reconciling)));
        let (event, audit) = open_case(attempt.id, attempt.hold, why, self.actor.clone());
        changes.events.push(event);
        changes.audit.push(audit);
        self.record(changes, (NoticeOutcome::HandedOver, finding))
    }

    /// What another operation decides, with the notice recorded in its transaction.
    fn beside<A>(
        &self,
        decision: Decision<A>,
        verdict: impl FnOnce(&A) -> Verdict,
    ) -> Decision<NoticeAnswer> {
        match decision {
            Decision::Commit(changes, answer) => {
                let verdict = verdict(&answer);
                self.record(changes, verdict)
            }
            // Its guard is the state that was just looked at; should it refuse all the same, nothing is done.
            Decision::Refuse { .. } => self.record(Changes::default(), (NoticeOutcome::NoOp, None)),
        }
    }

    fn record(&self, mut changes: Changes, (outcome, finding): Verdict) -> Decision<NoticeAnswer> {
        let event = EventRow { outcome, finding, ..self.event.clone() };
        changes.writes.push(Write::NoteNotice(Box::new(event)));
        Decision::Commit(changes, NoticeAnswer::Recorded(outcome, finding))
    }
}
