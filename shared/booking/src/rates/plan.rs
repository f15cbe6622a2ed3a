//! From changes to the nights that they mean. Pure: no database, no clock.

use std::collections::BTreeMap;

use keyrack_db::DbError;
use keyrack_domain::{
    hotel_profile::HotelProfile,
    money::{Currency, Money},
    pricing::DailyRate,
};
use keyrack_store::daily_rates::RateKey;

use super::{Change, RateChange};
use crate::{FieldError, amount::amount_error, night_range};

/// What a night is to cost. `None`: as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    amount: Money,
    extra_adult: Option<Money>,
    extra_child: Option<Money>,
}

/// The changes with their amounts read, or all that is wrong with them whatever the day.
pub(super) fn read(changes: &[RateChange], currency: Currency) -> Result<Vec<Change>, Vec<FieldError>> {
    let mut faults = night_range::faults(changes.iter().map(|change| &change.range));
    let mut read = Vec::with_capacity(changes.len().min(night_range::MAX_CHANGES));
    for (n, change) in changes.iter().take(night_range::MAX_CHANGES).enumerate() {
        let mut amount = |field: &str, text: &str| {
            let money = Money::parse(text, currency);
            money.map_err(|error| faults.push(amount_error(format!("/changes/{n}/{field}"), error))).ok()
        };
        let base = amount("amount", &change.amount);
        let extra_adult = change.extra_adult.as_deref().map(|text| amount("extra_adult", text));
        let extra_child = change.extra_child.as_deref().map(|text| amount("extra_child", text));
        read.extend(base.map(|amount| Change {
            room_type: change.room_type.clone(),
            rate_plan: change.rate_plan.clone(),
            range: change.range.clone(),
            amount,
            extra_adult: extra_adult.flatten(),
            extra_child: extra_child.flatten(),
        }));
    }
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

pub(super) fn unknown_codes(changes: &[Change], profile: &HotelProfile) -> Vec<FieldError> {
    let mut faults = Vec::new();
    for (n, change) in changes.iter().enumerate() {
        if profile.room_type(&change.room_type).is_none() {
            let rule = "is no room type of this hotel";
            faults.push(FieldError::new(format!("/changes/{n}/room_type"), "UNKNOWN_ROOM_TYPE", rule));
        }
        if profile.rate_plan(&change.rate_plan).is_none() {
            let rule = "is no rate plan of this hotel";
            faults.push(FieldError::new(format!("/changes/{n}/rate_plan"), "UNKNOWN_RATE_PLAN", rule));
        }
    }
    faults
}

/// Every night once; the last change that names it wins, and leaves what it does not say.
pub(super) fn fold(changes: &[Change], profile: &HotelProfile) -> BTreeMap<RateKey, Wanted> {
    let mut wanted = BTreeMap::<RateKey, Wanted>::new();
    for change in changes {
        let codes = profile.room_type(&change.room_type).zip(profile.rate_plan(&change.rate_plan));
        let Some((room_type, rate_plan)) = codes else { continue };
        for night in change.range.nights() {
            let key = RateKey { room_type: room_type.id, rate_plan: rate_plan.id, night };
            let earlier = wanted.get(&key);
            let latest = Wanted {
                amount: change.amount,
                extra_adult: change.extra_adult.or(earlier.and_then(|e| e.extra_adult)),
                extra_child: change.extra_child.or(earlier.and_then(|e| e.extra_child)),
            };
            wanted.insert(key, latest);
        }
    }
    wanted
}

/// The rates as they are afterwards, each one version on.
pub(super) fn apply(
    wanted: &BTreeMap<RateKey, Wanted>,
    before: &BTreeMap<RateKey, DailyRate>,
) -> Result<BTreeMap<RateKey, DailyRate>, DbError> {
    let after = wanted.iter().map(|(key, wanted)| {
        let earlier = before.get(key);
        let nothing = Money::zero(wanted.amount.currency());
        let version = earlier.map_or(0, |rate| rate.price_version).checked_add(1);
        let rate = DailyRate {
            amount: wanted.amount,
            extra_adult: wanted.extra_adult.or(earlier.map(|e| e.extra_adult)).unwrap_or(nothing),
            extra_child: wanted.extra_child.or(earlier.map(|e| e.extra_child)).unwrap_or(nothing),
            price_version: version.ok_or_else(|| DbError::unreadable("price version", &"is the largest"))?,
        };
        Ok((*key, rate))
    });
    after.collect()
}
