//! Quotes: a price promise for 600 s that claims nothing.

use keyrack_domain::{
    code::{HotelCode, RatePlanCode, RoomTypeCode},
    ids::QuoteId,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    date::Date,
    instant::Instant,
    money::Money,
    policy::{CancellationRung, PaymentPolicy},
    quoted::Charge,
    schedule::ScheduledCharge,
};

/// `POST /v1/quotes`
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuoteRequest {
    #[schema(value_type = String, example = "HTL-204")]
    pub hotel: HotelCode,
    /// The first night.
    pub check_in: Date,
    /// The morning of departure; not a night.
    pub check_out: Date,
    /// One entry for each room; types and plans may differ.
    #[schema(min_items = 1, max_items = 10)]
    pub rooms: Vec<RoomRequest>,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoomRequest {
    #[schema(value_type = String, example = "RT-DLX")]
    pub room_type: RoomTypeCode,
    #[schema(value_type = String, example = "FLEX")]
    pub rate_plan: RatePlanCode,
    #[schema(minimum = 1)]
    pub adults: u16,
    /// 0 to 17 each.
    #[serde(default)]
    pub children_ages: Vec<u8>,
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub note: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Quote {
    #[schema(value_type = String)]
    pub id: QuoteId,
    #[schema(example = "HTL-204")]
    pub hotel: String,
    pub check_in: Date,
    pub check_out: Date,
    /// In the order asked; a room's number is its place, from 1.
    pub rooms: Vec<QuoteRoom>,
    /// The lines that are not included sum exactly to the total.
    pub charges: Vec<Charge>,
    pub total: Money,
    /// Of each rate plan in turn, first to last. A plan without any is non-refundable.
    pub cancellation: Vec<QuoteCancellation>,
    pub payment: PaymentPolicy,
    /// When what of the total is paid; sums exactly to it.
    pub schedule: Vec<ScheduledCharge>,
    pub created_at: Instant,
    /// Until then, that instant included, the price is promised. The rooms are not: the hold decides.
    pub expires_at: Instant,
    /// When `available` was read.
    pub availability_as_of: Instant,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuoteRoom {
    pub room_type: String,
    pub rate_plan: String,
    pub adults: u16,
    pub children_ages: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// In date order.
    pub nights: Vec<QuoteNight>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuoteNight {
    pub date: Date,
    /// Before taxes that come on top, in the hotel's currency.
    #[schema(example = "6500.00")]
    pub amount: String,
    /// Of the daily rate that was used.
    pub price_version: i32,
    /// Units of the room type that were to be had: advisory.
    pub available: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuoteCancellation {
    pub rate_plan: String,
    #[serde(flatten)]
    pub rung: CancellationRung,
}
