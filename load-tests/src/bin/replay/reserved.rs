//! A booking that stands: what its guest knows of it, to end it one day.

use keyrack_domain::{ids::ReservationId, money::Money};
use secrecy::SecretString;

#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    pub(crate) reservation: ReservationId,
    /// As it was seen last.
    pub(crate) version: i32,
    /// Of the guest who booked.
    pub(crate) token: SecretString,
    pub(crate) total: Money,
}

/// What came of its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closed {
    Cancelled {
        penalty: Money,
        refund: Money,
    },
    /// All of the money stays.
    NoShow,
}
