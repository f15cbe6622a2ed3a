//! What happened to one booking, in order of time. For operators.

use keyrack_domain::ids::{AttemptId, ChangeId, HoldId, QuoteId, RefundId, ReservationId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{instant::Instant, money::Money};

/// `GET /v1/ops/bookings/{id}/timeline`
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Timeline {
    pub booking: BookingParts,
    /// Oldest first.
    pub items: Vec<TimelineItem>,
    /// Opaque; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// Everything that belongs to the booking, as it stands now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct BookingParts {
    #[schema(example = "HTL-204")]
    pub hotel: String,
    pub reservation: Option<ReservationPart>,
    #[schema(value_type = Vec<String>)]
    pub quotes: Vec<QuoteId>,
    pub holds: Vec<HoldPart>,
    pub attempts: Vec<AttemptPart>,
    pub changes: Vec<ChangePart>,
    pub refunds: Vec<RefundPart>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReservationPart {
    #[schema(value_type = String)]
    pub id: ReservationId,
    pub state: String,
    pub version: i32,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct HoldPart {
    #[schema(value_type = String)]
    pub id: HoldId,
    pub state: String,
    pub expires_at: Instant,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct AttemptPart {
    #[schema(value_type = String)]
    pub id: AttemptId,
    pub purpose: String,
    pub state: String,
    #[schema(value_type = Option<String>)]
    pub hold_id: Option<HoldId>,
    pub amount: Money,
    /// What is known to have been taken.
    pub captured: Money,
    /// What has been given back or is promised to be.
    pub refund_committed: Money,
    /// After this the provider is asked what became of it.
    pub deadline: Instant,
    /// Why it failed: a stable word.
    pub reason: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangePart {
    #[schema(value_type = String)]
    pub id: ChangeId,
    pub state: String,
    #[schema(value_type = Option<String>)]
    pub attempt_id: Option<AttemptId>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RefundPart {
    #[schema(value_type = String)]
    pub id: RefundId,
    #[schema(value_type = String)]
    pub attempt_id: AttemptId,
    pub state: String,
    pub amount: Money,
    /// Of its attempt, from 1.
    pub number: i32,
    /// From 1; rises after a definite failure.
    pub r#try: i32,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TimelineItem {
    /// By the clock that decides.
    pub at: Instant,
    #[serde(flatten)]
    pub happened: Happened,
}

/// By `kind`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schema(as = TimelineHappened)]
pub enum Happened {
    /// The price was promised.
    Quote {
        #[schema(value_type = String)]
        quote_id: QuoteId,
        expires_at: Instant,
    },
    /// One commit, with everything of this booking that it committed together.
    Transaction {
        /// `null` for what was committed before this was kept; `events` and `movements` are empty then.
        transaction_id: Option<String>,
        entries: Vec<TimelineEntry>,
        events: Vec<TimelineEvent>,
        movements: Vec<TimelineMovement>,
    },
    /// `at` is when it was sent. Without an outcome it is under way, or the process died over it.
    ProviderCall {
        #[schema(example = "capture")]
        call: String,
        reference: String,
        answered_at: Option<Instant>,
        #[schema(example = "unknown")]
        outcome: Option<String>,
        /// Why, or what stands at the provider.
        #[schema(example = "no_answer_in_time")]
        detail: Option<String>,
    },
    /// What the provider told by itself.
    Notice {
        provider: String,
        event_id: String,
        /// The provider's word for what happened.
        told: String,
        reference: String,
        amount: Option<Money>,
        /// `APPLIED`, `HANDED_OVER`, `NO_OP` or `UNMATCHED`.
        outcome: String,
        /// Why it must be looked at.
        finding: Option<String>,
        /// The transaction of its effect.
        transaction_id: Option<String>,
    },
    /// A call that came again and was answered from its recorded key. Of more than 100 the first are kept.
    Replay {
        #[schema(example = "attempt.replayed")]
        action: String,
        subject: String,
        actor: String,
        request_id: Option<String>,
        /// Which it was told.
        state: Option<String>,
        /// What it waits for, or where it led.
        #[schema(example = "waits_for_the_resolver")]
        picked_up: Option<String>,
    },
}

/// Who did what, before and after.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TimelineEntry {
    pub action: String,
    pub subject: String,
    pub actor: String,
    pub request_id: Option<String>,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// What the world is told of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TimelineEvent {
    pub r#type: String,
    pub payload: Value,
}

/// Money that became known to have moved, or was promised to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TimelineMovement {
    #[schema(example = "captured")]
    pub kind: String,
    pub reference: String,
    pub amount: Money,
}
