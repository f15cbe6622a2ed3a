//! Holds: inventory claimed for 600 s at a fixed amount.

use keyrack_domain::ids::{HoldId, QuoteId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{date::Date, instant::Instant, money::Money, reference::Reference};

/// `POST /v1/holds`
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldRequest {
    #[schema(value_type = String, example = "quo_000000010197b3c0a0de7c3f9b6a3d2e8f1a4b5c")]
    pub quote_id: Reference<QuoteId>,
    /// One of your own holds, released in the same step before the new one exists.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub replaces: Option<Reference<HoldId>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Hold {
    #[schema(value_type = String)]
    pub id: HoldId,
    pub state: HoldState,
    /// Valid up to and including this instant. It never changes.
    pub expires_at: Instant,
    /// What the booking will cost.
    pub total: Money,
    #[schema(example = "HTL-204")]
    pub hotel: String,
    #[schema(value_type = String)]
    pub quote_id: QuoteId,
    pub check_in: Date,
    pub check_out: Date,
    pub created_at: Instant,
}

/// Forward only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HoldState {
    Active,
    /// A reservation took its units over.
    Consumed,
    /// Time ran out and its units went back.
    Expired,
    /// Given up by its owner.
    Released,
}

impl From<keyrack_domain::hold::HoldState> for HoldState {
    fn from(state: keyrack_domain::hold::HoldState) -> Self {
        use keyrack_domain::hold::HoldState as Domain;
        match state {
            Domain::Active => Self::Active,
            Domain::Consumed => Self::Consumed,
            Domain::Expired => Self::Expired,
            Domain::Released => Self::Released,
        }
    }
}
