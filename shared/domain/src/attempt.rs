//! An attempt: one try to pay for a hold. A decline ends the attempt and never the hold, so a new
//! card is a new attempt on the same hold.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AttemptState {
    /// The provider is being asked, or its answer was lost.
    PendingPayment,
    /// One resolver owns the case and asks the provider by reference.
    Reconciling,
    /// Paid, and the reservation exists.
    Confirmed,
    /// Nothing was taken, as far as is known.
    Failed,
    /// Money was taken and there is no room: a refund is due.
    PaymentCapturedBookingFailed,
    /// What was taken has gone back.
    Refunded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an attempt that is {from:?} cannot become {to:?}")]
pub struct NoSuchMove {
    pub from: AttemptState,
    pub to: AttemptState,
}

impl AttemptState {
    pub const ALL: [Self; 6] = [
        Self::PendingPayment,
        Self::Reconciling,
        Self::Confirmed,
        Self::Failed,
        Self::PaymentCapturedBookingFailed,
        Self::Refunded,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PendingPayment => "PENDING_PAYMENT",
            Self::Reconciling => "RECONCILING",
            Self::Confirmed => "CONFIRMED",
            Self::Failed => "FAILED",
            Self::PaymentCapturedBookingFailed => "PAYMENT_CAPTURED_BOOKING_FAILED",
            Self::Refunded => "REFUNDED",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Open attempts block the hold: no second one, no release by its owner.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::PendingPayment | Self::Reconciling)
    }

    pub fn becomes(self, to: Self) -> Result<Self, NoSuchMove> {
        use AttemptState::{
            Confirmed, Failed, PaymentCapturedBookingFailed, PendingPayment, Reconciling, Refunded,
        };
        match (self, to) {
            (PendingPayment, Confirmed | Failed | Reconciling)
            | (Reconciling, Confirmed | Failed | PaymentCapturedBookingFailed)
            // A capture found later, never straight to CONFIRMED; or a refund that has failed after all.
            | (Failed | Refunded, PaymentCapturedBookingFailed)
            | (PaymentCapturedBookingFailed, Refunded) => Ok(to),
            (from, to) => Err(NoSuchMove { from, to }),
        }
    }
}

/// What an attempt pays for. Only those that claim units carry a hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// What is due when the stay is booked. It makes the reservation.
    Booking,
    /// A later charge of the reservation's schedule.
    Deposit,
    /// The difference of a changed stay.
    Change,
    /// What is due for a cancellation or a no-show and was not paid before.
    Penalty,
}

impl Purpose {
    pub const ALL: [Self; 4] = [Self::Booking, Self::Deposit, Self::Change, Self::Penalty];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Booking => "booking",
            Self::Deposit => "deposit",
            Self::Change => "change",
            Self::Penalty => "penalty",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_moves_is_exactly_this() {
        use AttemptState::{
            Confirmed, Failed, PaymentCapturedBookingFailed, PendingPayment, Reconciling, Refunded,
        };
        let allowed = [
            (PendingPayment, Confirmed),
            (PendingPayment, Failed),
            (PendingPayment, Reconciling),
            (Reconciling, Confirmed),
            (Reconciling, Failed),
            (Reconciling, PaymentCapturedBookingFailed),
            (Failed, PaymentCapturedBookingFailed),
            (PaymentCapturedBookingFailed, Refunded),
            (Refunded, PaymentCapturedBookingFailed),
        ];
        for from in AttemptState::ALL {
            for to in AttemptState::ALL {
                assert_eq!(from.becomes(to).is_ok(), allowed.contains(&(from, to)), "{from:?} -> {to:?}");
            }
            assert_eq!(AttemptState::from_name(from.as_str()), Some(from));
        }
    }
}
