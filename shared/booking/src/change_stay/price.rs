//! What a changed stay costs. Room-nights that stay keep the price at which they were sold; those that come
//! have the price of the day; for the value that goes the sold policy is asked.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use chrono_tz::Tz;
use keyrack_domain::{
    clock::Moment,
    hotel_profile::HotelProfile,
    money::Money,
    occupancy::RoomRequest,
    policy::{CancellationPolicy, PaymentPolicy, Rung},
    pricing::{self, DailyRate},
    quote::{Charge, ChargeKind, QuoteDocument, QuotedNight, QuotedRoom},
    schedule,
    stay::Stay,
};
use keyrack_ledger::{ReservationRow, RoomRow, UnitNight};

use crate::quote::check::Chosen;

/// The reservation as it stands.
#[derive(Debug)]
pub(super) struct Sold {
    pub(super) row: ReservationRow,
    pub(super) rooms: Vec<RoomRow>,
    /// Not given back.
    pub(super) units: Vec<UnitNight>,
    /// Given back: of rooms that stand, the nights that had passed when a no-show was undone.
    pub(super) passed: Vec<UnitNight>,
}

/// What a change makes of the reservation, and what that costs.
#[derive(Debug)]
pub(super) struct Priced {
    pub(super) document: QuoteDocument,
    /// For rooms that go, each.
    pub(super) removed: Vec<(i16, Money)>,
    /// For nights that go from rooms that stay.
    pub(super) fees: Money,
    pub(super) penalty: Money,
    /// What the stay costs then, penalties and all.
    pub(super) total: Money,
    /// Less what it costs now.
    pub(super) difference: Money,
    /// What is paid before the stay changes.
    pub(super) charge: Money,
}

impl Sold {
    /// The numbers of the rooms that stand, in order.
    pub(super) fn standing(&self) -> Vec<i16> {
        self.rooms.iter().filter(|room| room.cancelled.is_none()).map(|room| room.room).collect()
    }

    fn room(&self, number: i16) -> Option<&QuotedRoom> {
        self.row.document.rooms.get(usize::try_from(number - 1).ok()?)
    }

    /// The rooms that stand, as somebody would ask for them.
    pub(super) fn requests(&self) -> Vec<RoomRequest> {
        let request = |room: &QuotedRoom| RoomRequest {
            room_type: room.room_type.clone(),
            rate_plan: room.rate_plan.clone(),
            adults: room.adults,
            children_ages: room.children_ages.clone(),
            note: room.note.clone(),
        };
        self.standing().into_iter().filter_map(|number| self.room(number)).map(request).collect()
    }

    pub(super) fn payment(&self) -> Option<PaymentPolicy> {
        self.row.document.rooms.first().map(|room| room.payment)
    }

    /// The price at which this very room-night was sold, where the room stays as it is. A night that has passed
    /// without the guest stays as it was sold, whatever the room is from now on.
    fn sold_night(&self, number: i16, wanted: &Chosen<'_>, night: NaiveDate) -> Option<QuotedNight> {
        let room = self.room(number)?;
        let quoted = |unit: &UnitNight| QuotedNight {
            date: night,
            amount: unit.amount,
            price_version: unit.price_version,
        };
        if let Some(passed) = self.passed.iter().find(|unit| (unit.room, unit.date) == (number, night)) {
            return Some(quoted(passed));
        }
        let same_guests =
            room.adults == wanted.request.adults && room.children_ages == wanted.request.children_ages;
        let unit = self.units.iter().find(|unit| {
            unit.room == number
                && unit.date == night
                && unit.room_type == wanted.room_type.id
                && unit.rate_plan == wanted.rate_plan.id
        });
        unit.filter(|_| same_guests).map(quoted)
    }

    /// What the reservation costs now: rooms that stand, penalties of those that went, fees of changes.
    fn cost(&self) -> Option<Money> {
        let of = |room: &RoomRow| room.cancelled.map_or(room.total, |cancelled| cancelled.penalty);
        self.rooms.iter().map(of).try_fold(self.row.change_fees, Money::plus)
    }
}

