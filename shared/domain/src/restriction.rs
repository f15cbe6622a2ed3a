//! What a hotel forbids for new sales of a night, and the one list of reasons why something cannot
//! be sold. Restrictions never touch what is held or booked. The combinations are written down as
//! truth tables in `docs/restrictions.md`, which the tests of this module read.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::{
    code::RoomTypeCode,
    ids::{RatePlanId, RoomTypeId},
    stay::{MAX_NIGHTS, Stay},
};

/// The longest advance window, in days.
pub const MAX_ADVANCE_DAYS: u16 = 750;

/// Why something cannot be sold. One list for search, quote and hold, in the order in which the
/// reasons of a night are told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Rule {
    PastDate,
    OutOfHorizon,
    Occupancy,
    ChildAge,
    StopSell,
    /// The hotel's own system says that fewer units are left than are committed, and nobody has decided yet.
    PmsConflict,
    ClosedToArrival,
    ClosedToDeparture,
    MinStayArrival,
    MinStayThrough,
    MaxStay,
    /// The arrival is further away than `max_advance_days`.
    TooEarly,
    /// The arrival is nearer than `min_advance_days`.
    TooLate,
    NoRate,
    SoldOut,
}

impl Rule {
    pub const ALL: [Self; 15] = [
        Self::PastDate,
        Self::OutOfHorizon,
        Self::Occupancy,
        Self::ChildAge,
        Self::StopSell,
        Self::PmsConflict,
        Self::ClosedToArrival,
        Self::ClosedToDeparture,
        Self::MinStayArrival,
        Self::MinStayThrough,
        Self::MaxStay,
        Self::TooEarly,
        Self::TooLate,
        Self::NoRate,
        Self::SoldOut,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PastDate => "PAST_DATE",
            Self::OutOfHorizon => "OUT_OF_HORIZON",
            Self::Occupancy => "OCCUPANCY",
            Self::ChildAge => "CHILD_AGE",
            Self::StopSell => "STOP_SELL",
            Self::PmsConflict => "PMS_CONFLICT",
            Self::ClosedToArrival => "CLOSED_TO_ARRIVAL",
            Self::ClosedToDeparture => "CLOSED_TO_DEPARTURE",
            Self::MinStayArrival => "MIN_STAY_ARRIVAL",
            Self::MinStayThrough => "MIN_STAY_THROUGH",
            Self::MaxStay => "MAX_STAY",
            Self::TooEarly => "TOO_EARLY",
            Self::TooLate => "TOO_LATE",
            Self::NoRate => "NO_RATE",
            Self::SoldOut => "SOLD_OUT",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name)
    }
}

/// One reason on one date, of a room type by its number, or by its code where it is told to somebody.
/// `required` and `given` are nights or days, for rules that have a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Violation<R = RoomTypeId> {
    /// For CLOSED_TO_DEPARTURE the check-out date, which is no night of the stay.
    pub night: NaiveDate,
    pub rule: Rule,
    pub room_type: R,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<i32>,
}

impl Violation {
    pub fn told(self, room_type: RoomTypeCode) -> Violation<RoomTypeCode> {
        let Self { night, rule, room_type: _, required, given } = self;
        Violation { night, rule, room_type, required, given }
    }
}

/// Which rate plans a row of restrictions speaks of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "i32", into = "i32")]
pub enum RatePlanScope {
    /// The room type under every plan.
    Every,
    /// In addition, under this plan.
    Plan(RatePlanId),
}

impl From<i32> for RatePlanScope {
    /// As stored: 0 is every plan, since plans are numbered from 1.
    fn from(column: i32) -> Self {
        if column == 0 { Self::Every } else { Self::Plan(RatePlanId(column)) }
    }
}

impl From<RatePlanScope> for i32 {
    fn from(scope: RatePlanScope) -> Self {
        match scope {
            RatePlanScope::Every => 0,
            RatePlanScope::Plan(plan) => plan.0,
        }
    }
}

/// The rules of one date. An absent limit is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NightRestriction {
    pub stop_sell: bool,
    pub min_stay_arrival: Option<u16>,
    pub min_stay_through: Option<u16>,
    pub max_stay: Option<u16>,
    pub closed_to_arrival: bool,
    pub closed_to_departure: bool,
    pub min_advance_days: Option<u16>,
    pub max_advance_days: Option<u16>,
}

/// Rows as stored. No row: no rule.
pub type Restrictions = BTreeMap<(RoomTypeId, RatePlanScope, NaiveDate), NightRestriction>;

