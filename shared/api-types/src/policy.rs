//! Cancellation and payment policies.

use chrono::{NaiveDate, NaiveTime};
use chrono_tz::Tz;
use keyrack_domain::{local_time, policy};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::instant::LocalInstant;

/// Until then cancelling costs `penalty`. The first rung that has not passed applies; after the last
/// one the whole price is due. No rung: non-refundable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct CancellationRung {
    pub until_days_before: u16,
    /// On the hotel's wall.
    #[schema(example = "18:00")]
    pub until_time: String,
    pub penalty: Penalty,
    /// That instant, included, for this arrival.
    pub until: LocalInstant,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Penalty {
    pub kind: PenaltyKind,
    /// Of `percent`: a share of the total with taxes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PenaltyKind {
    None,
    FirstNight,
    Percent,
    Full,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaymentPolicy {
    Prepay,
    Deposit,
    AtProperty,
}

/// Of an arrival on `check_in` at a hotel in `zone`.
pub fn rungs(policy: &policy::CancellationPolicy, check_in: NaiveDate, zone: Tz) -> Vec<CancellationRung> {
    let rung = |rung: &policy::Rung| {
        let at = rung.deadline(check_in, zone);
        CancellationRung {
            until_days_before: rung.until_days_before,
            until_time: minutes(rung.until_time),
            penalty: rung.penalty.into(),
            until: LocalInstant { at: at.into(), local: local_time::with_offset(at, zone) },
        }
    };
    policy.rungs.iter().map(rung).collect()
}

/// `18:00`; seconds only where there are any.
pub fn minutes(time: NaiveTime) -> String {
    let text = time.to_string();
    text.strip_suffix(":00").map_or(text.clone(), str::to_owned)
}

impl From<policy::Penalty> for Penalty {
    fn from(penalty: policy::Penalty) -> Self {
        let (kind, value) = match penalty {
            policy::Penalty::None => (PenaltyKind::None, None),
            policy::Penalty::FirstNight => (PenaltyKind::FirstNight, None),
            policy::Penalty::Percent(share) => (PenaltyKind::Percent, Some(share.normalize().to_string())),
            policy::Penalty::Full => (PenaltyKind::Full, None),
        };
        Self { kind, value }
    }
}

impl From<policy::PaymentPolicy> for PaymentPolicy {
    fn from(policy: policy::PaymentPolicy) -> Self {
        match policy {
            policy::PaymentPolicy::Prepay => Self::Prepay,
            policy::PaymentPolicy::Deposit => Self::Deposit,
            policy::PaymentPolicy::AtProperty => Self::AtProperty,
        }
    }
}

impl From<PaymentPolicy> for policy::PaymentPolicy {
    fn from(policy: PaymentPolicy) -> Self {
        match policy {
            PaymentPolicy::Prepay => Self::Prepay,
            PaymentPolicy::Deposit => Self::Deposit,
            PaymentPolicy::AtProperty => Self::AtProperty,
        }
    }
}
