//! What came of changes, and of the bookings that ended before their stay, and what a hotel kept of its guests'
//! money.

use keyrack_domain::money::Money;

use crate::{ending::Ending, priced::Changed, reserved::Closed};

/// All of them together are the endings that were due so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Endings {
    pub(crate) cancelled_free: usize,
    pub(crate) cancelled_with_fee: usize,
    pub(crate) no_shows: usize,
    /// Of bookings that were refused: there is nothing to end.
    pub(crate) cancelled_unbooked: usize,
    pub(crate) no_shows_unbooked: usize,
    pub(crate) wrong: usize,
}

impl Endings {
    pub(crate) const fn in_all(&self) -> usize {
        self.cancelled() + self.no_shows + self.cancelled_unbooked + self.no_shows_unbooked + self.wrong
    }

    pub(crate) const fn cancelled(&self) -> usize {
        self.cancelled_free + self.cancelled_with_fee
    }

    pub(crate) fn note(&mut self, closed: Closed) {
        *match closed {
            Closed::Cancelled { penalty, .. } if penalty.is_zero() => &mut self.cancelled_free,
            Closed::Cancelled { .. } => &mut self.cancelled_with_fee,
            Closed::NoShow => &mut self.no_shows,
        } += 1;
    }

    pub(crate) const fn note_unbooked(&mut self, ending: Ending) {
        match ending {
            Ending::Cancelled(_) => self.cancelled_unbooked += 1,
            Ending::NoShow(_) => self.no_shows_unbooked += 1,
        }
    }
}

/// All of them together are the changes that were due so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Changes {
    pub(crate) with_payment: usize,
    pub(crate) with_refund: usize,
    pub(crate) without_money: usize,
    pub(crate) guests: usize,
    pub(crate) sold_out: usize,
    /// Of bookings that were refused, or lost after a wrong answer: there is nothing to change.
    pub(crate) unbooked: usize,
    pub(crate) wrong: usize,
}

impl Changes {
    pub(crate) const fn in_all(&self) -> usize {
        self.made() + self.sold_out + self.unbooked + self.wrong
    }

    pub(crate) const fn made(&self) -> usize {
        self.with_payment + self.with_refund + self.without_money + self.guests
    }

    pub(crate) fn note(&mut self, changed: &Changed) {
        *match changed {
            Changed::Dates(priced) if !priced.charge.is_zero() => &mut self.with_payment,
            Changed::Dates(priced) if !priced.refund().is_zero() => &mut self.with_refund,
            Changed::Dates(_) => &mut self.without_money,
            Changed::Guest => &mut self.guests,
            Changed::SoldOut { .. } => &mut self.sold_out,
        } += 1;
    }
}

/// Of one hotel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Account {
    pub(crate) sales: u64,
    pub(crate) sold: Money,
    pub(crate) refunds: u64,
    pub(crate) refunded: Money,
}

impl Account {
    pub(crate) fn empty(like: Money) -> Self {
        let zero = Money::zero(like.currency());
        Self { sales: 0, sold: zero, refunds: 0, refunded: zero }
    }

    // No sum of this table is near the largest amount.
    pub(crate) fn sell(&mut self, total: Money) {
        self.sales += 1;
        self.sold = self.sold.plus(total).unwrap_or(self.sold);
    }

    /// Nothing is no refund.
    pub(crate) fn refund(&mut self, amount: Money) {
        if !amount.is_zero() {
            self.refunds += 1;
            self.refunded = self.refunded.plus(amount).unwrap_or(self.refunded);
        }
    }

    /// Nothing is no payment.
    pub(crate) fn change(&mut self, charge: Money, refunds: &[Money]) {
        if !charge.is_zero() {
            self.sell(charge);
        }
        for refund in refunds {
            self.refund(*refund);
        }
    }

    pub(crate) fn kept(&self) -> Money {
        self.sold.minus(self.refunded).unwrap_or(self.sold)
    }
}
