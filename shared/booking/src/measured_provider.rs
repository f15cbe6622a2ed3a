//! The provider, with every call counted and timed by how it ended.

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;
use keyrack_domain::{ids::AttemptId, method_token::MethodToken, money::Money};
use keyrack_payments::{
    Authorization, Capture, ChargeName, Deadline, LookUp, PaymentProvider, Reference, Refund, RefundTry,
    Settlement, SettlementFrom, Void,
};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct MeasuredProvider(pub(crate) Arc<dyn PaymentProvider>);

fn record(call: &'static str, started: Instant, outcome: &'static str) {
    metrics::histogram!(names::PROVIDER_CALL_SECONDS, "call" => call).record(started.elapsed());
    metrics::counter!(names::PROVIDER_CALLS, "call" => call, "outcome" => outcome).increment(1);
}

const fn of_void(answer: &Void) -> &'static str {
    match answer {
        Void::Voided => "voided",
        Void::Refused(_) => "refused",
        Void::NotSent(_) => "not_sent",
        Void::Unknown(_) => "unknown",
    }
}

const fn of_refund(answer: &Refund) -> &'static str {
    match answer {
        Refund::Refunded => "refunded",
        Refund::Refused(_) => "refused",
        Refund::NotSent(_) => "not_sent",
        Refund::Unknown(_) => "unknown",
    }
}

#[async_trait]
impl PaymentProvider for MeasuredProvider {
    async fn authorize(
        &self,
        attempt: AttemptId,
        amount: Money,
        method: &MethodToken,
        deadline: Deadline,
    ) -> Authorization {
        let started = Instant::now();
        let answer = self.0.authorize(attempt, amount, method, deadline).await;
        let outcome = match answer {
            Authorization::Authorized => "authorized",
            Authorization::ActionRequired { .. } => "action_required",
            Authorization::Declined(_) => "declined",
            Authorization::Refused(_) => "refused",
            Authorization::NotSent(_) => "not_sent",
            Authorization::Unknown(_) => "unknown",
        };
        record("authorize", started, outcome);
        answer
    }

    async fn capture(&self, attempt: AttemptId, amount: Money, deadline: Deadline) -> Capture {
        let started = Instant::now();
        let answer = self.0.capture(attempt, amount, deadline).await;
        let outcome = match answer {
            Capture::Captured => "captured",
            Capture::Declined(_) => "declined",
            Capture::Refused(_) => "refused",
            Capture::NotSent(_) => "not_sent",
            Capture::Unknown(_) => "unknown",
        };
        record("capture", started, outcome);
        answer
    }

    async fn void(&self, attempt: AttemptId, deadline: Deadline) -> Void {
        let started = Instant::now();
        let answer = self.0.void(attempt, deadline).await;
        record("void", started, of_void(&answer));
        answer
    }

    async fn expire_session(&self, attempt: AttemptId, deadline: Deadline) -> Void {
        let started = Instant::now();
        let answer = self.0.expire_session(attempt, deadline).await;
        record("expire_session", started, of_void(&answer));
        answer
    }

    async fn refund(&self, refund: RefundTry, amount: Money, deadline: Deadline) -> Refund {
        let started = Instant::now();
        let answer = self.0.refund(refund, amount, deadline).await;
        record("refund", started, of_refund(&answer));
        answer
    }

    async fn return_charge(&self, charge: &ChargeName, amount: Money, deadline: Deadline) -> Refund {
        let started = Instant::now();
        let answer = self.0.return_charge(charge, amount, deadline).await;
        record("return_charge", started, of_refund(&answer));
        answer
    }

    async fn settlement(&self, from: &SettlementFrom, limit: u16, deadline: Deadline) -> Settlement {
        let started = Instant::now();
        let answer = self.0.settlement(from, limit, deadline).await;
        let outcome = match answer {
            Settlement::Page(_) => "answered",
            Settlement::Unknown(_) => "unknown",
        };
        record("settlement", started, outcome);
        answer
    }

    async fn look_up(&self, reference: Reference, deadline: Deadline) -> LookUp {
        let started = Instant::now();
        let answer = self.0.look_up(reference, deadline).await;
        let outcome = match answer {
            LookUp::Stands(_) => "answered",
            LookUp::Unknown(_) => "unknown",
        };
        record("look_up", started, outcome);
        answer
    }
}
