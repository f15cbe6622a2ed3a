//! A booking that stands: what its guest knows of it, to end it one day.

use keyrack_domain::{ids::ReservationId, money::Money};
use secrecy::SecretString;

use crate::row::Wish;

#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    pub(crate) reservation: ReservationId,
    /// As it was seen last.
    pub(crate) version: i32,
    /// Of the guest who booked.
    pub(crate) token: SecretString,
    /// The stay as it stands.
    pub(crate) wish: Wish,
    /// What its room costs.
    pub(crate) total: Money,
    /// What its changes cost beside that.
    pub(crate) fees: Money,
    /// What is left of each payment, in the order in which they were made.
    pub(crate) payments: Vec<Money>,
}

impl Reserved {
    /// The refunds of an amount that goes back: the last payment is the first to be given back.
    pub(crate) fn give_back(&mut self, amount: Money) -> Vec<Money> {
        let (mut due, mut refunds) = (amount, Vec::new());
        for left in self.payments.iter_mut().rev() {
            let part = if left.amount() < due.amount() { *left } else { due };
            if let (false, Some(rest), Some(still_due)) = (part.is_zero(), left.minus(part), due.minus(part))
            {
                refunds.push(part);
                (*left, due) = (rest, still_due);
            }
        }
        refunds
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{euros, reserved};

    #[test]
    fn money_goes_back_from_the_last_payment_first() {
        let mut booked = Reserved { payments: vec![euros("180.00"), euros("90.00")], ..reserved("270.00") };
        assert_eq!(booked.give_back(euros("0.00")), []);
        assert_eq!(booked.give_back(euros("60.00")), [euros("60.00")]);
        assert_eq!(booked.give_back(euros("100.00")), [euros("30.00"), euros("70.00")]);
        assert_eq!(booked.payments, [euros("110.00"), euros("0.00")]);
    }
}
