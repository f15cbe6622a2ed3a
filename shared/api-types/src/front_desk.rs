//! What the front desk does with a reservation.

use keyrack_domain::ids::ReservationId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{booking::Refund, date::Date, reservation::ReservationState};

/// `POST /v1/hotels/{hotel}/reservations/{id}/check-out`
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckOutRequest {
    /// An early departure on this date, not before today at the hotel: the nights from it on go back. Left
    /// out: as booked.
    #[serde(default)]
    pub check_out: Option<Date>,
}

/// The reservation after a step of the stay. A repeat tells the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct StayStep {
    #[schema(value_type = String)]
    pub reservation_id: ReservationId,
    pub state: ReservationState,
    /// The `ETag`.
    pub version: i32,
}

/// `POST /v1/hotels/{hotel}/reservations/{id}/refunds`
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RefundRequest {
    /// In the hotel's currency; at most what of the payment has not been given back.
    #[schema(example = "1000.00")]
    pub amount: String,
    #[schema(min_length = 1, max_length = 255)]
    pub reason: String,
}

/// What was asked of the provider; how far it is stands in the reservation's `refunds`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RefundRequested {
    #[schema(value_type = String)]
    pub reservation_id: ReservationId,
    pub refund: Refund,
}
