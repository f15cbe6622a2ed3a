//! The adapter of Stripe, over its HTTP API: one PaymentIntent for each attempt, captured by hand.
//!
//! What makes a repeat the same call:
//!
//! - The create carries our reference as `Idempotency-Key`, for 23 hours after the attempt was opened.
//!   Stripe forgets keys after 24; so later no intent is created any more, one that exists is found.
//! - Capture and cancel act on the intent, whose state lets each happen once. They carry no key: Stripe
//!   repeats the first answer of a key for a day, failures included, and a cancel that was refused while
//!   a capture ran would stay refused.
//! - A refund is looked for among the refunds of its intent before it is sent, under its reference.
//!
//! How a void makes sure that a create which still travels does nothing: see [`void`].

mod amount;
mod answer;
mod authorize;
mod books;
mod capture;
mod client;
mod find;
mod intent;
mod look_up;
mod moved;
mod notices;
mod refund;
mod return_charge;
mod void;

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;
use keyrack_domain::{ids::AttemptId, method_token::MethodToken, money::Money, notice::ProviderName};
use secrecy::SecretString;

use self::{answer::Failed, client::Client};
pub use self::{
    client::{API_VERSION, BadStripeSettings},
    notices::StripeNotices,
};
use crate::{
    deadline::Deadline,
    outcome::{Authorization, Capture, Doubt, LookUp, Refund, Void},
    port::PaymentProvider,
    provider_ids::ProviderIds,
    reference::{Reference, RefundTry},
    settlement::{ChargeName, Settlement, SettlementFrom},
};

#[derive(Debug, Clone)]
pub struct StripeSettings {
    pub secret_key: SecretString,
    /// `https://api.stripe.com`, or plain http for a test.
    pub base_url: String,
    /// Where a customer comes back to who was sent away to act. Without it the bank's page cannot be used.
    pub return_url: Option<String>,
}

/// One pooled client. Its connections live on the runtime that first uses them, so all calls belong
/// on one runtime: a connection whose runtime stops is an answer lost.
#[derive(Debug)]
pub struct StripeProvider {
    client: Client,
    ids: Arc<dyn ProviderIds>,
    return_url: Option<String>,
    now: fn() -> SystemTime,
}

impl StripeProvider {
    /// Connects to nothing yet.
    pub fn new(settings: StripeSettings, ids: Arc<dyn ProviderIds>) -> Result<Self, BadStripeSettings> {
        let StripeSettings { secret_key, base_url, return_url } = settings;
        let client = Client::new(&base_url, &secret_key)?;
        Ok(Self { client, ids, return_url, now: real_time })
    }

    /// With another clock for the age of keys.
    #[must_use]
    pub fn telling_time_by(self, now: fn() -> SystemTime) -> Self {
        Self { now, ..self }
    }
}

#[expect(clippy::disallowed_methods, reason = "Stripe forgets keys by real time, in a sandbox too")]
fn real_time() -> SystemTime {
    SystemTime::now()
}

fn refunded(made: Result<(), Failed>) -> Refund {
    match made {
        Ok(()) => Refund::Refunded,
        Err(Failed::Refused(refusal)) => Refund::Refused(refusal),
        Err(Failed::NotSent(why)) => Refund::NotSent(why),
        Err(Failed::Unknown(doubt)) => Refund::Unknown(doubt),
    }
}

#[async_trait]
impl PaymentProvider for StripeProvider {
    fn name(&self) -> ProviderName {
        ProviderName::STRIPE
    }

    async fn authorize(
        &self,
        attempt: AttemptId,
        amount: Money,
        method: &MethodToken,
        deadline: Deadline,
    ) -> Authorization {
        match self.create_intent(attempt, amount, method, deadline).await {
            Ok(authorization) => authorization,
            Err(Failed::Refused(refusal)) => Authorization::Refused(refusal),
            Err(Failed::NotSent(why)) => Authorization::NotSent(why),
            Err(Failed::Unknown(doubt)) => Authorization::Unknown(doubt),
        }
    }

    async fn capture(&self, attempt: AttemptId, amount: Money, deadline: Deadline) -> Capture {
        match self.capture_intent(attempt, amount, deadline).await {
            Ok(None) => Capture::Captured,
            Ok(Some(reason)) => Capture::Declined(reason),
            Err(Failed::Refused(refusal)) => Capture::Refused(refusal),
            Err(Failed::NotSent(why)) => Capture::NotSent(why),
            Err(Failed::Unknown(doubt)) => Capture::Unknown(doubt),
        }
    }

    async fn void(&self, attempt: AttemptId, deadline: Deadline) -> Void {
        match self.cancel_intent(attempt, deadline).await {
            Ok(()) => Void::Voided,
            Err(Failed::Refused(refusal)) => Void::Refused(refusal),
            Err(Failed::NotSent(why)) => Void::NotSent(why),
            Err(Failed::Unknown(doubt)) => Void::Unknown(doubt),
        }
    }

    async fn refund(&self, refund: RefundTry, amount: Money, deadline: Deadline) -> Refund {
        refunded(self.give_back(refund, amount, deadline).await)
    }

    async fn look_up(&self, reference: Reference, deadline: Deadline) -> LookUp {
        match self.standing_of(reference, deadline).await {
            Ok(standing) => LookUp::Stands(standing),
            Err(Failed::Refused(_)) => LookUp::Unknown(Doubt::NotWhatWasAsked),
            Err(Failed::NotSent(why)) => LookUp::Unknown(Doubt::NotAsked(why)),
            Err(Failed::Unknown(doubt)) => LookUp::Unknown(doubt),
        }
    }

    async fn settlement(&self, from: &SettlementFrom, limit: u16, deadline: Deadline) -> Settlement {
        match self.page_of_books(from, limit, deadline).await {
            Ok(page) => Settlement::Page(page),
            Err(Failed::Refused(_)) => Settlement::Unknown(Doubt::NotWhatWasAsked),
            Err(Failed::NotSent(why)) => Settlement::Unknown(Doubt::NotAsked(why)),
            Err(Failed::Unknown(doubt)) => Settlement::Unknown(doubt),
        }
    }

    async fn return_charge(&self, charge: &ChargeName, amount: Money, deadline: Deadline) -> Refund {
        refunded(self.give_charge_back(charge, amount, deadline).await)
    }
}
