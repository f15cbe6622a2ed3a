//! Prices, night by night.

use keyrack_domain::code::{RatePlanCode, RoomTypeCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{date::Date, weekday::Weekday};

/// `PUT /v1/hotels/{hotel}/rates`. All of it is applied, or nothing.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RatesEdit {
    /// A later change wins over an earlier one of the same night.
    #[schema(min_items = 1, max_items = 500)]
    pub changes: Vec<RateChange>,
}

/// Both ends are nights.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RateChange {
    #[schema(value_type = String, example = "RT-DLX")]
    pub room_type: RoomTypeCode,
    #[schema(value_type = String, example = "FLEX")]
    pub rate_plan: RatePlanCode,
    pub first_night: Date,
    pub last_night: Date,
    /// Narrows the range; left out or null: every day of the week.
    #[serde(default)]
    pub weekdays: Option<Vec<Weekday>>,
    /// For up to `base_occupancy` guests, in the hotel's currency.
    #[schema(example = "6500.00")]
    pub amount: String,
    /// For each adult more. Left out or null: as it is; nothing where the night had no rate.
    #[serde(default)]
    pub extra_adult: Option<String>,
    /// For each child more, likewise.
    #[serde(default)]
    pub extra_child: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RateNights {
    /// In order of room type, plan and date.
    pub items: Vec<RateNight>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RateNight {
    pub room_type: String,
    pub rate_plan: String,
    pub night: Date,
    #[schema(example = "6500.00")]
    pub amount: String,
    pub extra_adult: String,
    pub extra_child: String,
    /// Rises with every edit.
    pub price_version: i32,
}
