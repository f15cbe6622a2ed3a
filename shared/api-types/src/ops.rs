//! What operators look at, across hotels.

use keyrack_domain::{
    ids::{AttemptId, FindingId, HoldId, LetterId, NoticeId, RefundId},
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

/// A line of a provider's settlement export that did not agree with what is recorded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct OpsSettlementFinding {
    #[schema(value_type = String)]
    pub id: FindingId,
    #[schema(example = "simulator")]
    pub provider: String,
    /// The provider's name of the line.
    pub entry: String,
    #[schema(example = "amount_differs")]
    pub kind: String,
    /// `OPEN`: somebody must look. `RETURNING`: a charge that nobody asked for is being given back. `RETURNED`: it
    /// has been. `CLOSED`: somebody has looked.
    pub state: String,
    /// The attempt that the line names, where it names one; it need not exist.
    #[schema(value_type = Option<String>)]
    pub attempt_id: Option<AttemptId>,
    /// What the line is about, as the provider calls it.
    pub reference: String,
    pub amount: Money,
    /// By the provider's clock.
    pub happened_at: Instant,
    pub found_at: Instant,
    /// When it was returned or closed.
    pub settled_at: Option<Instant>,
    /// There once it is `CLOSED`.
    pub closed: Option<FindingClosed>,
}

/// Who has looked, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct FindingClosed {
    /// The principal of the operator.
    #[schema(example = "prn_6f9619ff8b864d01b42d00cf4fc964ff")]
    pub by: String,
    pub note: String,
    /// The id of the request that closed it.
    pub request_id: String,
}

/// `POST /v1/ops/settlement-findings/{id}/close`
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseFindingRequest {
    /// What was found out, and why it needs nobody any more.
    #[schema(min_length = 1, max_length = 2000)]
    pub note: String,
}
