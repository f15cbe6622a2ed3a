//! The price of a quote, line by line.
//!
//! **Occupancy.** The base occupancy of the room type is filled by adults first, then by children;
//! each adult beyond it pays `extra_adult`, each child beyond it `extra_child`, every night.
//!
//! **Taxes on top.** A percentage is of the room's nightly amount and rounded per night, room and
//! tax; `per_night` is charged per room and night, `per_person_night` per guest and night,
//! `per_stay` once per room. A slab looks at the room's nightly amount of that very night; for
//! `per_stay` at that of the arrival night.
//!
//! **Included taxes** are shown and not added. The share of a percentage is split off once, on the
//! gross of the whole stay: every night in which the tax applies contributes
//! `amount * rate / (100 + sum of the included percentages of that night)`, and only the sum over
//! all rooms and nights is rounded. Nights whose slabs differ so have divisors of their own, and
//! several included percentages share one net amount. Included fixed amounts are shown as they
//! are and do not lessen what percentages are taken of.
//!
//! One line per room, then one per tax that applied, in the hotel's order. The lines that are not
//! `included` sum exactly to the total. Rounding is half away from zero throughout.

use std::{collections::BTreeMap, slice};

use chrono::NaiveDate;
use rust_decimal::Decimal;

use crate::{
    hotel::{RatePlan, RoomType},
    money::{Currency, Money},
    occupancy::RoomRequest,
    quote::{Charge, ChargeKind, MAX_ROOMS, QuoteDocument, QuotedNight, QuotedRoom, TaxRule},
    stay::Stay,
    tax::{Tax, TaxKind},
};

/// The price of one room of a type under a plan on a night.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DailyRate {
    pub amount: Money,
    pub extra_adult: Money,
    pub extra_child: Money,
    pub price_version: i32,
}

/// One room of the quote with what the hotel says about it. Its occupancy has been checked.
#[derive(Clone, Copy, Debug)]
pub struct PricedRoom<'a> {
    pub request: &'a RoomRequest,
    pub room_type: &'a RoomType,
    pub rate_plan: &'a RatePlan,
    pub rates: &'a BTreeMap<NaiveDate, DailyRate>,
}

/// `room` is its place in the quote, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingRate {
    pub room: usize,
    pub night: NaiveDate,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PricingError {
    #[error("a quote has 1 to {MAX_ROOMS} rooms")]
    RoomCount,
    /// Every room and night that has none.
    #[error("{} nights have no rate", .0.len())]
    NoRate(Vec<MissingRate>),
    /// No hold of zero is ever placed: a rate of nothing is taken for a rate that is missing.
    #[error("the price must be more than zero")]
    NothingToPay,
    /// Also where a rate is not in the hotel's currency: nothing that could be added up.
    #[error("the price is larger than any amount we handle")]
    TooLarge,
}

