//! What a reservation is made of, and the money that was paid for it.

use std::collections::{BTreeMap, BTreeSet};

use keyrack_domain::{
    ids::{PrincipalId, RefundId, ReservationId},
    money::Money,
    quote::{QuoteDocument, QuotedRoom},
    refund::RefundState,
    reservation::ReservationState,
};
use uuid::Uuid;

use crate::{
    invariants::refunded,
    nights::room_nights,
    outcome::Refusal,
    world::{Refund, Reservation, World},
};

impl Reservation {
    /// Confirmed, with all of its rooms.
    pub(crate) fn new(principal: PrincipalId, document: QuoteDocument) -> Self {
        Self {
            principal,
            hold: None,
            state: ReservationState::Confirmed,
            version: 1,
            cancelled: BTreeMap::new(),
            gave: BTreeMap::new(),
            nights: room_nights(&document, |_| true),
            given_back: BTreeSet::new(),
            fees: Money::zero(document.total.currency()),
            paid_by: Vec::new(),
            document,
        }
    }

    /// With their numbers.
    pub(crate) fn standing(&self) -> impl Iterator<Item = (usize, &QuotedRoom)> {
        (1..).zip(&self.document.rooms).filter(|(number, _)| !self.cancelled.contains_key(number))
    }

    pub(crate) fn zero(&self) -> Money {
        Money::zero(self.document.total.currency())
    }
}

impl World {
    /// Its guest's, or its hotel's staff's.
    pub(crate) fn seen(
        &self,
        principal: PrincipalId,
        reservation: ReservationId,
    ) -> Result<&Reservation, Refusal> {
        let staff =
            self.hotels.get(&reservation.hotel()).is_some_and(|hotel| hotel.staff.contains(&principal));
        let found = self.reservations.get(&reservation);
        found.filter(|found| staff || found.principal == principal).ok_or(Refusal::NotFound)
    }

    /// What of the payments has not gone back and is not promised to.
    pub fn left(&self, reservation: ReservationId) -> Option<Money> {
        let reservation = self.reservations.get(&reservation)?;
        reservation.paid_by.iter().try_fold(reservation.zero(), |sum, id| {
            sum.plus(self.attempts.get(id)?.captured)?.minus(refunded(self, *id, |_| true)?)
        })
    }

    /// At most what is left, from the last payment first; each of them a refund of its own. What it comes to.
    pub(crate) fn pay_back(&mut self, reservation: ReservationId, due: Money, first: RefundId) -> Money {
        let zero = Money::zero(due.currency());
        let Some(paid_by) = self.reservations.get(&reservation).map(|made| made.paid_by.clone()) else {
            return zero;
        };
        let (mut rest, mut id) = (due, first);
        for attempt in paid_by.into_iter().rev() {
            let captured = self.attempts.get(&attempt).map_or(zero, |attempt| attempt.captured);
            let left =
                refunded(self, attempt, |_| true).and_then(|back| captured.minus(back)).unwrap_or(zero);
            let amount = lesser(left, rest);
            if amount.amount() > zero.amount() {
                let refund = Refund { attempt, amount, state: RefundState::Requested, tries: 1 };
                self.refunds.insert(id, refund);
                id = RefundId::new(id.hotel(), Uuid::from_u128(id.uuid().as_u128() + 1));
                rest = rest.minus(amount).unwrap_or(zero);
            }
        }
        due.minus(rest).unwrap_or(zero)
    }
}

pub(crate) fn lesser(one: Money, other: Money) -> Money {
    if one.amount() < other.amount() { one } else { other }
}
