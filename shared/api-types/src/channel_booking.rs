//! Bookings that channels bring under identifiers of their own.

use keyrack_domain::{channel_booking, ids::ReservationId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{date::Date, guest::Guest, money::Money, reservation::Reservation};

/// `PUT /v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}`: the booking as it is now at the channel.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelBookingRequest {
    /// Rises with each modification. A repeat may carry any.
    #[schema(minimum = 0)]
    pub revision: i64,
    /// The first night.
    pub check_in: Date,
    /// The morning of departure; not a night.
    pub check_out: Date,
    /// One entry for each room.
    #[schema(min_items = 1, max_items = 10)]
    pub rooms: Vec<ChannelRoom>,
    pub guest: Guest,
    /// What the channel has sold it for, in the hotel's currency.
    pub total: Money,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelRoom {
    /// A code of the hotel. What it does not have is kept and told, never guessed.
    #[schema(example = "RT-DLX", max_length = 64)]
    pub room_type: String,
    /// The hotel's first plan where it is left out.
    #[serde(default)]
    #[schema(example = "FLEX", max_length = 64)]
    pub rate_plan: Option<String>,
    #[schema(minimum = 1)]
    pub adults: u16,
    /// 0 to 17 each.
    #[serde(default)]
    pub children_ages: Vec<u8>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChannelBooking {
    pub channel: String,
    pub booking_id: String,
    pub state: ChannelBookingState,
    /// The highest that took effect; null where only a cancellation came.
    pub revision: Option<i64>,
    /// Null where none was made.
    pub reservation: Option<Reservation>,
    /// The last delivery that names what the hotel does not have, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub unplaced: Option<serde_json::Value>,
}

/// In a list: without the reservation itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChannelBookingLine {
    pub channel: String,
    pub booking_id: String,
    pub state: ChannelBookingState,
    pub revision: Option<i64>,
    #[schema(value_type = Option<String>)]
    pub reservation_id: Option<ReservationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub unplaced: Option<serde_json::Value>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChannelCancellation {
    pub channel: String,
    pub booking_id: String,
    /// CANCELLED
    pub state: ChannelBookingState,
    /// By an earlier call: nothing was given back by this one.
    pub already_cancelled: bool,
    #[schema(value_type = Option<String>)]
    pub reservation_id: Option<ReservationId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChannelBookingState {
    Active,
    /// For good.
    Cancelled,
    /// It names what the hotel does not have, and waits for somebody.
    Unmapped,
}

impl From<channel_booking::ChannelBookingState> for ChannelBookingState {
    fn from(state: channel_booking::ChannelBookingState) -> Self {
        use channel_booking::ChannelBookingState as Domain;
        match state {
            Domain::Active => Self::Active,
            Domain::Cancelled => Self::Cancelled,
            Domain::Unmapped => Self::Unmapped,
        }
    }
}
