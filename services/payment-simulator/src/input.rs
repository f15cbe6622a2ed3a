//! What a client asks, validated.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{charge::Kind, method::Method};

/// The client's name for one call: 1 to 128 of `[A-Za-z0-9_-]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReferenceName(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a reference is 1 to 128 of [A-Za-z0-9_-]")]
pub struct NotAReference;

impl ReferenceName {
    /// Ours, for what no client has named.
    pub(crate) fn by_hand() -> Self {
        Self(format!("re_hand_{}", Uuid::new_v4().simple()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ReferenceName {
    type Error = NotAReference;

    fn try_from(text: String) -> Result<Self, NotAReference> {
        let plain = (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if plain { Ok(Self(text)) } else { Err(NotAReference) }
    }
}

impl From<ReferenceName> for String {
    fn from(reference: ReferenceName) -> Self {
        reference.0
    }
}

impl fmt::Display for ReferenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Minor units of a currency, more than zero. How many decimals the currency has is the client's
/// business: 26400 JPY are 26,400 yen, 26400 INR are 264 rupees.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Amount {
    pub amount: u64,
    pub currency: String,
}

#[derive(Deserialize)]
struct Parts {
    amount: u64,
    currency: String,
}

impl TryFrom<Parts> for Amount {
    type Error = NotAnAmount;

    fn try_from(parts: Parts) -> Result<Self, NotAnAmount> {
        Self::new(parts.amount, parts.currency)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an amount is more than zero, in a currency of three capital letters")]
pub struct NotAnAmount;

impl Amount {
    pub(crate) fn new(amount: u64, currency: String) -> Result<Self, NotAnAmount> {
        let code = currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_uppercase());
        if amount > 0 && code { Ok(Self { amount, currency }) } else { Err(NotAnAmount) }
    }
}

/// One call. Two calls under one reference are the same call when these are equal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Input {
    Authorize {
        amount: Amount,
        method: Method,
    },
    Capture {
        authorization: ReferenceName,
        amount: Amount,
    },
    Void {
        authorization: ReferenceName,
    },
    Refund {
        capture: ReferenceName,
        amount: Amount,
    },
    /// Made by somebody at the provider: no client asked for it.
    RefundByHand {
        capture: ReferenceName,
        amount: Amount,
    },
}

impl Input {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Authorize { .. } => Kind::Authorize,
            Self::Capture { .. } => Kind::Capture,
            Self::Void { .. } => Kind::Void,
            Self::Refund { .. } | Self::RefundByHand { .. } => Kind::Refund,
        }
    }

    pub(crate) fn amount(&self) -> Option<&Amount> {
        match self {
            Self::Authorize { amount, .. }
            | Self::Capture { amount, .. }
            | Self::Refund { amount, .. }
            | Self::RefundByHand { amount, .. } => Some(amount),
            Self::Void { .. } => None,
        }
    }

    /// The reference that this call acts on.
    pub(crate) fn of(&self) -> Option<&ReferenceName> {
        match self {
            Self::Authorize { .. } => None,
            Self::Capture { authorization, .. } | Self::Void { authorization } => Some(authorization),
            Self::Refund { capture, .. } | Self::RefundByHand { capture, .. } => Some(capture),
        }
    }
}
