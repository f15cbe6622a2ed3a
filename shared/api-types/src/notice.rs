//! What a payment provider is answered that has told something.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /v1/webhooks/payments/{provider}`: it is durable, and need not be sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticeReceipt {
    pub outcome: ReceiptOutcome,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReceiptOutcome {
    /// What it told has changed what is recorded.
    Applied,
    /// The provider is asked about it.
    HandedOver,
    /// It told what was known, or what no longer matters.
    NoOp,
    /// The same event was received before.
    Duplicate,
    /// Nothing that is acted on here.
    NotOurs,
    /// About something that is not there; kept until it appears.
    Unmatched,
}