/// What is wrong with a restriction that somebody wants to set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RestrictionFault {
    #[error("{field} must be 1 to {MAX_NIGHTS} nights, or null for no limit")]
    StayLimit { field: &'static str },
    #[error("{field} must not be more than max_stay")]
    MinAboveMax { field: &'static str },
    #[error("{field} must be 0 to {MAX_ADVANCE_DAYS} days, or null for no limit")]
    AdvanceLimit { field: &'static str },
    #[error("min_advance_days must not be more than max_advance_days")]
    AdvanceMinAboveMax,
}

impl NightRestriction {
    /// Everything that is wrong with it; empty when it can be kept. The database repeats the rule.
    pub fn faults(&self) -> Vec<RestrictionFault> {
        let minimums =
            [("min_stay_arrival", self.min_stay_arrival), ("min_stay_through", self.min_stay_through)];
        let stays = minimums.into_iter().chain([("max_stay", self.max_stay)]);
        let advances =
            [("min_advance_days", self.min_advance_days), ("max_advance_days", self.max_advance_days)];
        let mut faults = Vec::new();
        let wrong = stays.filter(|(_, limit)| limit.is_some_and(|n| n == 0 || n > MAX_NIGHTS));
        faults.extend(wrong.map(|(field, _)| RestrictionFault::StayLimit { field }));
        let above = |limit: Option<u16>, max: Option<u16>| limit.zip(max).is_some_and(|(min, max)| min > max);
        let crossed = minimums.into_iter().filter(|(_, min)| above(*min, self.max_stay));
        faults.extend(crossed.map(|(field, _)| RestrictionFault::MinAboveMax { field }));
        let wrong = advances.into_iter().filter(|(_, days)| days.is_some_and(|n| n > MAX_ADVANCE_DAYS));
        faults.extend(wrong.map(|(field, _)| RestrictionFault::AdvanceLimit { field }));
        if above(self.min_advance_days, self.max_advance_days) {
            faults.push(RestrictionFault::AdvanceMinAboveMax);
        }
        faults
    }

    /// Does it say anything? A row that does not need not be kept.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Everything that forbids these rooms for this stay, by night, then rule, then room type. A rule
/// that several rows or rooms of one type break is told once per night, with its strictest limit.
/// Rows of the room type and of the plan both apply; `today` is the hotel's.
///
/// The rows of all dates from check-in to check-out, the latter included, must have been read.
pub fn violations(
    stay: Stay,
    today: NaiveDate,
    rooms: impl IntoIterator<Item = (RoomTypeId, RatePlanId)>,
    rows: &Restrictions,
) -> Vec<Violation> {
    let mut found = Vec::new();
    for (room_type, plan) in rooms {
        for scope in [RatePlanScope::Every, RatePlanScope::Plan(plan)] {
            for night in stay.nights().chain([stay.check_out()]) {
                if let Some(row) = rows.get(&(room_type, scope, night)) {
                    let case = Case { stay, today, night, room_type };
                    found.extend(case.broken(row));
                }
            }
        }
    }
    found.sort_unstable_by_key(|v| (v.night, v.rule, v.room_type, std::cmp::Reverse(strictness(v))));
    found.dedup_by_key(|v| (v.night, v.rule, v.room_type));
    found
}

/// A larger minimum and a smaller maximum are the stricter ones.
fn strictness(violation: &Violation) -> i32 {
    let limit = violation.required.unwrap_or(0);
    if matches!(violation.rule, Rule::MaxStay | Rule::TooEarly) { -limit } else { limit }
}

/// One row asked about one stay.
#[derive(Clone, Copy)]
struct Case {
    stay: Stay,
    today: NaiveDate,
    night: NaiveDate,
    room_type: RoomTypeId,
}

impl Case {
    fn broken(self, row: &NightRestriction) -> impl Iterator<Item = Violation> {
        let nights = i32::from(self.stay.len());
        let ahead = i32::try_from((self.stay.check_in() - self.today).num_days()).unwrap_or(i32::MAX);
        let (arrives, departs) = (self.night == self.stay.check_in(), self.night == self.stay.check_out());
        let told = move |rule, applies: bool, required: Option<u16>, given: i32| {
            let required = required.map(i32::from);
            applies.then_some(Violation {
                night: self.night,
                rule,
                room_type: self.room_type,
                required,
                given: required.map(|_| given),
            })
        };
        let less = |given: i32, min: Option<u16>| min.is_some_and(|min| given < i32::from(min));
        let more = |given: i32, max: Option<u16>| max.is_some_and(|max| given > i32::from(max));
        let broken = [
            told(Rule::StopSell, !departs && row.stop_sell, None, nights),
            told(Rule::ClosedToArrival, arrives && row.closed_to_arrival, None, nights),
            told(Rule::ClosedToDeparture, departs && row.closed_to_departure, None, nights),
            told(
                Rule::MinStayArrival,
                arrives && less(nights, row.min_stay_arrival),
                row.min_stay_arrival,
                nights,
            ),
            told(
                Rule::MinStayThrough,
                !departs && less(nights, row.min_stay_through),
                row.min_stay_through,
                nights,
            ),
            told(Rule::MaxStay, !departs && more(nights, row.max_stay), row.max_stay, nights),
            told(Rule::TooEarly, arrives && more(ahead, row.max_advance_days), row.max_advance_days, ahead),
            told(Rule::TooLate, arrives && less(ahead, row.min_advance_days), row.min_advance_days, ahead),
        ];
        broken.into_iter().flatten()
    }
}

#[cfg(test)]
#[path = "restriction_tests.rs"]
mod tests;