/// `None` where an amount leaves the range that we handle, or a night has no rate.
pub(super) fn price(
    sold: &Sold,
    stay: Stay,
    wanted: &[Chosen<'_>],
    rates: &[BTreeMap<NaiveDate, DailyRate>],
    profile: &HotelProfile,
    now: Moment,
) -> Option<Priced> {
    let zone = profile.hotel.zone;
    let zero = Money::zero(sold.row.total.currency());
    let standing = sold.standing();
    let mut rooms = sold.row.document.rooms.clone();
    let mut continuing = Vec::new();
    for (place, (room, rates)) in wanted.iter().zip(rates).enumerate() {
        let number = standing.get(place).copied();
        let quoted = room_of(sold, number, stay, room, rates)?;
        if let Some(number) = number {
            let slot = rooms.get_mut(usize::try_from(number - 1).ok()?)?;
            continuing.push((number, std::mem::replace(slot, quoted)));
        } else {
            rooms.push(quoted);
        }
    }
    let mut document = pricing::bill(stay, rooms, &profile.taxes, sold.row.total.currency())?;
    let mut fees = zero;
    for (number, before) in &continuing {
        let after = document.rooms.get(usize::try_from(number - 1).ok()?)?;
        fees = fees.plus(fee(before, after, profile, sold, now)?)?;
    }
    let gone = standing.iter().skip(wanted.len());
    let removed: Vec<(i16, Money)> = gone
        .map(|number| Some((*number, penalty(sold.room(*number)?, sold, zone, now))))
        .collect::<Option<_>>()?;
    let total = cost_after(sold, &document, &removed, fees)?;
    add_fees(&mut document, sold.row.change_fees.plus(fees)?)?;
    // Tells on which day what is owed later is due.
    document.schedule = schedule::of(&document, zone, now);
    let difference = total.minus(sold.cost()?)?;
    let prepaid = sold.payment() == Some(PaymentPolicy::Prepay);
    let charge = if prepaid && difference.amount() > zero.amount() { difference } else { zero };
    let penalty = removed.iter().try_fold(fees, |sum, (_, penalty)| sum.plus(*penalty))?;
    Some(Priced { document, removed, fees, penalty, total, difference, charge })
}

fn room_of(
    sold: &Sold,
    number: Option<i16>,
    stay: Stay,
    wanted: &Chosen<'_>,
    rates: &BTreeMap<NaiveDate, DailyRate>,
) -> Option<QuotedRoom> {
    let night = |night: NaiveDate| {
        let kept = number.and_then(|number| sold.sold_night(number, wanted, night));
        kept.or_else(|| {
            let rate = rates.get(&night)?;
            let amount = pricing::nightly_amount(wanted.request, wanted.room_type, rate)?;
            Some(QuotedNight { date: night, amount, price_version: rate.price_version })
        })
    };
    let nights: Vec<QuotedNight> = stay.nights().map(night).collect::<Option<_>>()?;
    let first = nights.first()?.amount;
    // A room that stays keeps the terms under which it was sold, also under another plan: else a change would
    // buy what they refuse.
    let terms = number.and_then(|number| sold.room(number));
    let arrivals = (sold.row.stay.check_in(), stay.check_in());
    Some(QuotedRoom {
        room_type_id: wanted.room_type.id,
        room_type: wanted.room_type.code.clone(),
        rate_plan_id: wanted.rate_plan.id,
        rate_plan: wanted.rate_plan.code.clone(),
        adults: wanted.request.adults,
        children_ages: wanted.request.children_ages.clone(),
        note: wanted.request.note.clone(),
        nights,
        total: first,
        first_night: first,
        cancellation: terms.map_or_else(
            || wanted.rate_plan.cancellation.clone(),
            |room| as_sold(&room.cancellation, arrivals),
        ),
        payment: terms.map_or(wanted.rate_plan.payment, |room| room.payment),
        deposit: terms.map_or(wanted.rate_plan.deposit, |room| room.deposit),
        terms_version: terms.map_or(wanted.rate_plan.version, |room| room.terms_version),
    })
}

/// With a later arrival the policy's instants stay where they were; an earlier one takes them along.
fn as_sold(policy: &CancellationPolicy, (before, after): (NaiveDate, NaiveDate)) -> CancellationPolicy {
    let later = u16::try_from((after - before).num_days()).unwrap_or(0);
    let rung = |rung: &Rung| Rung {
        until_days_before: rung.until_days_before.saturating_add(later),
        ..rung.clone()
    };
    CancellationPolicy { rungs: policy.rungs.iter().map(rung).collect() }
}

/// For the value that a room loses, date by date: a night that becomes dearer does not make up for one that
/// goes. What is charged once per stay stays with the room.
fn fee(
    before: &QuotedRoom,
    after: &QuotedRoom,
    profile: &HotelProfile,
    sold: &Sold,
    now: Moment,
) -> Option<Money> {
    let mut lost = Money::zero(sold.row.total.currency());
    for night in &before.nights {
        let was = pricing::night_value(before, night, &profile.taxes)?;
        let is = match after.nights.iter().find(|other| other.date == night.date) {
            Some(night) => pricing::night_value(after, night, &profile.taxes)?,
            None => Money::zero(was.currency()),
        };
        if was.amount() > is.amount() {
            lost = lost.plus(was.minus(is)?)?;
        }
    }
    let first_night = if before.first_night.amount() < lost.amount() { before.first_night } else { lost };
    let part = QuotedRoom { total: lost, first_night, ..before.clone() };
    Some(penalty(&part, sold, profile.hotel.zone, now))
}

fn penalty(room: &QuotedRoom, sold: &Sold, zone: Tz, now: Moment) -> Money {
    room.cancellation.applies_at(sold.row.stay.check_in(), zone, now).of(room)
}

fn cost_after(sold: &Sold, document: &QuoteDocument, removed: &[(i16, Money)], fees: Money) -> Option<Money> {
    let mut total = sold.row.change_fees.plus(fees)?;
    for (number, room) in (1_i16..).zip(&document.rooms) {
        let before = sold.rooms.iter().find(|row| row.room == number).and_then(|row| row.cancelled);
        let goes = removed.iter().find(|(gone, _)| *gone == number).map(|(_, penalty)| *penalty);
        let cost = before.map(|cancelled| cancelled.penalty).or(goes).unwrap_or(room.total);
        total = total.plus(cost)?;
    }
    Some(total)
}

fn add_fees(document: &mut QuoteDocument, fees: Money) -> Option<()> {
    if !fees.is_zero() {
        let label = "Change fee".to_owned();
        document.charges.push(Charge {
            kind: ChargeKind::Fee,
            label,
            amount: fees,
            included: false,
            rule: None,
        });
        document.total = document.total.plus(fees)?;
    }
    Some(())
}
