//! What a repair does about each night that differs. Pure.

use std::{collections::BTreeSet, fmt};

use keyrack_domain::ids::HoldId;
use keyrack_ledger::{Night, NightDelta, NightKey, UnitNight};
use keyrack_store::drift::NightDrift;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// In lock order.
    pub differences: Vec<Difference>,
    /// Holds that the expiry may release again, since all their nights carry them.
    pub unmarked: Vec<HoldId>,
    /// Holds with a night that stays wrong: the mark stays too.
    pub still_marked: Vec<HoldId>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub drift: NightDrift,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Adding this makes the counters what the facts are.
    Set(NightDelta),
    /// More is claimed than can be sold: counters alone cannot make that right.
    Oversold,
    /// Something is claimed on a night that was never opened.
    NoRow,
}

impl Verdict {
    fn of(drift: &NightDrift) -> Self {
        match drift.counters {
            None => Self::NoRow,
            Some(night) if drift.facts.held + drift.facts.confirmed > night.sellable => Self::Oversold,
            Some(night) => Self::Set(NightDelta {
                sellable: 0,
                held: drift.facts.held - night.held,
                confirmed: drift.facts.confirmed - night.confirmed,
            }),
        }
    }
}

impl Plan {
    pub(crate) fn new(nights: Vec<NightDrift>, marked: &[HoldId], units: &[(HoldId, UnitNight)]) -> Self {
        let differences: Vec<Difference> =
            nights.into_iter().map(|drift| Difference { verdict: Verdict::of(&drift), drift }).collect();
        let stay_wrong: BTreeSet<NightKey> = differences
            .iter()
            .filter(|difference| !matches!(difference.verdict, Verdict::Set(_)))
            .map(|difference| difference.drift.key)
            .collect();
        let stuck: BTreeSet<HoldId> = units
            .iter()
            .filter(|(hold, unit)| stay_wrong.contains(&crate::availability::night_of(hold.hotel(), unit)))
            .map(|(hold, _)| *hold)
            .collect();
        let (still_marked, unmarked) = marked.iter().copied().partition(|hold| stuck.contains(hold));
        Self { differences, unmarked, still_marked }
    }

    /// Nights that can be set right: as they are, and what is added.
    pub(crate) fn settable(&self) -> impl Iterator<Item = (&NightDrift, Night, NightDelta)> {
        self.differences.iter().filter_map(|difference| {
            match (difference.verdict, difference.drift.counters) {
                (Verdict::Set(delta), Some(night)) => Some((&difference.drift, night, delta)),
                _ => None,
            }
        })
    }

    /// Is there anything that applying it changes?
    pub fn changes_something(&self) -> bool {
        self.settable().next().is_some() || !self.unmarked.is_empty()
    }

    /// Is there something that it cannot set right?
    pub fn leaves_something(&self) -> bool {
        self.differences.iter().any(|difference| !matches!(difference.verdict, Verdict::Set(_)))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            writeln!(f, "{difference}")?;
        }
        for hold in &self.unmarked {
            writeln!(f, "{hold}: drift mark ends")?;
        }
        for hold in &self.still_marked {
            writeln!(f, "{hold}: drift mark stays, since a night of it stays as it is")?;
        }
        if self.differences.is_empty() && self.unmarked.is_empty() && self.still_marked.is_empty() {
            writeln!(f, "the counters are the sums of their facts")?;
        }
        Ok(())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NightDrift { key, code, counters, facts } = &self.drift;
        match code {
            Some(code) => write!(f, "{code} {}: ", key.date)?,
            None => write!(f, "room type number {} {}: ", key.room_type, key.date)?,
        }
        let claimed = facts.held + facts.confirmed;
        match (self.verdict, counters) {
            (Verdict::Set(_), Some(night)) => write!(
                f,
                "held {} becomes {}, confirmed {} becomes {}",
                night.held, facts.held, night.confirmed, facts.confirmed
            ),
            (Verdict::Oversold, Some(night)) => write!(
                f,
                "left as it is: {} held and {} confirmed of {} sellable; raise what is sellable first",
                facts.held, facts.confirmed, night.sellable
            ),
            (Verdict::NoRow | Verdict::Set(_) | Verdict::Oversold, _) => {
                write!(f, "left as it is: {claimed} units are claimed and the night is not open")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;
    use keyrack_domain::{
        ids::{HotelId, RatePlanId, RoomTypeId},
        money::Money,
    };
    use keyrack_store::drift::Facts;
    use uuid::Uuid;

    use super::*;

    fn drift(date: &str, counters: Option<(i32, i32, i32)>, facts: (i32, i32)) -> NightDrift {
        NightDrift {
            key: NightKey { hotel: HotelId(204), room_type: RoomTypeId(1), date: day(date) },
            code: "RT-DLX".parse().ok(),
            counters: counters.map(|(sellable, held, confirmed)| Night {
                sellable,
                held,
                confirmed,
                reported: None,
            }),
            facts: Facts { held: facts.0, confirmed: facts.1 },
        }
    }

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    fn hold(number: u128, date: &str) -> (HoldId, UnitNight) {
        let unit = UnitNight {
            room: 1,
            date: day(date),
            room_type: RoomTypeId(1),
            rate_plan: RatePlanId(1),
            amount: Money::zero("INR".parse().expect("a currency")),
            price_version: 1,
        };
        (HoldId::new(HotelId(204), Uuid::from_u128(number)), unit)
    }

    #[test]
    fn counters_become_the_facts_and_what_is_oversold_or_not_open_is_left() {
        let cases = [
            (Some((5, 0, 0)), (1, 0), Verdict::Set(NightDelta { sellable: 0, held: 1, confirmed: 0 })),
            (Some((5, 3, 2)), (1, 4), Verdict::Set(NightDelta { sellable: 0, held: -2, confirmed: 2 })),
            (Some((5, 5, 0)), (2, 3), Verdict::Set(NightDelta { sellable: 0, held: -3, confirmed: 3 })),
            (Some((5, 0, 0)), (3, 3), Verdict::Oversold),
            (None, (1, 0), Verdict::NoRow),
        ];
        for (counters, facts, verdict) in cases {
            let plan = Plan::new(vec![drift("2026-11-14", counters, facts)], &[], &[]);
            assert_eq!(plan.differences[0].verdict, verdict, "{plan}");
            assert_eq!(plan.leaves_something(), !matches!(verdict, Verdict::Set(_)));
        }
    }

    #[test]
    fn a_drift_mark_ends_only_where_every_night_of_the_hold_comes_right() {
        let (good, bad) = (hold(1, "2026-11-14"), hold(2, "2026-11-15"));
        let nights =
            vec![drift("2026-11-14", Some((5, 0, 0)), (1, 0)), drift("2026-11-15", Some((0, 0, 0)), (1, 0))];
        let plan = Plan::new(nights, &[good.0, bad.0], &[good.clone(), bad.clone()]);
        assert_eq!((plan.unmarked, plan.still_marked), (vec![good.0], vec![bad.0]));
    }
}
