//! How a call to a provider can end. Every ending says whether money may have moved:
//!
//! - the call's own answer, or `Declined`: the provider said so, it is definite;
//! - `Refused`: the provider did not accept this call, and this call changed nothing;
//! - `NotSent`: no byte of this call left, and this call changed nothing;
//! - `Unknown`: anything may have happened, also later, when a travelling request arrives. It is
//!   never to be read as a no.
//!
//! `Refused` and `NotSent` speak of this call alone: an earlier one under the same reference that
//! ended `Unknown` stays unknown until it is looked up.

use std::{error::Error, fmt};

use keyrack_domain::{money::Money, page_url::PageUrl};
use serde::{Deserialize, Serialize};

pub type BoxError = Box<dyn Error + Send + Sync>;

#[derive(Debug)]
#[must_use = "money may have moved"]
pub enum Authorization {
    /// The amount is set aside.
    Authorized,
    /// Nothing is set aside yet: the customer has to go to this page first. How that ends is told by a
    /// notice, or found by a look-up; a session that nobody waits for any more is ended by
    /// [`expire_session`](crate::PaymentProvider::expire_session).
    ActionRequired {
        url: PageUrl,
    },
    /// This method will not pay; another may.
    Declined(DeclineReason),
    Refused(Refusal),
    NotSent(NotSent),
    Unknown(Doubt),
}

#[derive(Debug)]
#[must_use = "money may have moved"]
pub enum Capture {
    /// The money is taken: exactly the amount that was asked for.
    Captured,
    /// The provider will never capture this authorization. It may still be voided.
    Declined(DeclineReason),
    Refused(Refusal),
    NotSent(NotSent),
    Unknown(Doubt),
}

#[derive(Debug)]
#[must_use = "money may still be taken"]
pub enum Void {
    /// Nothing is set aside and nothing will be, also where the authorization is still travelling.
    Voided,
    Refused(Refusal),
    NotSent(NotSent),
    Unknown(Doubt),
}

#[derive(Debug)]
#[must_use = "money may have moved"]
pub enum Refund {
    Refunded,
    /// A definite failure: the next try takes a new name.
    Refused(Refusal),
    NotSent(NotSent),
    Unknown(Doubt),
}

#[derive(Debug)]
#[must_use = "it was asked to decide something"]
pub enum LookUp {
    Stands(Standing),
    /// Asked in vain: nothing is known that was not known before.
    Unknown(Doubt),
}

/// What a reference stands for at the provider, at the instant of its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The provider has done nothing under this reference. A request may still be on its way.
    Nothing,
    /// Set aside, not taken (a capture may be under way).
    Authorized {
        amount: Money,
    },
    /// The customer has been sent to a page and has not decided. Nothing is set aside.
    ActionRequired {
        amount: Money,
    },
    /// Taken. Asked by the authorization's reference too, once its capture has happened.
    Captured {
        amount: Money,
        refunded: Money,
    },
    /// Cancelled for good: neither authorization nor capture can follow.
    Voided,
    Declined,
    /// Of a refund's reference: this much has gone back.
    Refunded {
        amount: Money,
    },
}

/// Why a provider did not accept a call. The call changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("the provider did not issue this payment method")]
    UnknownMethod,
    /// Something else stands under this reference, of another amount or method. It must be looked
    /// up: this is the one refusal that does not mean that nothing was charged.
    #[error("the reference stands for another call")]
    ReferenceTaken,
    #[error("there is no authorization or capture to act on")]
    NothingToActOn,
    #[error("the authorization was cancelled")]
    Voided,
    #[error("the authorization is captured already")]
    AlreadyCaptured,
    /// Too late to void, too early to refund: ask again.
    #[error("a capture is under way")]
    CaptureInProgress,
    #[error("the amount is more than what is there")]
    ExceedsWhatIsThere,
    #[error("the provider could not read the call")]
    Invalid,
    /// Of a refund that the provider had accepted.
    #[error("the refund came to nothing")]
    RefundFailed,
}

/// Why nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum NotSent {
    #[error("the deadline had passed before the call")]
    DeadlinePassed,
    #[error("the provider cannot be reached")]
    NotReachable(#[source] BoxError),
    #[error("the amount is not more than zero")]
    NotPositive,
    #[error("the provider cannot take exactly this amount in this currency")]
    NotChargeable,
    /// Of a provider that knows our names for a while only: a call could be a second one.
    #[error("the attempt is too old for the provider to know its name")]
    KeyForgotten,
}

/// Why nobody knows.
#[derive(Debug, thiserror::Error)]
pub enum Doubt {
    #[error("no answer within the deadline")]
    NoAnswerInTime,
    #[error("the connection was lost before the answer")]
    ConnectionLost(#[source] BoxError),
    /// A status that tells nothing about the call: the provider's fault, or not the provider's.
    #[error("the answer was a bare status {0}")]
    Status(u16),
    #[error("the answer is larger than any of the provider's")]
    TooLarge,
    #[error("the answer cannot be read")]
    Unreadable(#[source] BoxError),
    #[error("the answer is about another reference, amount or state than the call")]
    NotWhatWasAsked,
    #[error("the provider has the call and has not decided")]
    Undecided,
    /// Nothing is set aside until then.
    #[error("the customer must act first, and there is no page to send them to")]
    CustomerMustAct,
    #[error("there are more payments than can be looked through")]
    TooMany,
    #[error("nothing tells where to look for the payment")]
    NoPlaceToLook,
    /// Of a look-up: the question did not leave.
    #[error("the provider was not asked")]
    NotAsked(#[source] NotSent),
}

/// The provider's word for a decline, for operators: 1 to 64 of `[a-z0-9_]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct DeclineReason(String);

impl DeclineReason {
    /// Keeps what is a word, so that nothing else of an answer reaches a row or a log.
    pub fn from_provider(text: &str) -> Self {
        let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if (1..=64).contains(&text.len()) && text.bytes().all(word) {
            Self(text.to_owned())
        } else {
            Self("unspecified".to_owned())
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for DeclineReason {
    fn from(text: String) -> Self {
        Self::from_provider(&text)
    }
}

impl From<DeclineReason> for String {
    fn from(reason: DeclineReason) -> Self {
        reason.0
    }
}

impl fmt::Display for DeclineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decline_reason_is_a_word() {
        assert_eq!(DeclineReason::from_provider("insufficient_funds").as_str(), "insufficient_funds");
        for text in ["", "Card 4111 1111 1111 1111", &"x".repeat(65)] {
            assert_eq!(DeclineReason::from_provider(text).as_str(), "unspecified");
        }
    }
}
