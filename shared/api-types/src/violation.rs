//! A rule of the hotel that is in the way.

use keyrack_domain::restriction;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::date::Date;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Violation {
    /// `STOP_SELL`, `MIN_STAY_ARRIVAL`, `CLOSED_TO_ARRIVAL`, ...
    pub rule: String,
    /// The date that has the rule; of `CLOSED_TO_DEPARTURE` the check-out date.
    pub night: Date,
    /// Nights or days, for rules that have a number.
    pub required: Option<i32>,
    pub given: Option<i32>,
}

impl From<restriction::Violation> for Violation {
    fn from(violation: restriction::Violation) -> Self {
        let restriction::Violation { night, rule, required, given, room_type: _ } = violation;
        Self { rule: rule.as_str().to_owned(), night: night.into(), required, given }
    }
}
