//! Cancelling an attempt's intent, also one that does not exist yet.
//!
//! Where there is an intent, it is cancelled, and Stripe never lets it be confirmed or captured again.
//!
//! Where there is none, its create may still be on its way, and there is nothing to cancel. So an intent
//! is created in its place, under the very key that the create carries, and cancelled: an amount of its
//! own, no payment method, not confirmed; no money can move by it. What holds then:
//!
//! - The placeholder is first: the create that arrives later has other parameters under a used key, and
//!   Stripe refuses it. Keys live for at least 24 hours, and no create is sent after 23.
//! - The create is first: the placeholder is refused, the intent is in the list now, and is cancelled.
//! - The create is being worked on: Stripe answers 409, nobody knows, and the sweep asks again.
//! - The create was refused under its key without an intent (an unknown method): the placeholder is
//!   refused too, and nothing is found. That stays unknown until Stripe forgets the key. It takes a
//!   process that died between that refusal and its commit.
//!
//! What does not hold: a create that travels for more than 24 hours would find its key forgotten. No
//! connection lives that long, and ours are closed at the call's deadline.

use keyrack_domain::ids::AttemptId;

use super::{
    StripeProvider,
    answer::{Failed, Heard, not_asked_for},
    client::Fields,
    find::key_holds,
    intent::{Intent, PLACEHOLDER, Status},
};
use crate::{
    deadline::Deadline,
    outcome::{Doubt, Refusal},
    provider_ids::ProviderId,
    reference::Reference,
};

/// Accepted everywhere, and above every least amount.
const PLACEHOLDER_AMOUNT: (&str, &str) = ("100", "usd");

impl StripeProvider {
    pub(super) async fn cancel_intent(&self, attempt: AttemptId, deadline: Deadline) -> Result<(), Failed> {
        if let Some(id) = self.find_id(attempt, deadline).await? {
            return self.cancel(attempt, &id, deadline).await;
        }
        if !key_holds(attempt, (self.now)()) {
            // Nothing arrived while its key was known, and since then nothing is sent.
            return Ok(());
        }
        let id = self.placeholder(attempt, deadline).await?;
        self.cancel(attempt, &id, deadline).await
    }

    async fn placeholder(&self, attempt: AttemptId, deadline: Deadline) -> Result<ProviderId, Failed> {
        let reference = Reference::Authorization(attempt);
        let (amount, currency) = PLACEHOLDER_AMOUNT;
        let form: Fields = vec![
            ("amount", amount.to_owned()),
            ("currency", currency.to_owned()),
            ("capture_method", "manual".to_owned()),
            ("payment_method_types[]", "card".to_owned()),
            ("metadata[keyrack_attempt]", attempt.to_string()),
            ("metadata[keyrack_placeholder]", "true".to_owned()),
        ];
        match self
            .client
            .post::<Intent>("payment_intents", Some(reference.to_string()), &form, deadline)
            .await?
        {
            Heard::Done(intent) => {
                let intent = intent.of(attempt)?;
                if !intent.metadata.contains_key(PLACEHOLDER) {
                    return Err(not_asked_for());
                }
                self.keep(reference, &intent.id, deadline).await;
                Ok(intent.id)
            }
            // The create has arrived in between.
            Heard::KeyTaken => {
                self.find_id(attempt, deadline).await?.ok_or(Failed::Unknown(Doubt::Undecided))
            }
            Heard::NotAccepted(_) => Err(Failed::Refused(Refusal::Invalid)),
            Heard::Declined(_) => Err(not_asked_for()),
        }
    }

    async fn cancel(&self, attempt: AttemptId, id: &ProviderId, deadline: Deadline) -> Result<(), Failed> {
        let path = format!("payment_intents/{id}/cancel");
        let intent = match self.client.post::<Intent>(&path, None, &Fields::new(), deadline).await? {
            Heard::Done(intent) => intent.of(attempt)?,
            // Not in a state in which it can be cancelled: cancelled already, or too late.
            Heard::NotAccepted(_) | Heard::KeyTaken => self.retrieve(attempt, id, deadline).await?,
            Heard::Declined(_) => return Err(not_asked_for()),
        };
        match intent.status {
            Status::Canceled => Ok(()),
            Status::Succeeded => Err(Failed::Refused(Refusal::AlreadyCaptured)),
            Status::Processing => Err(Failed::Refused(Refusal::CaptureInProgress)),
            _ => Err(not_asked_for()),
        }
    }
}
