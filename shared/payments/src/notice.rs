//! What a provider tells by itself: webhooks. A notice comes late, twice, out of order, or never, so it
//! only says what is true at the provider, and whoever reads it compares that with what is recorded.

use std::{fmt, time::SystemTime};

use keyrack_domain::{ids::AttemptId, money::Money};
use serde::{Deserialize, Serialize};

use crate::{
    outcome::DeclineReason,
    provider_ids::ProviderIds,
    reference::{Reference, RefundTry},
};

/// An authentic notice. The same fact may come again under another `event`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// The provider's name for the event, as given: unique per provider.
    pub event: String,
    /// The provider's word for what happened, for the record.
    pub kind: String,
    pub fact: Fact,
}

impl Notice {
    /// Finds the attempt of a payment that is named by the provider's id. Of one that was never kept it is
    /// about something unknown.
    pub async fn with_our_attempt(mut self, ids: &dyn ProviderIds) -> Self {
        if let Fact::RefundedByHandOf { payment, amount, provider_id } = self.fact {
            let known = match payment.parse() {
                Ok(id) => ids.reference_of(&id).await,
                Err(_) => None,
            };
            self.fact = match known {
                Some(reference) => Fact::RefundedByHand { attempt: reference.attempt(), amount, provider_id },
                None => Fact::OfUnknown { reference: payment },
            };
        }
        self
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Set aside, not taken.
    Authorized { attempt: AttemptId, amount: Money },
    /// Taken.
    Captured { attempt: AttemptId, amount: Money },
    /// This attempt has failed and takes nothing.
    Declined { attempt: AttemptId, reason: DeclineReason },
    /// The authorization was cancelled, or has lapsed: it takes nothing any more.
    Voided { attempt: AttemptId },
    /// One of our refunds has arrived.
    Refunded { refund: RefundTry, amount: Money, provider_id: Option<String> },
    /// One of our refunds has failed, perhaps after it had been called a success.
    RefundFailed { refund: RefundTry, amount: Money, provider_id: Option<String> },
    /// A refund that we did not ask for, made by hand at the provider. Its id there is its identity.
    RefundedByHand { attempt: AttemptId, amount: Money, provider_id: String },
    /// The same, of a provider that names the payment by its own id alone. [`Notice::with_our_attempt`] makes
    /// it one of ours.
    RefundedByHandOf { payment: String, amount: Money, provider_id: String },
    /// Authentic, and about something that none of our references names. Kept, and matched later.
    OfUnknown { reference: String },
    /// Authentic, and nothing that we act on.
    NotOurs,
}

impl Fact {
    /// The attempt that it is about, where it names one of ours.
    pub fn attempt(&self) -> Option<AttemptId> {
        match self {
            Self::Authorized { attempt, .. }
            | Self::Captured { attempt, .. }
            | Self::Declined { attempt, .. }
            | Self::Voided { attempt }
            | Self::RefundedByHand { attempt, .. } => Some(*attempt),
            Self::Refunded { refund, .. } | Self::RefundFailed { refund, .. } => Some(refund.attempt),
            Self::RefundedByHandOf { .. } | Self::OfUnknown { .. } | Self::NotOurs => None,
        }
    }

    /// The reference that it speaks of, in our writing; the provider's own where it names none of ours.
    pub fn reference(&self) -> Option<String> {
        let of_ours = |reference: Reference| Some(reference.to_string());
        match self {
            Self::Authorized { attempt, .. } | Self::Declined { attempt, .. } | Self::Voided { attempt } => {
                of_ours(Reference::Authorization(*attempt))
            }
            Self::Captured { attempt, .. } => of_ours(Reference::Capture(*attempt)),
            Self::Refunded { refund, .. } | Self::RefundFailed { refund, .. } => of_ours((*refund).into()),
            Self::RefundedByHand { provider_id: reference, .. }
            | Self::RefundedByHandOf { payment: reference, .. }
            | Self::OfUnknown { reference } => Some(reference.clone()),
            Self::NotOurs => None,
        }
    }

    pub fn amount(&self) -> Option<Money> {
        match self {
            Self::Authorized { amount, .. }
            | Self::Captured { amount, .. }
            | Self::Refunded { amount, .. }
            | Self::RefundFailed { amount, .. }
            | Self::RefundedByHand { amount, .. }
            | Self::RefundedByHandOf { amount, .. } => Some(*amount),
            Self::Declined { .. } | Self::Voided { .. } | Self::OfUnknown { .. } | Self::NotOurs => None,
        }
    }
}

/// Why a notice was not accepted. Nothing of it is recorded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAccepted {
    /// The signature is absent, unreadable, of another secret, or too far from now, before or after.
    #[error("the signature does not stand for this body at this time")]
    NotAuthentic,
    /// Signed, and not readable: `at` is a JSON pointer, `why` the rule.
    #[error("{at}: {why}")]
    Malformed { at: String, why: String },
}

/// Reads the notices of one provider.
pub trait NoticeReader: fmt::Debug + Send + Sync {
    /// The header that carries the signature, in lower case.
    fn signature_header(&self) -> &'static str;

    /// `signature` as it came, bytes and all; `now` is real time, also in a sandbox.
    fn read(&self, signature: Option<&[u8]>, body: &[u8], now: SystemTime) -> Result<Notice, NotAccepted>;
}
