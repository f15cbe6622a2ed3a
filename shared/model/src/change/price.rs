//! What a changed stay costs: its rooms, the penalties of those that went, and a fee for every night that a room
//! gives up, by the policy that was sold.

use keyrack_domain::{
    change::ChangeState,
    clock::Moment,
    ids::RefundId,
    money::Money,
    policy::PaymentPolicy,
    pricing,
    quote::{Charge, ChargeKind, QuotedNight, QuotedRoom, VALID_FOR},
};

use super::{Change, PriceChange, with_terms_of};
use crate::world::{Hotel, Reservation, World};

impl World {
    /// `None` where an amount leaves the range that we handle.
    pub(super) fn priced(&self, call: &PriceChange) -> Option<Change> {
        let hotel = self.hotels.get(&call.reservation.hotel())?;
        let sold = self.reservations.get(&call.reservation)?;
        let zero = sold.zero();
        let stay = call.wanted.stay;
        let later = u16::try_from((stay.check_in() - sold.document.stay.check_in()).num_days()).unwrap_or(0);
        let standing: Vec<(usize, &QuotedRoom)> = sold.standing().collect();
        let mut rooms = sold.document.rooms.clone();
        for (place, wanted) in call.wanted.rooms.iter().enumerate() {
            match standing.get(place) {
                Some((number, before)) => {
                    *rooms.get_mut(number - 1)? = kept(sold, *number, before, wanted, later);
                }
                None => rooms.push(wanted.clone()),
            }
        }
        let mut document = pricing::bill(stay, rooms, &hotel.taxes, zero.currency())?;
        let mut fees = zero;
        for (number, before) in standing.iter().take(call.wanted.rooms.len()) {
            fees = fees.plus(fee(before, document.rooms.get(number - 1)?, sold, hotel, self.now)?)?;
        }
        let gone = standing.iter().skip(call.wanted.rooms.len());
        let removed: Vec<_> =
            gone.map(|(number, room)| (*number, penalty(room, sold, hotel, self.now))).collect();
        let all_fees = sold.fees.plus(fees)?;
        let total = cost(sold, &document.rooms, &removed).try_fold(all_fees, Money::plus)?;
        let before = cost(sold, &sold.document.rooms, &[]).try_fold(sold.fees, Money::plus)?;
        if !all_fees.is_zero() {
            let label = "Change fee".to_owned();
            let kind = ChargeKind::Fee;
            document.charges.push(Charge { kind, label, amount: all_fees, included: false, rule: None });
            document.total = document.total.plus(all_fees)?;
        }
        let difference = total.minus(before)?;
        let owed = difference.amount() > zero.amount() && document.payment() == PaymentPolicy::Prepay;
        Some(Change {
            reservation: call.reservation,
            base_version: sold.version,
            state: ChangeState::Priced,
            document,
            removed,
            fees,
            difference,
            total,
            charge: if owed { difference } else { zero },
            expires_at: self.now.plus(VALID_FOR),
            attempt: None,
            to_version: None,
            refund: RefundId::new(call.id.hotel(), call.id.uuid()),
        })
    }
}

/// Room-nights that stay keep the price at which they were sold.
fn kept(
    sold: &Reservation,
    number: usize,
    before: &QuotedRoom,
    wanted: &QuotedRoom,
    later: u16,
) -> QuotedRoom {
    let alike =
        |room: &QuotedRoom| (room.room_type_id, room.rate_plan_id, room.adults, room.children_ages.clone());
    let has = |night: &&QuotedNight| sold.nights.contains(&(number, night.date, before.room_type_id));
    let mut room = with_terms_of(before, wanted, later);
    for night in &mut room.nights {
        let mut known = before.nights.iter().filter(has);
        let known = known.find(|known| known.date == night.date && alike(before) == alike(wanted));
        *night = *known.unwrap_or(night);
    }
    room
}

/// What each of these rooms costs: a penalty where it was cancelled or goes, else its price.
fn cost<'a>(
    sold: &'a Reservation,
    rooms: &'a [QuotedRoom],
    removed: &'a [(usize, Money)],
) -> impl Iterator<Item = Money> + 'a {
    (1..).zip(rooms).map(move |(number, room): (usize, _)| {
        let goes = removed.iter().find(|(gone, _)| *gone == number).map(|(_, penalty)| *penalty);
        sold.cancelled.get(&number).copied().or(goes).unwrap_or(room.total)
    })
}

/// Of the value that a room loses, date by date.
fn fee(
    before: &QuotedRoom,
    after: &QuotedRoom,
    sold: &Reservation,
    hotel: &Hotel,
    now: Moment,
) -> Option<Money> {
    let mut lost = sold.zero();
    for night in &before.nights {
        let was = pricing::night_value(before, night, &hotel.taxes)?;
        let still = after.nights.iter().find(|other| other.date == night.date);
        let is = still.map_or(Some(sold.zero()), |night| pricing::night_value(after, night, &hotel.taxes))?;
        if was.amount() > is.amount() {
            lost = lost.plus(was.minus(is)?)?;
        }
    }
    let first_night = crate::reservation::lesser(before.first_night, lost);
    Some(penalty(&QuotedRoom { total: lost, first_night, ..before.clone() }, sold, hotel, now))
}

fn penalty(room: &QuotedRoom, sold: &Reservation, hotel: &Hotel, now: Moment) -> Money {
    room.cancellation.applies_at(sold.document.stay.check_in(), hotel.zone, now).of(room)
}
