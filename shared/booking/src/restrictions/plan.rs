//! From changes to the rows as they are afterwards. Pure: no database, no clock.

use std::collections::{BTreeMap, BTreeSet};

use keyrack_domain::{
    hotel_profile::HotelProfile,
    restriction::{NightRestriction, RatePlanScope, RestrictionFault, Restrictions},
};
use keyrack_store::restrictions::RestrictionKey;

use super::{Patch, RestrictionChange, RestrictionPatch};
use crate::{FieldError, night_range};

/// For every row that is named, the places of the changes that name it, in order.
pub(super) type Patches = BTreeMap<RestrictionKey, Vec<usize>>;

/// More of the same would tell nothing new.
const MAX_FAULTS: usize = 100;

impl<T: Copy> Patch<T> {
    fn on(self, value: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *value = None,
            Self::Set(new) => *value = Some(new),
        }
    }
}

impl Patch<bool> {
    /// A flag that is cleared is down.
    fn on_flag(self, flag: &mut bool) {
        match self {
            Self::Keep => {}
            Self::Clear => *flag = false,
            Self::Set(new) => *flag = new,
        }
    }
}

impl RestrictionPatch {
    fn on(&self, row: &mut NightRestriction) {
        self.stop_sell.on_flag(&mut row.stop_sell);
        self.min_stay_arrival.on(&mut row.min_stay_arrival);
        self.min_stay_through.on(&mut row.min_stay_through);
        self.max_stay.on(&mut row.max_stay);
        self.closed_to_arrival.on_flag(&mut row.closed_to_arrival);
        self.closed_to_departure.on_flag(&mut row.closed_to_departure);
        self.min_advance_days.on(&mut row.min_advance_days);
        self.max_advance_days.on(&mut row.max_advance_days);
    }

    fn is_empty(&self) -> bool {
        let flags = [self.stop_sell, self.closed_to_arrival, self.closed_to_departure];
        let limits = [
            self.min_stay_arrival,
            self.min_stay_through,
            self.max_stay,
            self.min_advance_days,
            self.max_advance_days,
        ];
        flags.iter().all(|flag| *flag == Patch::Keep) && limits.iter().all(|limit| *limit == Patch::Keep)
    }
}

/// What is wrong with the changes whatever the day and whatever is set already.
pub(super) fn faults(changes: &[RestrictionChange]) -> Vec<FieldError> {
    let mut faults = night_range::faults(changes.iter().map(|change| &change.range));
    for (n, change) in changes.iter().take(night_range::MAX_CHANGES).enumerate() {
        if change.patch.is_empty() {
            let rule = "must name at least one restriction to set or to clear";
            faults.push(FieldError::new(format!("/changes/{n}"), "EMPTY", rule));
        }
        let mut alone = NightRestriction::default();
        change.patch.on(&mut alone);
        faults.extend(alone.faults().into_iter().map(|fault| told(n, fault, None)));
    }
    faults
}

fn told(change: usize, fault: RestrictionFault, key: Option<&RestrictionKey>) -> FieldError {
    let (field, code) = match fault {
        RestrictionFault::StayLimit { field } | RestrictionFault::AdvanceLimit { field } => {
            (field, "OUT_OF_RANGE")
        }
        RestrictionFault::MinAboveMax { field } => (field, "MIN_ABOVE_MAX"),
        RestrictionFault::AdvanceMinAboveMax => ("min_advance_days", "MIN_ABOVE_MAX"),
    };
    let detail = match key {
        Some((_, _, night)) => format!("{fault}; together with what is set for {night}"),
        None => fault.to_string(),
    };
    FieldError::new(format!("/changes/{change}/{field}"), code, detail)
}

pub(super) fn unknown_codes(changes: &[RestrictionChange], profile: &HotelProfile) -> Vec<FieldError> {
    let mut faults = Vec::new();
    for (n, change) in changes.iter().enumerate() {
        if profile.room_type(&change.room_type).is_none() {
            let rule = "is no room type of this hotel";
            faults.push(FieldError::new(format!("/changes/{n}/room_type"), "UNKNOWN_ROOM_TYPE", rule));
        }
        if change.rate_plan.as_ref().is_some_and(|code| profile.rate_plan(code).is_none()) {
            let rule = "is no rate plan of this hotel";
            faults.push(FieldError::new(format!("/changes/{n}/rate_plan"), "UNKNOWN_RATE_PLAN", rule));
        }
    }
    faults
}

/// The rows that the changes name; their codes are known.
pub(super) fn by_night(changes: &[RestrictionChange], profile: &HotelProfile) -> Patches {
    let mut patches = Patches::new();
    for (n, change) in changes.iter().enumerate() {
        let scope = match &change.rate_plan {
            Some(code) => profile.rate_plan(code).map(|plan| RatePlanScope::Plan(plan.id)),
            None => Some(RatePlanScope::Every),
        };
        let Some((room_type, scope)) = profile.room_type(&change.room_type).zip(scope) else { continue };
        for night in change.range.nights() {
            patches.entry((room_type.id, scope, night)).or_default().push(n);
        }
    }
    patches
}

/// The rows as they are afterwards, or what contradicts itself in them.
pub(super) fn apply(
    changes: &[RestrictionChange],
    patches: &Patches,
    before: &Restrictions,
) -> Result<Restrictions, Vec<FieldError>> {
    let mut after = Restrictions::new();
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for (key, places) in patches {
        let mut row = before.get(key).copied().unwrap_or_default();
        for change in places.iter().filter_map(|place| changes.get(*place)) {
            change.patch.on(&mut row);
        }
        let last = places.last().copied().unwrap_or_default();
        // A season that contradicts what is set is told once, with its first night.
        let new = row.faults().into_iter().filter(|fault| seen.insert((last, fault.to_string())));
        faults.extend(
            new.map(|fault| told(last, fault, Some(key))).take(MAX_FAULTS - faults.len().min(MAX_FAULTS)),
        );
        after.insert(*key, row);
    }
    if faults.is_empty() { Ok(after) } else { Err(faults) }
}
