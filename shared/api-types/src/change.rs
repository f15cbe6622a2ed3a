//! Changing a stay: its price, and carrying it out.

use keyrack_domain::{
    change,
    ids::{AttemptId, ChangeId, ReservationId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    booking::Payment, date::Date, guest::Guest, instant::Instant, money::Money, problem::Next,
    quote::RoomRequest,
};

/// `POST /v1/reservations/{id}/changes`: what is absent stays as it is.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeRequest {
    #[serde(default)]
    pub check_in: Option<Date>,
    #[serde(default)]
    pub check_out: Option<Date>,
    /// All rooms of the stay as it will be. They take the places of those that stand, in their order; fewer
    /// entries cancel the last rooms, more of them add rooms.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 10)]
    pub rooms: Option<Vec<RoomRequest>>,
}

/// `POST /v1/reservations/{id}/changes/{change}/confirm`
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmChangeRequest {
    /// Required where the change's `charge` is more than zero.
    #[serde(default)]
    pub payment: Option<Payment>,
}

/// `PATCH /v1/reservations/{id}`
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GuestChange {
    /// All of the details, in place of those there were.
    pub guest: Guest,
}

/// A priced change. Room-nights that stay keep the price at which they were sold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Change {
    #[schema(value_type = String)]
    pub id: ChangeId,
    #[schema(value_type = String)]
    pub reservation_id: ReservationId,
    pub state: ChangeState,
    /// As they will be.
    pub check_in: Date,
    pub check_out: Date,
    /// New total less the total before; below zero it goes back.
    pub difference: Money,
    /// Contained in it: what the policy that was sold asks for rooms and nights that go.
    pub penalty: Money,
    /// What the stay costs then.
    pub total: Money,
    /// What is paid before the stay changes.
    pub charge: Money,
    pub created_at: Instant,
    /// Until then, that instant included, it may be confirmed.
    pub expires_at: Instant,
    /// The reservation's version that it made; the `ETag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The attempt that pays the charge, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub attempt_id: Option<AttemptId>,
    pub next: Next,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChangeState {
    /// Claims nothing.
    Priced,
    /// Its charge is being paid.
    Started,
    Completed,
    /// Paid, and the stay could not be changed: what was paid goes back.
    Failed,
}

impl From<change::ChangeState> for ChangeState {
    fn from(state: change::ChangeState) -> Self {
        use change::ChangeState as Domain;
        match state {
            Domain::Priced => Self::Priced,
            Domain::Started => Self::Started,
            Domain::Completed => Self::Completed,
            Domain::Failed => Self::Failed,
        }
    }
}
