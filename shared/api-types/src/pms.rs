//! What a hotel's own system says of its nights, and where it contradicts what is sold.

use keyrack_domain::{ids::ConflictId, pms};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{date::Date, instant::Instant, weekday::Weekday};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PmsMode {
    /// Units that may be sold in total, of the nights named. Applied when the sequence is higher than the last.
    Absolute,
    /// What is added to them. Applied when the sequence is the one after the last.
    Delta,
    /// As absolute; every other night of the window, of every room type, has none.
    Full,
}

/// `POST /v1/hotels/{hotel}/pms/batches`
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PmsBatchRequest {
    /// Rises with each batch of this credential.
    #[schema(minimum = 1)]
    pub sequence: i64,
    pub mode: PmsMode,
    /// Required for a full batch, and for no other.
    #[serde(default)]
    pub window: Option<PmsWindow>,
    /// No night of a room type twice, and at most 10,000 nights in all lines; of a full batch the nights that it closes
    /// count too.
    #[schema(max_items = 10_000)]
    pub nights: Vec<PmsLine>,
}

/// Both ends are nights.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PmsWindow {
    pub first_night: Date,
    pub last_night: Date,
}

/// One `night`, or a range of them.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PmsLine {
    /// A code of the hotel, exactly as it is written there.
    #[schema(example = "RT-DLX", max_length = 64)]
    pub room_type: String,
    #[serde(default)]
    pub night: Option<Date>,
    #[serde(default)]
    pub first_night: Option<Date>,
    #[serde(default)]
    pub last_night: Option<Date>,
    /// Narrows a range; left out or null: every day of the week.
    #[serde(default)]
    pub weekdays: Option<Vec<Weekday>>,
    /// Units that may be sold in total, what is held and confirmed included. In every mode but delta.
    #[serde(default)]
    pub sellable: Option<i64>,
    /// In mode delta, in place of `sellable`.
    #[serde(default)]
    pub change: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PmsOutcome {
    Applied,
    /// A later batch had been applied before. Nothing of this one was.
    Superseded,
    /// It was taken before, and nothing was done: the lines are told as they were then.
    Replayed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PmsLineOutcome {
    Applied,
    Unchanged,
    Superseded,
    /// A night of it is below what is held and confirmed, and is sold no more until that is resolved. Its other nights
    /// are applied.
    Conflict,
    /// Nothing of it was applied.
    Invalid,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PmsLineVerdict {
    /// Its place in `nights`, from 0.
    pub index: usize,
    pub outcome: PmsLineOutcome,
    /// `BELOW_COMMITTED`, `UNKNOWN_ROOM_TYPE`, `OUT_OF_RANGE`, `PAST_DATE`, `OUT_OF_HORIZON`, `OUT_OF_WINDOW`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PmsBatch {
    pub sequence: i64,
    pub mode: PmsMode,
    pub outcome: PmsOutcome,
    /// The credential that delivered it.
    pub connector: String,
    pub received_at: Instant,
    /// Nights that can be sold in another number than before, those that a window closed included.
    pub nights_changed: u32,
    pub lines: Vec<PmsLineVerdict>,
    /// Those that wait on nights of the batch.
    #[schema(value_type = Vec<String>)]
    pub conflicts: Vec<ConflictId>,
}

/// How far a hotel's system has been followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PmsCursor {
    /// The last sequence that was applied; 0 before the first.
    pub sequence: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PmsConflictState {
    /// Waits for the staff. Nothing more of the night is sold.
    Open,
    /// The reported number stands, and guests are rebooked: still nothing is sold.
    Walking,
    Accepted,
    Overridden,
    /// What is committed fell to the reported number.
    Settled,
    /// A later batch named the night.
    Replaced,
}

/// A night that the hotel's system reported below what is held and confirmed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PmsConflict {
    #[schema(value_type = String)]
    pub id: ConflictId,
    pub room_type: String,
    pub night: Date,
    pub state: PmsConflictState,
    pub reported: i32,
    /// In holds when it was reported.
    pub held: i32,
    /// In reservations when it was reported.
    pub confirmed: i32,
    /// The batch that reported it.
    pub sequence: i64,
    pub created_at: Instant,
    /// Null while it waits.
    pub ended_at: Option<Instant>,
}

/// `POST /v1/hotels/{hotel}/pms/conflicts/{id}/resolve`
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PmsResolve {
    pub action: PmsResolution,
}

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PmsResolution {
    /// What is held and confirmed becomes what can be sold: nothing more, until units come back.
    Accept,
    /// The number that was there before the report stays.
    Override,
    /// The reported number stands, and guests are rebooked: the night stays stopped until what is committed has fallen
    /// to it.
    Walk,
}

/// The same names on both sides.
macro_rules! same {
    ($($ours:ident = $theirs:ty { $($variant:ident),* })*) => {$(
        impl From<$theirs> for $ours {
            fn from(value: $theirs) -> Self {
                match value { $(<$theirs>::$variant => Self::$variant,)* }
            }
        }

        impl From<$ours> for $theirs {
            fn from(value: $ours) -> Self {
                match value { $($ours::$variant => Self::$variant,)* }
            }
        }
    )*};
}

same! {
    PmsMode = pms::BatchMode { Absolute, Delta, Full }
    PmsLineOutcome = pms::LineOutcome { Applied, Unchanged, Superseded, Conflict, Invalid }
    PmsConflictState = pms::ConflictState { Open, Walking, Accepted, Overridden, Settled, Replaced }
    PmsResolution = pms::Resolution { Accept, Override, Walk }
}

impl From<pms::BatchOutcome> for PmsOutcome {
    fn from(outcome: pms::BatchOutcome) -> Self {
        match outcome {
            pms::BatchOutcome::Applied => Self::Applied,
            pms::BatchOutcome::Superseded => Self::Superseded,
        }
    }
}
