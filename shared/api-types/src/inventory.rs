//! What can be sold, night by night.

use keyrack_domain::code::RoomTypeCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{date::Date, weekday::Weekday};

/// `PUT /v1/hotels/{hotel}/inventory`. All of it is applied, or nothing.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InventoryEdit {
    /// A later change wins over an earlier one of the same night.
    #[schema(min_items = 1, max_items = 500)]
    pub changes: Vec<InventoryChange>,
}

/// Both ends are nights.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InventoryChange {
    #[schema(value_type = String, example = "RT-DLX")]
    pub room_type: RoomTypeCode,
    pub first_night: Date,
    pub last_night: Date,
    /// Narrows the range; left out or null: every day of the week.
    #[serde(default)]
    pub weekdays: Option<Vec<Weekday>>,
    /// Units that may be sold in total, what is held and confirmed included.
    pub sellable: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct InventoryNights {
    /// In order of room type and date.
    pub items: Vec<InventoryNight>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct InventoryNight {
    pub room_type: String,
    pub night: Date,
    pub sellable: u32,
    /// In holds that are active.
    pub held: u32,
    /// In reservations.
    pub confirmed: u32,
    /// sellable - held - confirmed; counted from `reported` where that stands.
    pub available: u32,
    /// What the hotel's own system said, where that was below what is committed: a conflict waits, and nothing is
    /// sold above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<u32>,
}
