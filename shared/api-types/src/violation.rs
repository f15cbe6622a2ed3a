//! A rule of the hotel that is in the way.

use keyrack_domain::{code::RoomTypeCode, restriction};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::date::Date;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Violation {
    /// `STOP_SELL`, `MIN_STAY_ARRIVAL`, `CLOSED_TO_ARRIVAL`, ...
    pub rule: String,
    pub room_type: String,
    /// The date that has the rule; of `CLOSED_TO_DEPARTURE` the check-out date.
    pub night: Date,
    /// Nights or days, for rules that have a number.
    pub required: Option<i32>,
    pub given: Option<i32>,
}

impl From<restriction::Violation<RoomTypeCode>> for Violation {
    fn from(violation: restriction::Violation<RoomTypeCode>) -> Self {
        let restriction::Violation { night, rule, required, given, room_type } = violation;
        let (rule, room_type) = (rule.as_str().to_owned(), room_type.to_string());
        Self { rule, room_type, night: night.into(), required, given }
    }
}
