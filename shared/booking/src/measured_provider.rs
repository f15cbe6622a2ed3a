//! The provider, with every call counted and timed by how it ended, and noted where it is about an attempt.

use std::{future::Future, sync::Arc, time::Instant};

use async_trait::async_trait;
use keyrack_domain::{ids::AttemptId, method_token::MethodToken, money::Money, notice::ProviderName};
use keyrack_payments::{
    Authorization, Capture, ChargeName, Deadline, LookUp, PaymentProvider, Reference, Refund, RefundTry,
    Settlement, SettlementFrom, Void,
};
use keyrack_store::provider_calls::CallEnd;
use keyrack_telemetry::names;

use crate::call_notes::{CallNotes, doubt, end, not_sent, refusal, standing};

#[derive(Debug)]
pub(crate) struct MeasuredProvider {
    pub(crate) provider: Arc<dyn PaymentProvider>,
    pub(crate) notes: CallNotes,
}

fn record(call: &'static str, started: Instant, outcome: &'static str) {
    metrics::histogram!(names::PROVIDER_CALL_SECONDS, "call" => call).record(started.elapsed());
    metrics::counter!(names::PROVIDER_CALLS, "call" => call, "outcome" => outcome).increment(1);
}

fn of_authorization(answer: &Authorization) -> CallEnd {
    match answer {
        Authorization::Authorized => end("authorized", None),
        Authorization::ActionRequired { .. } => end("action_required", None),
        Authorization::Declined(reason) => end("declined", Some(reason.as_str())),
        Authorization::Refused(why) => end("refused", Some(refusal(*why))),
        Authorization::NotSent(why) => end("not_sent", Some(not_sent(why))),
        Authorization::Unknown(why) => end("unknown", Some(doubt(why))),
    }
}

fn of_capture(answer: &Capture) -> CallEnd {
    match answer {
        Capture::Captured => end("captured", None),
        Capture::Declined(reason) => end("declined", Some(reason.as_str())),
        Capture::Refused(why) => end("refused", Some(refusal(*why))),
        Capture::NotSent(why) => end("not_sent", Some(not_sent(why))),
        Capture::Unknown(why) => end("unknown", Some(doubt(why))),
    }
}

fn of_void(answer: &Void) -> CallEnd {
    match answer {
        Void::Voided => end("voided", None),
        Void::Refused(why) => end("refused", Some(refusal(*why))),
        Void::NotSent(why) => end("not_sent", Some(not_sent(why))),
        Void::Unknown(why) => end("unknown", Some(doubt(why))),
    }
}

fn of_refund(answer: &Refund) -> CallEnd {
    match answer {
        Refund::Refunded => end("refunded", None),
        Refund::Refused(why) => end("refused", Some(refusal(*why))),
        Refund::NotSent(why) => end("not_sent", Some(not_sent(why))),
        Refund::Unknown(why) => end("unknown", Some(doubt(why))),
    }
}

fn of_look_up(answer: &LookUp) -> CallEnd {
    match answer {
        LookUp::Stands(found) => end("answered", Some(standing(found))),
        LookUp::Unknown(why) => end("unknown", Some(doubt(why))),
    }
}

impl MeasuredProvider {
    /// The time measured is the provider's alone, without that of the notes.
    async fn noted<A>(
        &self,
        call: &'static str,
        reference: Reference,
        asking: impl Future<Output = A> + Send,
        told: fn(&A) -> CallEnd,
    ) -> A {
        let row = self.notes.asked(call, reference).await;
        let started = Instant::now();
        let answer = asking.await;
        let how = told(&answer);
        record(call, started, how.outcome);
        self.notes.answered(row, how).await;
        answer
    }
}

#[async_trait]
impl PaymentProvider for MeasuredProvider {
    fn name(&self) -> ProviderName {
        self.provider.name()
    }

    async fn authorize(
        &self,
        attempt: AttemptId,
        amount: Money,
        method: &MethodToken,
        deadline: Deadline,
    ) -> Authorization {
        let asking = self.provider.authorize(attempt, amount, method, deadline);
        self.noted("authorize", Reference::Authorization(attempt), asking, of_authorization).await
    }

    async fn capture(&self, attempt: AttemptId, amount: Money, deadline: Deadline) -> Capture {
        let asking = self.provider.capture(attempt, amount, deadline);
        self.noted("capture", Reference::Capture(attempt), asking, of_capture).await
    }

    async fn void(&self, attempt: AttemptId, deadline: Deadline) -> Void {
        let asking = self.provider.void(attempt, deadline);
        self.noted("void", Reference::Void(attempt), asking, of_void).await
    }

    async fn expire_session(&self, attempt: AttemptId, deadline: Deadline) -> Void {
        let asking = self.provider.expire_session(attempt, deadline);
        self.noted("expire_session", Reference::Void(attempt), asking, of_void).await
    }

    async fn refund(&self, refund: RefundTry, amount: Money, deadline: Deadline) -> Refund {
        let asking = self.provider.refund(refund, amount, deadline);
        self.noted("refund", refund.into(), asking, of_refund).await
    }

    async fn look_up(&self, reference: Reference, deadline: Deadline) -> LookUp {
        self.noted("look_up", reference, self.provider.look_up(reference, deadline), of_look_up).await
    }

    /// Of no attempt.
    async fn return_charge(&self, charge: &ChargeName, amount: Money, deadline: Deadline) -> Refund {
        let started = Instant::now();
        let answer = self.provider.return_charge(charge, amount, deadline).await;
        record("return_charge", started, of_refund(&answer).outcome);
        answer
    }

    /// Of no attempt.
    async fn settlement(&self, from: &SettlementFrom, limit: u16, deadline: Deadline) -> Settlement {
        let started = Instant::now();
        let answer = self.provider.settlement(from, limit, deadline).await;
        let outcome = match answer {
            Settlement::Page(_) => "answered",
            Settlement::Unknown(_) => "unknown",
        };
        record("settlement", started, outcome);
        answer
    }
}
