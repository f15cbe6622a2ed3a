//! A quote explains itself: each amount with the rule that it follows, in the edition that was used.

use crate::{
    code::RatePlanCode,
    money::Money,
    quote::{Charge, ChargeKind, QuoteDocument, QuotedNight, QuotedRoom, TaxRule},
    rule_version::RuleVersion,
};

/// One line. Those that are not included sum exactly to the total.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line<'a> {
    /// A room's night, by the daily rate of its version.
    Night { room: u16, quoted: &'a QuotedRoom, night: &'a QuotedNight },
    /// A tax or fee, by the hotel's rule.
    Tax { charge: &'a Charge, rule: &'a TaxRule },
    /// By no rule that was kept: what a change of the stay cost, or of a quote from before rules were.
    Other(&'a Charge),
}

/// The terms of a plan that some rooms are sold under.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms<'a> {
    pub rate_plan: &'a RatePlanCode,
    pub version: RuleVersion,
    /// The first room of them; its policies are those of all.
    pub room: &'a QuotedRoom,
}

impl Line<'_> {
    pub const fn amount(&self) -> Money {
        match self {
            Self::Night { night, .. } => night.amount,
            Self::Tax { charge, .. } | Self::Other(charge) => charge.amount,
        }
    }

    /// A share of the nights, shown and not added.
    pub const fn is_included(&self) -> bool {
        match self {
            Self::Night { .. } => false,
            Self::Tax { charge, .. } | Self::Other(charge) => charge.included,
        }
    }
}

impl QuoteDocument {
    /// Room by room and night by night, then the charges that are no room's.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let nights = self.rooms.iter().zip(1..).flat_map(|(quoted, room)| {
            quoted.nights.iter().map(move |night| Line::Night { room, quoted, night })
        });
        let others = self.charges.iter().filter(|charge| charge.kind != ChargeKind::Room);
        let others = others.map(|charge| match &charge.rule {
            Some(rule) => Line::Tax { charge, rule },
            None => Line::Other(charge),
        });
        nights.chain(others).collect()
    }

    /// Each plan's terms once, in the order of the rooms.
    pub fn terms(&self) -> Vec<Terms<'_>> {
        let mut terms: Vec<Terms<'_>> = Vec::new();
        for room in &self.rooms {
            let of = Terms { rate_plan: &room.rate_plan, version: room.terms_version, room };
            let is_told = |told: &Terms<'_>| {
                (told.rate_plan, told.version, &told.room.cancellation)
                    == (of.rate_plan, of.version, &room.cancellation)
            };
            if !terms.iter().any(is_told) {
                terms.push(of);
            }
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        hotel::RatePlan,
        pricing::{self, DailyRate, PricedRoom},
        sample::{currency, money, rate_plan, request, room_type, stay, tax},
        tax::{Tax, TaxKind},
    };

    #[test]
    fn every_line_names_its_rule_in_its_edition_and_the_lines_sum_to_the_total() {
        let stay = stay("2026-11-14", "2026-11-17");
        let zero = Money::zero(currency("INR"));
        let rate = |price_version: i32| DailyRate {
            amount: money("6500.01", "INR"),
            extra_adult: zero,
            extra_child: money("333.33", "INR"),
            price_version,
        };
        let rates: BTreeMap<_, _> = stay.nights().zip([3, 4, 5].map(rate)).collect();
        let plans = [rate_plan(), RatePlan { version: RuleVersion(2), ..rate_plan() }];
        let (requests, room_type) = ([request(2, &[]), request(2, &[7])], room_type());
        let rooms = plans.iter().zip(&requests).map(|(rate_plan, request)| PricedRoom {
            request,
            room_type: &room_type,
            rate_plan,
            rates: &rates,
        });
        let taxes = [
            Tax { version: RuleVersion(7), ..tax(TaxKind::Percent, "12.5", false) },
            tax(TaxKind::Percent, "5", true),
            tax(TaxKind::PerPersonNight, "19.99", false),
        ];
        let rooms: Vec<_> = rooms.collect();
        let document = pricing::price(stay, &rooms, &taxes, currency("INR")).expect("a price");
        let lines = document.lines();
        let owed = lines.iter().filter(|line| !line.is_included());
        let sum = owed.fold(zero, |sum, line| sum.plus(line.amount()).expect("in range"));
        assert_eq!(sum, document.total);
        let versions: Vec<_> = lines
            .iter()
            .map(|line| match line {
                Line::Night { room, night, .. } => (i32::from(*room), night.price_version),
                Line::Tax { rule, .. } => (i32::from(rule.number) * 10, rule.tax.version.0),
                Line::Other(charge) => panic!("{charge:?}"),
            })
            .collect();
        assert_eq!(versions, [(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5), (10, 7), (20, 1), (30, 1)]);
        let terms: Vec<_> = document.terms().iter().map(|terms| terms.version.0).collect();
        assert_eq!(terms, [1, 2]);
    }
}
