//! Restrictions as they are told: night by night, kept as runs of nights that are alike.

use chrono::NaiveDate;
use keyrack_db::DbError;
use keyrack_domain::{
    code::{RatePlanCode, RoomTypeCode},
    hotel_profile::HotelProfile,
    restriction::{NightRestriction, RatePlanScope, Restrictions},
};
use serde::{Deserialize, Serialize};

use crate::runs::{nights, runs};

/// Restrictions of nights, in order of room type, plan and date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RestrictionsSet {
    pub runs: Vec<RestrictionRun>,
}

/// Both ends are nights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestrictionRun {
    pub room_type: RoomTypeCode,
    /// `None`: the room type under every plan.
    pub rate_plan: Option<RatePlanCode>,
    pub first_night: NaiveDate,
    pub last_night: NaiveDate,
    pub restriction: NightRestriction,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NightRestrictionView {
    pub room_type: RoomTypeCode,
    pub rate_plan: Option<RatePlanCode>,
    pub night: NaiveDate,
    pub restriction: NightRestriction,
}

impl RestrictionsSet {
    pub(super) fn new(profile: &HotelProfile, rows: &Restrictions) -> Result<Self, DbError> {
        let rows = rows.iter().map(|((room_type, scope, night), row)| ((*room_type, *scope), *night, *row));
        let told = runs(rows).into_iter().map(|run| {
            let unknown =
                || DbError::unreadable("restriction", &"of a room type or plan that does not exist");
            let room_type = profile.room_type_by_id(run.key.0).ok_or_else(unknown)?;
            let rate_plan = match run.key.1 {
                RatePlanScope::Every => None,
                RatePlanScope::Plan(id) => {
                    Some(profile.rate_plan_by_id(id).ok_or_else(unknown)?.code.clone())
                }
            };
            Ok(RestrictionRun {
                room_type: room_type.code.clone(),
                rate_plan,
                first_night: run.first_night,
                last_night: run.last_night,
                restriction: run.value,
            })
        });
        Ok(Self { runs: told.collect::<Result<_, DbError>>()? })
    }

    pub fn nights(&self) -> impl Iterator<Item = NightRestrictionView> {
        self.runs.iter().flat_map(|run| {
            nights(run.first_night, run.last_night).map(|night| NightRestrictionView {
                room_type: run.room_type.clone(),
                rate_plan: run.rate_plan.clone(),
                night,
                restriction: run.restriction,
            })
        })
    }
}
