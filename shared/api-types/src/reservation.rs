//! Reservations: confirmed stays.

use keyrack_domain::{
    ids::{AttemptId, ChangeId, HoldId, ReservationId},
    reservation,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    booking::{NextAction, Refund},
    date::Date,
    guest::Guest,
    instant::Instant,
    money::Money,
    quoted::{Charge, ReservedRoom},
    schedule::ReservationCharge,
};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Reservation {
    #[schema(value_type = String)]
    pub id: ReservationId,
    pub state: ReservationState,
    /// Rises with each change; the `ETag`.
    pub version: i32,
    #[schema(example = "HTL-204")]
    pub hotel: String,
    pub check_in: Date,
    pub check_out: Date,
    /// A room's number is its place, from 1.
    pub rooms: Vec<ReservedRoom>,
    pub charges: Vec<Charge>,
    pub total: Money,
    /// Oldest first.
    pub refunds: Vec<Refund>,
    /// What was paid with the booking and what is paid later, first to last. Empty where all was paid at booking.
    pub schedule: Vec<ReservationCharge>,
    /// Payments for it that wait for the customer: a charge of the schedule, or that of a change. Told to whoever
    /// pays, and to nobody else.
    pub waiting_payments: Vec<WaitingPayment>,
    pub guest: Guest,
    /// Absent where a channel has booked, as is the attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub hold_id: Option<HoldId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub attempt_id: Option<AttemptId>,
    pub created_at: Instant,
}

/// A payment that is not made before the customer has acted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct WaitingPayment {
    #[schema(value_type = String)]
    pub attempt_id: AttemptId,
    /// The charge of the schedule that it pays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge: Option<i16>,
    /// The change that it pays for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub change_id: Option<ChangeId>,
    pub amount: Money,
    pub next_action: NextAction,
    /// Until then the customer may act; after it nothing is taken by this payment.
    pub deadline: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReservationState {
    Confirmed,
    CheckedIn,
    CheckedOut,
    Cancelled,
    NoShow,
}

impl From<reservation::ReservationState> for ReservationState {
    fn from(state: reservation::ReservationState) -> Self {
        use reservation::ReservationState as Domain;
        match state {
            Domain::Confirmed => Self::Confirmed,
            Domain::CheckedIn => Self::CheckedIn,
            Domain::CheckedOut => Self::CheckedOut,
            Domain::Cancelled => Self::Cancelled,
            Domain::NoShow => Self::NoShow,
        }
    }
}

/// One page of a traveler's own reservations, oldest first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Reservations {
    pub items: Vec<Reservation>,
    /// Opaque; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
    /// What is newer may be missing; a single reservation is always read from the authority.
    pub as_of: Instant,
}
