//! Cancellation and payment policies, as a rate plan states them and a quote freezes them.

use chrono::NaiveTime;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Rungs, first to last: the first whose local instant, included, has not passed applies; after the
/// last the whole price is due. No rung: non-refundable.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CancellationPolicy {
    pub rungs: Vec<Rung>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rung {
    pub until_days_before: u16,
    /// On the hotel's wall.
    pub until_time: NaiveTime,
    pub penalty: Penalty,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Penalty {
    None,
    /// The first night of every room, with its taxes.
    FirstNight,
    /// Of the total with taxes.
    Percent(Decimal),
    Full,
}

/// What becomes of money that was taken when the hold had ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LateCapture {
    /// The rooms are allocated anew, with the restrictions of the day; where that cannot be, it goes back.
    #[default]
    Allocate,
    Refund,
}

impl LateCapture {
    pub const ALL: [Self; 2] = [Self::Allocate, Self::Refund];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allocate => "allocate",
            Self::Refund => "refund",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentPolicy {
    Prepay,
    Deposit,
    AtProperty,
}

/// What of a stay is due at booking, and when the rest is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DepositTerms {
    pub part: DepositPart,
    /// The balance is due so many days before the arrival, when that day begins on the hotel's wall.
    pub balance_due_days_before: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum DepositPart {
    /// Of the total with taxes.
    Percent(Decimal),
    /// For each room, in the hotel's currency.
    Amount(Decimal),
}

impl Default for DepositTerms {
    fn default() -> Self {
        Self { part: DepositPart::Percent(Decimal::from(30)), balance_due_days_before: 7 }
    }
}

impl PaymentPolicy {
    pub const ALL: [Self; 3] = [Self::Prepay, Self::Deposit, Self::AtProperty];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prepay => "prepay",
            Self::Deposit => "deposit",
            Self::AtProperty => "at_property",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }
}
