//! Rules for new sales, night by night. They never touch what is held or booked.

use keyrack_domain::{
    code::{RatePlanCode, RoomTypeCode},
    restriction,
};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::{date::Date, weekday::Weekday};

/// `PUT /v1/hotels/{hotel}/restrictions`. All of it is applied, or nothing.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RestrictionsEdit {
    /// Applied one after the other.
    #[schema(min_items = 1, max_items = 500)]
    pub changes: Vec<RestrictionChange>,
}

/// Both ends are nights. A rule that is left out stays as it is; null clears it.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RestrictionChange {
    #[schema(value_type = String, example = "RT-DLX")]
    pub room_type: RoomTypeCode,
    /// Left out or null: the room type under every plan.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "FLEX")]
    pub rate_plan: Option<RatePlanCode>,
    pub first_night: Date,
    pub last_night: Date,
    /// Narrows the range; left out or null: every day of the week.
    #[serde(default)]
    pub weekdays: Option<Vec<Weekday>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<bool>)]
    pub stop_sell: Given<bool>,
    /// Nights that a stay arriving on the night must have.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 90)]
    pub min_stay_arrival: Given<u16>,
    /// Nights that a stay touching the night must have.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 90)]
    pub min_stay_through: Given<u16>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 90)]
    pub max_stay: Given<u16>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<bool>)]
    pub closed_to_arrival: Given<bool>,
    /// Of the check-out date.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<bool>)]
    pub closed_to_departure: Given<bool>,
    /// Days before arrival, at least.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u16>, maximum = 750)]
    pub min_advance_days: Given<u16>,
    /// Days before arrival, at most.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u16>, maximum = 750)]
    pub max_advance_days: Given<u16>,
}

/// `None`: left out. `Some(None)`: null.
pub type Given<T> = Option<Option<T>>;

/// Called only where the field is there.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Given<T>, D::Error> {
    Option::deserialize(d).map(Some)
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RestrictionNights {
    /// In order of room type, plan and date.
    pub items: Vec<RestrictionNight>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RestrictionNight {
    pub room_type: String,
    /// Null: the room type under every plan.
    #[schema(required = true)]
    pub rate_plan: Option<String>,
    pub night: Date,
    #[serde(flatten)]
    pub rules: Rules,
}

/// The whole of a night's rules; null is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Rules {
    pub stop_sell: bool,
    #[schema(required = true)]
    pub min_stay_arrival: Option<u16>,
    #[schema(required = true)]
    pub min_stay_through: Option<u16>,
    #[schema(required = true)]
    pub max_stay: Option<u16>,
    pub closed_to_arrival: bool,
    pub closed_to_departure: bool,
    #[schema(required = true)]
    pub min_advance_days: Option<u16>,
    #[schema(required = true)]
    pub max_advance_days: Option<u16>,
}

impl From<restriction::NightRestriction> for Rules {
    fn from(night: restriction::NightRestriction) -> Self {
        let restriction::NightRestriction {
            stop_sell,
            min_stay_arrival,
            min_stay_through,
            max_stay,
            closed_to_arrival,
            closed_to_departure,
            min_advance_days,
            max_advance_days,
        } = night;
        Self {
            stop_sell,
            min_stay_arrival,
            min_stay_through,
            max_stay,
            closed_to_arrival,
            closed_to_departure,
            min_advance_days,
            max_advance_days,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_out_null_and_a_value_are_three_things() {
        let read = |rule: &str| {
            let json = format!(
                r#"{{"room_type": "RT-DLX", "first_night": "2026-11-14", "last_night": "2026-11-14"{rule}}}"#
            );
            serde_json::from_str::<RestrictionChange>(&json).expect("a change").max_stay
        };
        assert_eq!(read(""), None);
        assert_eq!(read(r#", "max_stay": null"#), Some(None));
        assert_eq!(read(r#", "max_stay": 7"#), Some(Some(7)));
    }
}