pub fn price(
    stay: Stay,
    rooms: &[PricedRoom<'_>],
    taxes: &[Tax],
    currency: Currency,
) -> Result<QuoteDocument, PricingError> {
    if rooms.is_empty() || rooms.len() > MAX_ROOMS {
        return Err(PricingError::RoomCount);
    }
    let missing = missing_rates(stay, rooms);
    if !missing.is_empty() {
        return Err(PricingError::NoRate(missing));
    }
    let document = price_rooms(stay, rooms, taxes, currency).ok_or(PricingError::TooLarge)?;
    if document.total.is_zero() { Err(PricingError::NothingToPay) } else { Ok(document) }
}

fn missing_rates(stay: Stay, rooms: &[PricedRoom<'_>]) -> Vec<MissingRate> {
    let nights = |(room, priced)| stay.nights().map(move |night| (room, priced, night));
    let all = rooms.iter().enumerate().flat_map(nights);
    let missing =
        all.filter(|(_, priced, night): &(_, &PricedRoom<'_>, _)| !priced.rates.contains_key(night));
    missing.map(|(room, _, night)| MissingRate { room, night }).collect()
}

/// `None` where an amount leaves the range that we handle.
fn price_rooms(
    stay: Stay,
    rooms: &[PricedRoom<'_>],
    taxes: &[Tax],
    currency: Currency,
) -> Option<QuoteDocument> {
    let rooms = rooms.iter().map(|room| quoted_room(stay, room)).collect::<Option<Vec<_>>>()?;
    bill(stay, rooms, taxes, currency)
}

/// The bill of rooms whose nights have their prices: also of a stay that is changed, whose nights keep the
/// prices at which they were sold. Each room's share is worked out here. `None` where an amount leaves the
/// range that we handle, or is in another currency.
pub fn bill(
    stay: Stay,
    mut rooms: Vec<QuotedRoom>,
    taxes: &[Tax],
    currency: Currency,
) -> Option<QuoteDocument> {
    for room in &mut rooms {
        room.total = with_taxes(room, taxes)?;
        room.first_night = night_value(room, room.nights.first()?, taxes)?;
    }
    let mut charges = rooms.iter().map(|room| room_line(room, currency)).collect::<Option<Vec<_>>>()?;
    let applied = |tax: &&Tax| charged_nights(tax, &rooms).next().is_some();
    for (tax, number) in taxes.iter().zip(1..).filter(|(tax, _)| applied(tax)) {
        let amount = if tax.included {
            included(tax, taxes, &rooms, currency)?
        } else {
            on_top_of(tax, &rooms, currency)?
        };
        let (kind, label) = (tax.kind.charge_kind(), tax.label.clone());
        let rule = Some(TaxRule { number, tax: tax.clone() });
        charges.push(Charge { kind, label, amount, included: tax.included, rule });
    }
    let mut owed = charges.iter().filter(|charge| !charge.included);
    let total = owed.try_fold(Money::zero(currency), |sum, charge| sum.plus(charge.amount))?;
    Some(QuoteDocument { stay, rooms, charges, total, schedule: Vec::new() })
}

fn quoted_room(stay: Stay, room: &PricedRoom<'_>) -> Option<QuotedRoom> {
    let night = |date: NaiveDate| {
        let rate = room.rates.get(&date)?;
        let amount = nightly_amount(room.request, room.room_type, rate)?;
        Some(QuotedNight { date, amount, price_version: rate.price_version })
    };
    let nights: Vec<QuotedNight> = stay.nights().map(night).collect::<Option<_>>()?;
    let first = nights.first()?.amount;
    Some(QuotedRoom {
        room_type_id: room.room_type.id,
        room_type: room.room_type.code.clone(),
        rate_plan_id: room.rate_plan.id,
        rate_plan: room.rate_plan.code.clone(),
        adults: room.request.adults,
        children_ages: room.request.children_ages.clone(),
        note: room.request.note.clone(),
        nights,
        total: first,
        first_night: first,
        cancellation: room.rate_plan.cancellation.clone(),
        payment: room.rate_plan.payment,
        deposit: room.rate_plan.deposit,
        terms_version: room.rate_plan.version,
    })
}

/// The room's own share of the bill. Taxes on top are rounded per night and room, so that the shares of all
/// rooms sum exactly to the total.
fn with_taxes(room: &QuotedRoom, taxes: &[Tax]) -> Option<Money> {
    let currency = room.nights.first()?.amount.currency();
    let amounts = room.nights.iter().try_fold(Money::zero(currency), |sum, night| sum.plus(night.amount))?;
    let on_top = taxes.iter().filter(|tax| !tax.included);
    on_top
        .map(|tax| on_top_of(tax, slice::from_ref(room), currency))
        .try_fold(amounts, |sum, tax| sum.plus(tax?))
}

/// A night with its taxes. What is charged once per stay does not belong to a night.
pub fn night_value(room: &QuotedRoom, night: &QuotedNight, taxes: &[Tax]) -> Option<Money> {
    let of_night = |tax: &&Tax| !tax.included && tax.kind != TaxKind::PerStay && tax.covers(night.amount);
    taxes.iter().filter(of_night).try_fold(night.amount, |sum, tax| sum.plus(tax_of_night(tax, room, night)?))
}

/// What these guests pay for a night of a room at this rate.
pub fn nightly_amount(request: &RoomRequest, room: &RoomType, rate: &DailyRate) -> Option<Money> {
    let children = u32::try_from(request.children_ages.len()).ok()?;
    let (base, adults) = (u32::from(room.base_occupancy), u32::from(request.adults));
    let extra_adults = adults.saturating_sub(base);
    let extra_children = children.saturating_sub(base.saturating_sub(adults));
    let extra = rate.extra_adult.times(extra_adults)?.plus(rate.extra_child.times(extra_children)?)?;
    rate.amount.plus(extra)
}

fn room_line(room: &QuotedRoom, currency: Currency) -> Option<Charge> {
    let amount = room.nights.iter().try_fold(Money::zero(currency), |sum, night| sum.plus(night.amount))?;
    let nights = match room.nights.len() {
        1 => "1 night".to_owned(),
        n => format!("{n} nights"),
    };
    let label = format!("{}, {}, {nights}", room.room_type, room.rate_plan);
    Some(Charge { kind: ChargeKind::Room, label, amount, included: false, rule: None })
}

/// Every room and night in which the tax is charged.
fn charged_nights<'a>(
    tax: &'a Tax,
    rooms: &'a [QuotedRoom],
) -> impl Iterator<Item = (&'a QuotedRoom, &'a QuotedNight)> {
    let nights =
        |room: &'a QuotedRoom| room.nights.iter().enumerate().map(move |(n, night)| (room, n, night));
    rooms
        .iter()
        .flat_map(nights)
        .filter(|(_, n, night)| (*n == 0 || tax.kind != TaxKind::PerStay) && tax.covers(night.amount))
        .map(|(room, _, night)| (room, night))
}

/// The sum of a tax that is rounded per night and room.
fn on_top_of(tax: &Tax, rooms: &[QuotedRoom], currency: Currency) -> Option<Money> {
    let mut nights = charged_nights(tax, rooms);
    nights.try_fold(Money::zero(currency), |sum, (room, night)| sum.plus(tax_of_night(tax, room, night)?))
}

fn tax_of_night(tax: &Tax, room: &QuotedRoom, night: &QuotedNight) -> Option<Money> {
    let raw = match tax.kind {
        TaxKind::Percent => night.amount.amount().checked_mul(tax.value)? / Decimal::ONE_HUNDRED,
        TaxKind::PerNight | TaxKind::PerStay => tax.value,
        TaxKind::PerPersonNight => {
            let guests = usize::from(room.adults) + room.children_ages.len();
            tax.value.checked_mul(Decimal::from(guests))?
        }
    };
    Some(Money::rounded(raw, night.amount.currency()))
}

/// The share of an included tax in the rooms' amounts.
fn included(tax: &Tax, taxes: &[Tax], rooms: &[QuotedRoom], currency: Currency) -> Option<Money> {
    if tax.kind != TaxKind::Percent {
        return on_top_of(tax, rooms, currency);
    }
    // Nights of one divisor are added up before the division, so that the ordinary case, one
    // divisor for the stay, divides once and is exact.
    let mut gross_by_divisor = BTreeMap::<Decimal, Decimal>::new();
    for (_, night) in charged_nights(tax, rooms) {
        let same_night =
            |other: &&Tax| other.included && other.kind == TaxKind::Percent && other.covers(night.amount);
        let mut rates = taxes.iter().filter(same_night).map(|other| other.value);
        let divisor = rates.try_fold(Decimal::ONE_HUNDRED, Decimal::checked_add)?;
        let gross = gross_by_divisor.entry(divisor).or_default();
        *gross = gross.checked_add(night.amount.amount())?;
    }
    let mut share = Decimal::ZERO;
    for (divisor, gross) in gross_by_divisor {
        share = share.checked_add(gross.checked_mul(tax.value)?.checked_div(divisor)?)?;
    }
    Some(Money::rounded(share, currency))
}

#[cfg(test)]
#[path = "pricing_tests.rs"]
mod tests;
