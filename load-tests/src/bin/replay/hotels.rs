//! The two hotels, as the bookings themselves tell: which room types there are, how many units of
//! each were needed on the fullest night, and what a night cost.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_domain::{
    code::RoomTypeCode,
    money::{Currency, InvalidAmount, Money, NotACurrency},
};
use rust_decimal::Decimal;

use crate::{
    row::{Hotel, Plan, Row, Wish},
    rules,
    workload::Workload,
};

/// From so many units on, one is taken out of sale: the peak no longer fits, and guests meet nights
/// that are sold out.
const ONE_LESS_FROM: u32 = 10;

/// Per cent of the flexible rate.
const NON_REFUNDABLE: i64 = 90;

pub(crate) const CURRENCY: &str = "EUR";

pub(crate) type RoomTypes = BTreeMap<RoomTypeCode, RoomType>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hotels(pub(crate) BTreeMap<Hotel, RoomTypes>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RoomType {
    pub(crate) units: u32,
    flexible: Money,
    non_refundable: Money,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum NoHotels {
    #[error(transparent)]
    Currency(#[from] NotACurrency),
    #[error("a rate in the table cannot be written as money")]
    Rate(#[from] InvalidAmount),
}

impl Hotels {
    pub(crate) fn of(workload: &Workload) -> Result<Self, NoHotels> {
        let euro: Currency = CURRENCY.parse()?;
        let mut by_type = BTreeMap::<(Hotel, &RoomTypeCode), Vec<&Wish>>::new();
        for wish in workload.wishes() {
            by_type.entry((wish.hotel, &wish.room_type)).or_default().push(wish);
        }
        let peaks = peaks(workload);
        let mut hotels = BTreeMap::<Hotel, RoomTypes>::new();
        for ((hotel, code), wishes) in by_type {
            let in_hotel = || workload.wishes().filter(|wish| wish.hotel == hotel);
            let rate = median_rate(wishes.into_iter()).or_else(|| median_rate(in_hotel()));
            // No row of the hotel tells a price: one that is easily recognized.
            let rate = rate.unwrap_or(Decimal::ONE_HUNDRED);
            let room_type = RoomType {
                units: units(peaks.get(&(hotel, code)).copied().unwrap_or(0)),
                flexible: rounded(rate, euro)?,
                non_refundable: rounded(rate * Decimal::new(NON_REFUNDABLE, 2), euro)?,
            };
            hotels.entry(hotel).or_default().insert(code.clone(), room_type);
        }
        Ok(Self(hotels))
    }

    pub(crate) fn units(&self, hotel: Hotel, room_type: &RoomTypeCode) -> Option<u32> {
        Some(self.0.get(&hotel)?.get(room_type)?.units)
    }

    /// Of every night.
    pub(crate) fn rate(&self, wish: &Wish) -> Option<Money> {
        Some(self.0.get(&wish.hotel)?.get(&wish.room_type)?.rate(wish.plan))
    }

    /// The tax is included in the rates, so the nights alone make the price.
    pub(crate) fn price(&self, wish: &Wish) -> Option<Money> {
        self.rate(wish)?.times(u32::try_from(wish.nights().count()).ok()?)
    }
}

impl RoomType {
    pub(crate) const fn rate(&self, plan: Plan) -> Money {
        match plan {
            Plan::Flexible => self.flexible,
            Plan::NonRefundable => self.non_refundable,
        }
    }
}

/// Of each room type, the most units that any night needs at once: of those who can be sold a room, for the
/// stay that theirs became, and until they give it back.
fn peaks(workload: &Workload) -> BTreeMap<(Hotel, &RoomTypeCode), u32> {
    let mut rooms = BTreeMap::<(Hotel, &RoomTypeCode, NaiveDate), u32>::new();
    let mut peaks = BTreeMap::new();
    for day in &workload.days {
        for wish in day.rows.iter().filter_map(sellable) {
            let peak: &mut u32 = peaks.entry((wish.hotel, &wish.room_type)).or_default();
            for night in wish.nights() {
                let wanted = rooms.entry((wish.hotel, &wish.room_type, night)).or_default();
                *wanted += 1;
                *peak = (*peak).max(*wanted);
            }
        }
        for (ending, row) in &day.endings {
            let Some(wish) = sellable(row) else { continue };
            for night in wish.nights_freed_by(*ending) {
                if let Some(wanted) = rooms.get_mut(&(wish.hotel, &wish.room_type, night)) {
                    *wanted = wanted.saturating_sub(1);
                }
            }
        }
    }
    peaks
}

fn sellable(row: &Row) -> Option<&Wish> {
    row.wish.as_ref().ok().filter(|wish| rules::broken(wish, row.created).is_empty())
}

/// One less than the peak where there are many.
const fn units(peak: u32) -> u32 {
    // A type that nobody could be sold a room of still has one.
    if peak < ONE_LESS_FROM { if peak == 0 { 1 } else { peak } } else { peak - 1 }
}

/// Of the rows that paid for their nights; stays that were given away say nothing of the rate.
fn median_rate<'w>(wishes: impl Iterator<Item = &'w Wish>) -> Option<Decimal> {
    let mut rates: Vec<Decimal> = wishes.map(|wish| wish.adr).filter(|adr| !adr.is_zero()).collect();
    rates.sort_unstable();
    rates.get(rates.len() / 2).copied()
}

fn rounded(rate: Decimal, euro: Currency) -> Result<Money, InvalidAmount> {
    // A rate below a cent would be a rate of nothing.
    let cent = Decimal::new(1, euro.decimals());
    Money::exact(Money::rounded(rate, euro).amount().max(cent), euro)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ending::Ending,
        sample::{day, row, wish},
        workload::Choice,
    };

    fn hotels(wishes: Vec<Wish>) -> Hotels {
        let rows = wishes.into_iter().map(|wish| Row { wish: Ok(wish), ..row("2031-05-01", 1) }).collect();
        of_rows(rows)
    }

    fn of_rows(rows: Vec<Row>) -> Hotels {
        Hotels::of(&Workload::choose(rows, Choice::default())).expect("hotels")
    }

    fn units_of(wishes: Vec<Wish>) -> u32 {
        let hotels = hotels(wishes);
        hotels.0[&Hotel::City].values().next().expect("a room type").units
    }

    #[test]
    fn units_are_those_of_the_fullest_night_and_one_less_where_there_are_many() {
        assert_eq!(units_of(vec![wish("2031-05-01", 2), wish("2031-05-02", 1), wish("2031-05-03", 4)]), 2);
        assert_eq!(units_of(vec![wish("2031-05-01", 2); 9]), 9);
        assert_eq!(units_of(vec![wish("2031-05-01", 2); 10]), 9);
    }

    #[test]
    fn a_room_that_was_given_back_is_needed_only_once() {
        let gone = |ending| Row { ending: Some(ending), ..row("2031-05-01", 3) };
        let later = |booked: &str| Row { wish: Ok(wish("2031-05-02", 1)), ..row(booked, 1) };
        let units = |rows| of_rows(rows).0[&Hotel::City].values().next().expect("a room type").units;
        let cancelled = || gone(Ending::Cancelled(day("2031-05-01")));
        assert_eq!(units(vec![cancelled(), later("2031-05-02")]), 1);
        assert_eq!(units(vec![cancelled(), later("2031-05-01")]), 2, "cancelled after the day's bookings");
        let no_show = || gone(Ending::NoShow(day("2031-05-02")));
        assert_eq!(units(vec![no_show(), row("2031-05-03", 1)]), 1);
        assert_eq!(units(vec![no_show(), later("2031-05-02")]), 2);
    }

    #[test]
    fn who_cannot_be_sold_a_room_needs_none() {
        let nobody = Wish { adults: 0, ..wish("2031-05-01", 2) };
        assert_eq!(units_of(vec![nobody.clone(), nobody, wish("2031-05-01", 0)]), 1);
    }

    #[test]
    fn a_night_costs_what_was_paid_in_the_middle_and_gifts_do_not_count() {
        let adrs = [0, 0, 0, 80, 200, 90];
        let wishes = adrs.map(|adr| Wish { adr: Decimal::from(adr), ..wish("2031-05-01", 2) });
        let suite =
            Wish { adr: Decimal::ZERO, room_type: "P".parse().expect("a code"), ..wish("2031-05-01", 3) };
        let hotels = hotels(wishes.iter().cloned().chain([suite.clone()]).collect());
        let price = |wish: &Wish| hotels.price(wish).expect("a price").to_string();
        assert_eq!(price(&wishes[0]), "180.00");
        assert_eq!(price(&Wish { plan: Plan::NonRefundable, ..wishes[0].clone() }), "162.00");
        assert_eq!(price(&suite), "270.00");
    }
}
