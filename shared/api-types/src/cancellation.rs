//! Cancelling a reservation, or single rooms of it.

use keyrack_domain::ids::ReservationId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{instant::Instant, money::Money, reservation::ReservationState};

/// What a cancellation did; a repeat tells the same. A cancellation of what was cancelled before tells how
/// each of its rooms was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Cancellation {
    #[schema(value_type = String)]
    pub reservation_id: ReservationId,
    /// CANCELLED once no room stands.
    pub state: ReservationState,
    /// After it; the `ETag`.
    pub version: i32,
    pub rooms: Vec<CancelledRoom>,
    pub penalty: Money,
    /// What goes back: the rooms' refunds, less where the hotel had given more back before. How far it is stands
    /// in the reservation's `refunds`.
    pub refund: Money,
    /// What was owed and stays so: the part of the penalty that had not been paid. It is collected now.
    pub due: Money,
}

/// What cancelling would cost at `as_of`. Claims nothing; the cancellation is priced anew.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct CancellationPreview {
    #[schema(value_type = String)]
    pub reservation_id: ReservationId,
    pub state: ReservationState,
    /// For `If-Match`; also in the `ETag`.
    pub version: i32,
    /// Those that stand.
    pub rooms: Vec<CancelledRoom>,
    pub penalty: Money,
    pub refund: Money,
    /// What is owed and would stay so: the part of the penalty that has not been paid.
    pub due: Money,
    pub as_of: Instant,
}

/// By the policy, in the hotel's currency; both together are the room's total. Of a stay that is not prepaid the
/// second is what need not be paid, or goes back where it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct CancelledRoom {
    /// Its place in the reservation, from 1.
    pub room: i16,
    #[schema(example = "0.00")]
    pub penalty: String,
    #[schema(example = "14560.00")]
    pub refund: String,
}
