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
    row::{Hotel, Plan, Wish},
    rules,
    workload::Workload,
};

/// From so many units on, one is taken out of sale: the peak no longer fits, and guests meet nights
/// that are sold out.
const ONE_LESS_FROM: u32 = 10;

/// Per cent of the flexible rate.
const NON_REFUNDABLE: i64 = 90;

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
        let euro: Currency = "EUR".parse()?;
        let mut by_type = BTreeMap::<(Hotel, &RoomTypeCode), Vec<(NaiveDate, &Wish)>>::new();
        for (created, wish) in workload.wishes() {
            by_type.entry((wish.hotel, &wish.room_type)).or_default().push((created, wish));
        }
        let mut hotels = BTreeMap::<Hotel, RoomTypes>::new();
        for ((hotel, code), wishes) in by_type {
            let in_hotel = || workload.wishes().map(|(_, wish)| wish).filter(|wish| wish.hotel == hotel);
            let rate = median_rate(wishes.iter().map(|(_, wish)| *wish)).or_else(|| median_rate(in_hotel()));
            // No row of the hotel tells a price: one that is easily recognized.
            let rate = rate.unwrap_or(Decimal::ONE_HUNDRED);
            let room_type = RoomType {
                units: units(&wishes),
                flexible: rounded(rate, euro)?,
                non_refundable: rounded(rate * Decimal::new(NON_REFUNDABLE, 2), euro)?,
            };
            hotels.entry(hotel).or_default().insert(code.clone(), room_type);
        }
        Ok(Self(hotels))
    }

    /// The tax is included in the rates, so the nights alone make the price.
    pub(crate) fn price(&self, wish: &Wish) -> Option<Money> {
        let room_type = self.0.get(&wish.hotel)?.get(&wish.room_type)?;
        room_type.rate(wish.plan).times(u32::try_from(wish.nights().count()).ok()?)
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

/// The fullest night of those who can be sold a room, less one unit where there are many.
fn units(wishes: &[(NaiveDate, &Wish)]) -> u32 {
    let mut rooms = BTreeMap::<NaiveDate, u32>::new();
    for (created, wish) in wishes {
        if rules::broken(wish, *created).is_empty() {
            wish.nights().for_each(|night| *rooms.entry(night).or_default() += 1);
        }
    }
    let peak = rooms.into_values().max().unwrap_or(0);
    // A type that nobody could be sold a room of still has one.
    if peak < ONE_LESS_FROM { peak.max(1) } else { peak - 1 }
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
        row::Row,
        sample::{row, wish},
    };

    fn hotels(wishes: Vec<Wish>) -> Hotels {
        let rows = wishes.into_iter().map(|wish| Row { wish: Ok(wish), ..row("2031-05-01", 1) }).collect();
        Hotels::of(&Workload::choose(rows, false, None)).expect("hotels")
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
