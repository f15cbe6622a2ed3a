//! When what of a stay is paid.

use chrono_tz::Tz;
use keyrack_domain::{clock::Moment, local_time, schedule};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::instant::LocalInstant;

/// One charge of a quote; together they are exactly the total.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ScheduledCharge {
    pub kind: ChargePurpose,
    /// In the hotel's currency.
    #[schema(example = "4368.00")]
    pub amount: String,
    pub due: ChargeDue,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChargePurpose {
    Deposit,
    Balance,
    /// All of it, at booking.
    Prepayment,
    /// Taken by the hotel itself, at the desk.
    AtProperty,
    /// What a cancellation or a no-show costs beyond what was paid.
    Penalty,
}

/// `"booking"`, or an instant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ChargeDue {
    AtBooking(AtBooking),
    Later(LocalInstant),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtBooking {
    Booking,
}

/// One charge of a reservation and what has become of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReservationCharge {
    /// Its place in the schedule, from 1.
    pub number: i16,
    pub kind: ChargePurpose,
    /// In the hotel's currency.
    #[schema(example = "10192.00")]
    pub amount: String,
    pub due_at: LocalInstant,
    pub state: ChargeState,
    /// Of what the desk has taken: what it owes the guest, since the stay costs less by now. No card is refunded
    /// for it; the desk gives it back by hand. Absent where it owes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "7280.00")]
    pub owed_back: Option<String>,
}

/// DUE and FAILED are owed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChargeState {
    Due,
    Paid,
    /// Could not be collected. It is tried again on the next days, and is then the hotel's staff's.
    Failed,
    /// Not owed any more.
    Waived,
}

/// An instant that concerns a hotel in `zone`.
pub fn local(at: Moment, zone: Tz) -> LocalInstant {
    LocalInstant { at: at.into(), local: local_time::with_offset(at, zone) }
}

impl ScheduledCharge {
    pub fn new(due: schedule::Due, zone: Tz) -> Self {
        let at_booking = ChargeDue::AtBooking(AtBooking::Booking);
        Self {
            kind: due.kind.into(),
            amount: due.amount.to_string(),
            due: due.at.map_or(at_booking, |at| ChargeDue::Later(local(at, zone))),
        }
    }
}

impl From<schedule::DueKind> for ChargePurpose {
    fn from(kind: schedule::DueKind) -> Self {
        match kind {
            schedule::DueKind::Deposit => Self::Deposit,
            schedule::DueKind::Balance => Self::Balance,
            schedule::DueKind::Prepayment => Self::Prepayment,
            schedule::DueKind::AtProperty => Self::AtProperty,
            schedule::DueKind::Penalty => Self::Penalty,
        }
    }
}

impl From<schedule::ChargeState> for ChargeState {
    fn from(state: schedule::ChargeState) -> Self {
        match state {
            schedule::ChargeState::Due => Self::Due,
            schedule::ChargeState::Paid => Self::Paid,
            schedule::ChargeState::Failed => Self::Failed,
            schedule::ChargeState::Waived => Self::Waived,
        }
    }
}
