//! Rates as they are told: night by night, kept as runs of nights that are alike.

use chrono::NaiveDate;
use keyrack_db::DbError;
use keyrack_domain::{
    code::{RatePlanCode, RoomTypeCode},
    hotel_profile::HotelProfile,
    money::Money,
    pricing::DailyRate,
};
use keyrack_store::daily_rates::RateKey;
use serde::{Deserialize, Serialize};

use crate::runs::{nights, runs};

/// Rates of nights, in order of room type, plan and date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RatesSet {
    pub runs: Vec<RateRun>,
}

/// Both ends are nights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateRun {
    pub room_type: RoomTypeCode,
    pub rate_plan: RatePlanCode,
    pub first_night: NaiveDate,
    pub last_night: NaiveDate,
    pub amount: Money,
    pub extra_adult: Money,
    pub extra_child: Money,
    pub price_version: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NightRateView {
    pub room_type: RoomTypeCode,
    pub rate_plan: RatePlanCode,
    pub night: NaiveDate,
    pub amount: Money,
    pub extra_adult: Money,
    pub extra_child: Money,
    pub price_version: i32,
}

impl RatesSet {
    /// In the order given.
    pub(super) fn new<'r>(
        profile: &HotelProfile,
        rates: impl IntoIterator<Item = (&'r RateKey, &'r DailyRate)>,
    ) -> Result<Self, DbError> {
        let rows = rates.into_iter().map(|(key, rate)| ((key.room_type, key.rate_plan), key.night, *rate));
        let told = runs(rows).into_iter().map(|run| {
            let codes = profile.room_type_by_id(run.key.0).zip(profile.rate_plan_by_id(run.key.1));
            let (room_type, rate_plan) = codes.ok_or_else(|| {
                DbError::unreadable("daily rate", &"of a room type or plan that does not exist")
            })?;
            Ok(RateRun {
                room_type: room_type.code.clone(),
                rate_plan: rate_plan.code.clone(),
                first_night: run.first_night,
                last_night: run.last_night,
                amount: run.value.amount,
                extra_adult: run.value.extra_adult,
                extra_child: run.value.extra_child,
                price_version: run.value.price_version,
            })
        });
        Ok(Self { runs: told.collect::<Result<_, DbError>>()? })
    }

    pub fn nights(&self) -> impl Iterator<Item = NightRateView> {
        self.runs.iter().flat_map(|run| {
            nights(run.first_night, run.last_night).map(|night| NightRateView {
                room_type: run.room_type.clone(),
                rate_plan: run.rate_plan.clone(),
                night,
                amount: run.amount,
                extra_adult: run.extra_adult,
                extra_child: run.extra_child,
                price_version: run.price_version,
            })
        })
    }
}
