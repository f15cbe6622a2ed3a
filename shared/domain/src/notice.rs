//! Notices of payment providers: who tells, what became of what was told, and what in it people must look at.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::Deserialize;

/// A provider's name in addresses and records: 1 to 32 of `[a-z0-9_-]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct ProviderName(Cow<'static, str>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 32 of a-z, 0-9, _ and -")]
pub struct NotAProviderName;

impl ProviderName {
    pub const SIMULATOR: Self = Self(Cow::Borrowed("simulator"));
    pub const STRIPE: Self = Self(Cow::Borrowed("stripe"));

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProviderName {
    type Err = NotAProviderName;

    fn from_str(text: &str) -> Result<Self, NotAProviderName> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        let fine = (1..=32).contains(&text.len()) && text.bytes().all(plain);
        if fine { Ok(Self(text.to_owned().into())) } else { Err(NotAProviderName) }
    }
}

impl TryFrom<String> for ProviderName {
    type Error = NotAProviderName;

    fn try_from(text: String) -> Result<Self, NotAProviderName> {
        text.parse()
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a recorded notice has done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NoticeOutcome {
    /// What it told has changed our records.
    Applied,
    /// The resolver asks the provider about it.
    HandedOver,
    /// It told what was known, or what no longer matters.
    NoOp,
}

impl NoticeOutcome {
    pub const ALL: [Self; 3] = [Self::Applied, Self::HandedOver, Self::NoOp];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "APPLIED",
            Self::HandedOver => "HANDED_OVER",
            Self::NoOp => "NO_OP",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

/// Why an operator must look at a notice: it does not agree with what is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Finding {
    /// Another amount was taken, or given back, than is recorded.
    AnotherAmount,
    AnotherCurrency,
    /// Called failed, or cancelled, after it had been paid.
    FailureAfterSuccess,
    /// More has been given back at the provider than was left of the payment.
    MoreThanIsLeft,
    /// An earlier try of a refund has arrived, which had been called a failure, and a later one may too.
    AnotherTryArrived,
}

impl Finding {
    pub const ALL: [Self; 5] = [
        Self::AnotherAmount,
        Self::AnotherCurrency,
        Self::FailureAfterSuccess,
        Self::MoreThanIsLeft,
        Self::AnotherTryArrived,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AnotherAmount => "another_amount",
            Self::AnotherCurrency => "another_currency",
            Self::FailureAfterSuccess => "failure_after_success",
            Self::MoreThanIsLeft => "more_than_is_left",
            Self::AnotherTryArrived => "another_try_arrived",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|finding| finding.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for outcome in NoticeOutcome::ALL {
            assert_eq!(NoticeOutcome::from_name(outcome.as_str()), Some(outcome));
        }
        for finding in Finding::ALL {
            assert_eq!(Finding::from_name(finding.as_str()), Some(finding));
        }
        for name in [ProviderName::SIMULATOR, ProviderName::STRIPE] {
            assert_eq!(name.as_str().parse(), Ok(name));
        }
        for text in ["", "A", "a b", "é", &"x".repeat(33)] {
            assert_eq!(text.parse::<ProviderName>(), Err(NotAProviderName), "{text:?}");
        }
    }
}
