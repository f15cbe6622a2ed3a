//! What a provider's books say has moved, page by page. Notices and answers get lost; this is what is left.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use keyrack_domain::{ids::AttemptId, money::Money};

use crate::{outcome::Doubt, reference::RefundTry};

#[derive(Debug)]
#[must_use = "it was asked to compare something"]
pub enum Settlement {
    Page(SettlementPage),
    /// Asked in vain: nothing is known that was not known before.
    Unknown(Doubt),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettlementPage {
    /// In the order in which they happened.
    pub lines: Vec<SettlementLine>,
    /// There is more already.
    pub more: bool,
    /// Where the next page begins, also after what is no line of ours. `None` where nothing was there.
    pub next: Option<SettlementPosition>,
}

/// From where on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SettlementFrom {
    /// By the provider's clock.
    Instant(DateTime<Utc>),
    Position(SettlementPosition),
}

/// A place in the export, in the provider's own words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettlementPosition(String);

/// The provider's name of a charge: 1 to 120 of `[A-Za-z0-9_-]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChargeName(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a name that can be used")]
pub struct NotAName;

/// One movement of money.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettlementLine {
    /// The provider's name of the line, unique there.
    pub entry: String,
    pub moved: Moved,
    pub amount: Money,
    /// By the provider's clock.
    pub at: DateTime<Utc>,
    /// Where the next line begins, also when there is none yet.
    pub next: SettlementPosition,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Moved {
    /// The attempt's own capture, and what has gone back of it by now.
    Captured { attempt: AttemptId, refunded: Money },
    /// Money was taken under another name. `attempt` is whom the name speaks of, if it does.
    Charged { charge: String, attempt: Option<AttemptId> },
    /// One of our refunds has left.
    Refunded { refund: RefundTry },
    /// One of our refunds that had left has come back.
    RefundFailed { refund: RefundTry },
    /// A refund that we did not ask for, made by hand at the provider. Its id there is its identity.
    RefundedByHand { attempt: AttemptId, provider_id: String },
    /// The refund of a charge that none of our references names.
    Returned { charge: String },
    /// Nothing that we can read.
    Other { reference: String },
}

impl SettlementPosition {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SettlementPosition {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let fits = (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(NotAName) }
    }
}

impl ChargeName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChargeName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if plain && (1..=120).contains(&text.len()) { Ok(Self(text.to_owned())) } else { Err(NotAName) }
    }
}

impl fmt::Display for ChargeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
