//! The settlement export: what has moved, line by line, as a provider's accountants see it. It is made from
//! what happened and not from what was told, so it also has what every notice was lost of.

use serde::{Deserialize, Serialize, Serializer};

use crate::input::{Amount, ReferenceName};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Movement {
    Capture,
    Refund,
    /// A refund of an earlier line that came to nothing.
    RefundFailed,
}

/// One movement, as the book keeps it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub(crate) reference: ReferenceName,
    pub(crate) movement: Movement,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
}

/// One movement, as it is told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Statement {
    /// Where the line after this one begins.
    pub cursor: usize,
    pub kind: Movement,
    pub reference: ReferenceName,
    /// A capture's authorization, a refund's capture.
    pub of: Option<ReferenceName>,
    /// No client asked for it.
    pub by_hand: bool,
    #[serde(flatten)]
    pub amount: Amount,
    /// Of a capture: what has gone back of it by now, in minor units.
    pub refunded: u64,
    #[serde(serialize_with = "instant")]
    pub at: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn instant<S: Serializer>(at: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&crate::notice::rfc3339(*at))
}
