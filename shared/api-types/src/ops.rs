//! What operators look at, across hotels.

use keyrack_domain::{
    ids::{AttemptId, HoldId, LetterId, NoticeId, RefundId},
    notice::{Finding, NoticeOutcome},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{booking::RefundState, instant::Instant, money::Money};

/// A refund, as operators see it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct OpsRefund {
    #[schema(value_type = String)]
    pub id: RefundId,
    #[schema(example = "HTL-204")]
    pub hotel: String,
    #[schema(value_type = String)]
    pub attempt_id: AttemptId,
    pub state: RefundState,
    pub amount: Money,
    pub reason: String,
    /// Of its attempt, from 1.
    pub number: i32,
    /// From 1; rises after a definite failure.
    pub r#try: i32,
    pub requested_at: Instant,
}

/// `POST /v1/ops/refunds/{id}/retry`: how it stands after it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RefundRetried {
    #[schema(value_type = String)]
    pub id: RefundId,
    pub state: RefundState,
    pub r#try: i32,
}

/// A provider's notice that somebody must look at.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct OpsNotice {
    #[schema(value_type = String)]
    pub id: NoticeId,
    pub provider: String,
    /// The provider's id of the event, its word for it, and what it was about.
    pub event_id: String,
    pub kind: String,
    pub reference: String,
    pub received_at: Instant,
    /// The attempt that it names, where it names one.
    #[schema(value_type = Option<String>)]
    pub attempt_id: Option<AttemptId>,
    pub amount: Option<Money>,
    /// `APPLIED`, `HANDED_OVER` or `NO_OP`; `null` while it is unmatched.
    pub outcome: Option<String>,
    /// Why it must be looked at; `null` while it is unmatched.
    pub finding: Option<String>,
}

impl OpsNotice {
    pub fn outcome_of(outcome: NoticeOutcome) -> Option<String> {
        Some(outcome.as_str().to_owned())
    }

    pub fn finding_of(finding: Option<Finding>) -> Option<String> {
        finding.map(|finding| finding.as_str().to_owned())
    }
}

/// An attempt of which nobody knows how it ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct OpsCase {
    #[schema(value_type = String)]
    pub attempt_id: AttemptId,
    #[schema(example = "HTL-204")]
    pub hotel: String,
    #[schema(value_type = Option<String>)]
    pub hold_id: Option<HoldId>,
    pub amount: Money,
    /// What is known to have been taken.
    pub captured: Money,
    pub started_at: Instant,
    /// For how long the attempt has had no end.
    pub open_s: u64,
}

/// An event on which a handler could not act.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct OpsLetter {
    #[schema(value_type = String)]
    pub id: LetterId,
    #[schema(example = "HTL-204")]
    pub hotel: String,
    /// Who could not act on it.
    pub handler: String,
    pub event_id: uuid::Uuid,
    /// Of the event, such as `reservation.confirmed`.
    pub r#type: String,
    pub created_at: Instant,
    pub died_at: Instant,
    /// Why. Where it waits behind an earlier one, that is said.
    pub error: String,
    /// Later events of the handler with the same key wait behind it.
    pub key: Option<String>,
}

/// What has become of a dead letter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct LetterResolved {
    #[schema(value_type = String)]
    pub id: LetterId,
    /// `REPLAYED` or `DISCARDED`.
    pub state: String,
}
