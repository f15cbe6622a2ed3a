//! Cancelling a reservation or one room of it: the policy that was sold, at the hotel's time.

use chrono::NaiveDate;
use keyrack_domain::{
    ids::{HotelId, PrincipalId, RefundId, ReservationId},
    money::Money,
    operation_key::OperationKey,
    quote::QuotedRoom,
    reservation::ReservationState,
};

use crate::{
    keys::Input,
    nights::{Move, RoomNights, count},
    outcome::{Answer, Outcome, Refusal},
    reservation::lesser,
    world::World,
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cancel {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub reservation: ReservationId,
    /// Its number, from 1. None: all that stand.
    pub room: Option<usize>,
    /// The version that was seen.
    pub if_match: i32,
    /// The first refund's, where one is due.
    pub refund: RefundId,
}

#[derive(Clone, Copy, Debug)]
struct Price {
    room: usize,
    penalty: Money,
    refund: Money,
}

impl Price {
    fn new(room: usize, total: Money, penalty: Money) -> Self {
        let refund = total.minus(penalty).unwrap_or_else(|| Money::zero(total.currency()));
        Self { room, penalty, refund }
    }
}

/// Penalties, and what goes back.
fn sums(prices: &[Price], zero: Money) -> (Money, Money) {
    let sum = |of: fn(&Price) -> Money| prices.iter().map(of).try_fold(zero, Money::plus).unwrap_or(zero);
    (sum(|price| price.penalty), sum(|price| price.refund))
}

impl World {
    pub fn cancel(&mut self, call: &Cancel) -> Answer {
        self.seen(call.principal, call.reservation)?;
        let input = Input::Cancel { reservation: call.reservation, room: call.room, if_match: call.if_match };
        self.once(call.reservation.hotel(), call.principal, &call.key, input, |world| world.new_cancel(call))
    }

    fn new_cancel(&mut self, call: &Cancel) -> Result<Outcome, Refusal> {
        let reservation = self.seen(call.principal, call.reservation)?;
        let all = reservation.document.rooms.len();
        if call.room.is_some_and(|room| room == 0 || room > all) {
            return Err(Refusal::NotFound);
        }
        let covers = |room: usize| call.room.is_none_or(|wanted| wanted == room);
        let prices = self.prices(call.reservation, covers)?;
        // Impatience is answered with what was done.
        if prices.is_empty() {
            return self.cancelled_before(call.reservation, covers);
        }
        if reservation.state != ReservationState::Confirmed || self.has_begun(call.reservation) {
            return Err(Refusal::Conflict(reservation.state));
        }
        if reservation.version != call.if_match {
            return Err(Refusal::VersionConflict(reservation.version));
        }
        self.cancel_rooms(call, &prices)
    }

    fn cancel_rooms(&mut self, call: &Cancel, prices: &[Price]) -> Result<Outcome, Refusal> {
        let id = call.reservation;
        let goes = |room: usize| prices.iter().any(|price| price.room == room);
        let reservation = self.reservations.get_mut(&id).ok_or(Refusal::NotFound)?;
        let zero = reservation.zero();
        let back: RoomNights = reservation.nights.iter().filter(|(room, ..)| goes(*room)).copied().collect();
        reservation.nights.retain(|(room, ..)| !goes(*room));
        reservation.cancelled.extend(prices.iter().map(|price| (price.room, price.penalty)));
        reservation.version += 1;
        if reservation.standing().next().is_none() {
            reservation.state = ReservationState::Cancelled;
        }
        let (state, version) = (reservation.state, reservation.version);
        self.change(id.hotel(), &count(&back), Move::GiveUp);
        let (penalty, due) = sums(prices, zero);
        let due = lesser(self.left(id).unwrap_or(zero), due);
        let refund = self.pay_back(id, due, call.refund);
        self.note_what_went_back(id, prices, refund);
        Ok(Outcome::Cancelled { reservation: id, state, version, penalty, refund })
    }

    /// Room by room, as far as it went.
    fn note_what_went_back(&mut self, id: ReservationId, prices: &[Price], mut left: Money) {
        let Some(reservation) = self.reservations.get_mut(&id) else { return };
        for price in prices {
            let gave = lesser(left, price.refund);
            left = left.minus(gave).unwrap_or(left);
            reservation.gave.insert(price.room, gave);
        }
    }

    fn cancelled_before(
        &self,
        id: ReservationId,
        covers: impl Fn(usize) -> bool,
    ) -> Result<Outcome, Refusal> {
        let reservation = self.reservations.get(&id).ok_or(Refusal::NotFound)?;
        let rooms = (1..).zip(&reservation.document.rooms).filter(|(number, _)| covers(*number));
        let gone = rooms.filter_map(|(number, room)| {
            Some(Price::new(number, room.total, *reservation.cancelled.get(&number)?))
        });
        let (penalty, _) = sums(&gone.collect::<Vec<_>>(), reservation.zero());
        // What went back then, whatever the policy left and whatever has gone back since.
        let mut gave = reservation.gave.iter().filter(|(room, _)| covers(**room)).map(|(_, money)| *money);
        let refund = gave.try_fold(reservation.zero(), Money::plus).unwrap_or(reservation.zero());
        let (state, version) = (reservation.state, reservation.version);
        Ok(Outcome::Cancelled { reservation: id, state, version, penalty, refund })
    }

    /// Of the wanted rooms that stand.
    fn prices(&self, id: ReservationId, covers: impl Fn(usize) -> bool) -> Result<Vec<Price>, Refusal> {
        let hotel = self.hotels.get(&id.hotel()).ok_or(Refusal::NotFound)?;
        let reservation = self.reservations.get(&id).ok_or(Refusal::NotFound)?;
        let check_in = reservation.document.stay.check_in();
        let wanted = reservation.standing().filter(|(number, _)| covers(*number));
        let price = |(number, room): (usize, &QuotedRoom)| {
            let penalty = room.cancellation.applies_at(check_in, hotel.zone, self.now).of(room);
            Price::new(number, room.total, penalty)
        };
        Ok(wanted.map(price).collect())
    }

    /// By the hotel's date: what has begun is a departure, or a no-show.
    pub(crate) fn has_begun(&self, id: ReservationId) -> bool {
        self.reservations.get(&id).is_some_and(|made| self.today(id.hotel()) > made.document.stay.check_in())
    }

    pub(crate) fn today(&self, hotel: HotelId) -> NaiveDate {
        let zone = self.hotels.get(&hotel).map_or(chrono_tz::UTC, |hotel| hotel.zone);
        self.now.date_in(zone)
    }
}
