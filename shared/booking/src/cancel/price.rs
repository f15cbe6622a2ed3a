//! What cancelling rooms costs now, by the policy that was sold. The preview and the cancellation ask the
//! same function, so that the one is what the other does.

use chrono_tz::Tz;
use keyrack_domain::{clock::Moment, money::Money};
use keyrack_ledger::{ReservationRow, RoomRow};
use serde::{Deserialize, Serialize};

/// A room's number is its place in the reservation, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoomPrice {
    pub room: i16,
    pub penalty: Money,
    /// What goes back: the rest of the room's total.
    pub refund: Money,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All rooms that stand.
    Whole,
    Room(i16),
}

impl Wanted {
    pub const fn covers(self, room: i16) -> bool {
        match self {
            Self::Whole => true,
            Self::Room(wanted) => wanted == room,
        }
    }
}

/// Of the wanted rooms that stand.
pub fn prices(
    row: &ReservationRow,
    rooms: &[RoomRow],
    wanted: Wanted,
    zone: Tz,
    now: Moment,
) -> Vec<RoomPrice> {
    let check_in = row.stay.check_in();
    let sold = (1_i16..).zip(&row.document.rooms);
    sold.filter(|(number, _)| {
        let stands = |room: &RoomRow| room.room == *number && room.cancelled.is_none();
        wanted.covers(*number) && rooms.iter().any(stands)
    })
    .map(|(room, sold)| {
        let penalty = sold.cancellation.applies_at(check_in, zone, now).of(sold);
        price(room, sold.total, penalty)
    })
    .collect()
}

/// Of rooms that were cancelled before.
pub fn paid(rooms: &[RoomRow], wanted: Wanted) -> Vec<RoomPrice> {
    let cancelled = rooms.iter().filter(|room| wanted.covers(room.room));
    cancelled.filter_map(|room| Some(price(room.room, room.total, room.cancelled?.penalty))).collect()
}

/// What the cancellations of these rooms gave back of the payments, together.
pub fn given_back(rooms: &[RoomRow], wanted: Wanted, zero: Money) -> Money {
    let covered = rooms.iter().filter(|room| wanted.covers(room.room));
    let refunds = covered.filter_map(|room| room.cancelled?.refund);
    refunds.fold(zero, |sum, refund| sum.plus(refund).unwrap_or(sum))
}

fn price(room: i16, total: Money, penalty: Money) -> RoomPrice {
    // A penalty is at most the room's total.
    let refund = total.minus(penalty).unwrap_or_else(|| Money::zero(total.currency()));
    RoomPrice { room, penalty, refund }
}

pub fn sum(prices: &[RoomPrice], of: impl Fn(&RoomPrice) -> Money, zero: Money) -> Money {
    // Parts of a total that was within range.
    prices.iter().map(of).fold(zero, |sum, part| sum.plus(part).unwrap_or(sum))
}
