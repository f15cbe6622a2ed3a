//! Bookings: one try to pay for a hold.

use keyrack_domain::{
    ids::{AttemptId, HoldId, RefundId},
    method_token::MethodToken,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    guest::Guest, hold::HoldState, instant::Instant, money::Money, problem::Next, reference::Reference,
    reservation::Reservation,
};

/// `POST /v1/bookings`
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BookingRequest {
    #[schema(value_type = String)]
    pub hold_id: Reference<HoldId>,
    pub payment: Payment,
    pub guest: Guest,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Payment {
    /// The provider's token for the payment method; never a card number.
    #[schema(value_type = String, example = "pm_ok", min_length = 1, max_length = 255)]
    pub method_token: MethodToken,
}

/// How a booking stands now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Booking {
    /// Of the attempt to pay.
    #[schema(value_type = String)]
    pub id: AttemptId,
    pub status: BookingStatus,
    #[schema(value_type = String)]
    pub hold_id: HoldId,
    pub hotel: String,
    pub total: Money,
    /// Of the total, what is paid with the booking; the rest is due later.
    pub amount: Money,
    /// Once it is CONFIRMED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<Reservation>,
    /// While the outcome is not known: it is asked for after this instant, and settled soon after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Instant>,
    /// While it is PENDING_PAYMENT and the customer has to act: where to send them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_action: Option<NextAction>,
    /// Why it FAILED: a stable word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How the hold is now, where it FAILED: only one that is ACTIVE can be paid for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_state: Option<HoldState>,
    /// What was taken without a room to show for it, and where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund: Option<Refund>,
    pub next: Next,
}

/// What the customer has to do before the payment can be made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NextAction {
    /// Send the customer to this page of the payment provider, until the deadline.
    Redirect { url: String },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BookingStatus {
    /// The provider has not answered, or its answer was lost: the outcome is not known yet.
    PendingPayment,
    /// The provider is being asked what became of it.
    Reconciling,
    /// Paid and reserved.
    Confirmed,
    /// Nothing was taken; `hold_state` tells whether the hold is still there.
    Failed,
    /// Paid, but there is no room; the money is on its way back.
    PaymentCapturedBookingFailed,
    /// Paid, but there was no room; the money is back.
    Refunded,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Refund {
    #[schema(value_type = String)]
    pub id: RefundId,
    pub state: RefundState,
    pub amount: Money,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefundState {
    Requested,
    Succeeded,
    /// An operator looks after it.
    NeedsAttention,
}

impl From<keyrack_domain::refund::RefundState> for RefundState {
    fn from(state: keyrack_domain::refund::RefundState) -> Self {
        use keyrack_domain::refund::RefundState as Domain;
        match state {
            Domain::Requested => Self::Requested,
            Domain::Succeeded => Self::Succeeded,
            Domain::NeedsAttention => Self::NeedsAttention,
        }
    }
}
