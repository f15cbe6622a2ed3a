//! What one of Stripe's balance transactions says about our payments. Others' are passed over: the same account
//! may take payments for somebody else.
//!
//! | about | and | moved |
//! | --- | --- | --- |
//! | a charge with our attempt | its intent is the attempt's | captured |
//! | | any other | charged |
//! | a refund with our reference | | refunded, or that it came back |
//! | a refund by [`return_charge`](super::return_charge) | | returned |
//! | a refund of an attempt's intent without our reference | | refunded by hand |
//! | everything else about an attempt's money, disputes too | | not readable: somebody has to look |
//!
//! A charge or refund carries our names in its metadata; a dispute or a refund by hand has Stripe's id of the
//! intent alone, which is kept at the latest when the line of its capture is read.

use keyrack_domain::{ids::AttemptId, money::Money};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    StripeProvider, amount,
    answer::{Failed, not_asked_for, unreadable},
    books::Transaction,
    intent::{ATTEMPT, Metadata, REFERENCE, RETURN, provider_id},
};
use crate::{deadline::Deadline, provider_ids::ProviderId, reference::Reference, settlement::Moved};

#[derive(Deserialize, Debug)]
pub(super) struct ChargeObject {
    #[serde(deserialize_with = "provider_id")]
    pub(super) id: ProviderId,
    pub(super) amount_captured: u64,
    pub(super) amount_refunded: u64,
    pub(super) currency: String,
    pub(super) payment_intent: Option<String>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

#[derive(Deserialize)]
struct Refunded {
    #[serde(deserialize_with = "provider_id")]
    id: ProviderId,
    amount: u64,
    currency: String,
    charge: Option<String>,
    payment_intent: Option<String>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Disputed {
    #[serde(deserialize_with = "provider_id")]
    id: ProviderId,
    amount: u64,
    currency: String,
    payment_intent: Option<String>,
}

impl Transaction {
    fn about<T: DeserializeOwned>(&self) -> Result<T, Failed> {
        T::deserialize(&self.source).map_err(unreadable)
    }

    fn has(&self, key: &str) -> bool {
        self.source.pointer(&format!("/metadata/{key}")).is_some()
    }

    /// A line has an amount. One that cannot be read is told by what it has done to the account.
    fn told(&self, moved: Moved, units: u64, currency: &str) -> Result<Option<(Moved, Money)>, Failed> {
        if let Ok(amount) = amount::read(units, currency) {
            return Ok(Some((moved, amount)));
        }
        let amount = amount::read(self.amount.unsigned_abs(), &self.currency).map_err(unreadable)?;
        Ok(Some((Moved::Other { reference: self.id.to_string() }, amount)))
    }
}

impl StripeProvider {
    /// `None`: about nothing of ours.
    pub(super) async fn moved(
        &self,
        transaction: &Transaction,
        deadline: Deadline,
    ) -> Result<Option<(Moved, Money)>, Failed> {
        let source = &transaction.source;
        match source.get("object").and_then(|object| object.as_str()) {
            Some("charge") => self.of_charge(transaction, deadline).await,
            Some("refund") => self.of_refund(transaction, deadline).await,
            Some("dispute") => self.of_dispute(transaction, deadline).await,
            // An id in place of what it stands for: this was not asked for.
            None if source.is_string() && matches!(&*transaction.kind, "charge" | "refund") => {
                Err(not_asked_for())
            }
            _ => Ok(None),
        }
    }

    async fn of_charge(
        &self,
        transaction: &Transaction,
        deadline: Deadline,
    ) -> Result<Option<(Moved, Money)>, Failed> {
        if !transaction.has(ATTEMPT) {
            return Ok(None);
        }
        let charge: ChargeObject = transaction.about()?;
        let attempt: Option<AttemptId> = charge.metadata.get(ATTEMPT).and_then(|text| text.parse().ok());
        let moved = match (&*transaction.kind, attempt) {
            ("charge" | "payment", Some(attempt)) if self.is_own(attempt, &charge, deadline).await => {
                let refunded = amount::read(charge.amount_refunded, &charge.currency);
                match refunded {
                    Ok(refunded) => Moved::Captured { attempt, refunded },
                    Err(_) => Moved::Other { reference: charge.id.to_string() },
                }
            }
            ("charge" | "payment", Some(attempt)) => {
                Moved::Charged { charge: charge.id.to_string(), attempt: Some(attempt) }
            }
            _ => Moved::Other { reference: charge.id.to_string() },
        };
        transaction.told(moved, charge.amount_captured, &charge.currency)
    }

    /// An attempt has one intent. The first one that is known is its own.
    pub(super) async fn is_own(&self, attempt: AttemptId, charge: &ChargeObject, deadline: Deadline) -> bool {
        let Some(intent) = charge.payment_intent.as_ref().and_then(|id| id.parse::<ProviderId>().ok()) else {
            return false;
        };
        let reference = Reference::Authorization(attempt);
        if let Some(kept) = self.kept(reference, deadline).await {
            return kept == intent;
        }
        self.keep(reference, &intent, deadline).await;
        true
    }

    async fn of_refund(
        &self,
        transaction: &Transaction,
        deadline: Deadline,
    ) -> Result<Option<(Moved, Money)>, Failed> {
        let refund: Refunded = transaction.about()?;
        let other = || Moved::Other { reference: refund.id.to_string() };
        let (left, came_back) = match &*transaction.kind {
            "refund" | "payment_refund" => (true, false),
            "refund_failure" => (false, true),
            _ => (false, false),
        };
        let moved = if let Some(reference) = refund.metadata.get(REFERENCE) {
            match reference.parse() {
                Ok(Reference::Refund(refund)) if left => Moved::Refunded { refund },
                Ok(Reference::Refund(refund)) if came_back => Moved::RefundFailed { refund },
                _ => other(),
            }
        } else if let Some(charge) = refund.metadata.get(RETURN) {
            match &refund.charge {
                Some(of) if left && of == charge => Moved::Returned { charge: of.clone() },
                _ => other(),
            }
        } else {
            match self.attempt_of(refund.payment_intent.as_deref(), deadline).await {
                Some(attempt) if left => {
                    Moved::RefundedByHand { attempt, provider_id: refund.id.to_string() }
                }
                Some(_) => other(),
                None => return Ok(None),
            }
        };
        transaction.told(moved, refund.amount, &refund.currency)
    }

    async fn of_dispute(
        &self,
        transaction: &Transaction,
        deadline: Deadline,
    ) -> Result<Option<(Moved, Money)>, Failed> {
        let dispute: Disputed = transaction.about()?;
        if self.attempt_of(dispute.payment_intent.as_deref(), deadline).await.is_none() {
            return Ok(None);
        }
        let moved = Moved::Other { reference: dispute.id.to_string() };
        transaction.told(moved, dispute.amount, &dispute.currency)
    }

    async fn attempt_of(&self, intent: Option<&str>, deadline: Deadline) -> Option<AttemptId> {
        let id: ProviderId = intent?.parse().ok()?;
        self.reference_of(&id, deadline).await.map(Reference::attempt)
    }
}
