//! Reading what the staff has set for the nights of a room type. For the hotel's own people.

use chrono::NaiveDate;
use keyrack_domain::{
    code::{HotelCode, RatePlanCode, RoomTypeCode},
    hotel_profile::HotelProfile,
    ids::{RatePlanId, RoomTypeId},
    principal::Caller,
};

use crate::{
    Fault, FieldError,
    hotel_directory::{HotelDirectory, NoHotel},
    hotel_view,
};

/// At most so many nights in one answer of one room type and plan.
pub const MAX_NIGHTS: i64 = 1_000;

/// Both ends are nights.
#[derive(Clone, Debug)]
pub struct NightsQuery {
    pub room_type: RoomTypeCode,
    /// Narrows to one plan, where there are plans.
    pub rate_plan: Option<RatePlanCode>,
    pub first_night: NaiveDate,
    pub last_night: NaiveDate,
}

#[derive(Debug, thiserror::Error)]
pub enum NightsQueryError {
    /// Also for everybody but the hotel's staff and operators.
    #[error("no such hotel")]
    HotelNotFound,
    /// Pointers name query parameters.
    #[error("the query is wrong")]
    Invalid(Vec<FieldError>),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for NightsQueryError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::HotelNotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

/// What was asked for, found.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) profile: HotelProfile,
    pub(crate) room_type: RoomTypeId,
    pub(crate) rate_plan: Option<RatePlanId>,
}

pub(crate) async fn resolve(
    hotels: &HotelDirectory,
    caller: &Caller,
    hotel: &HotelCode,
    query: &NightsQuery,
) -> Result<Asked, NightsQueryError> {
    let hotel = hotels.by_code(hotel).await?;
    if !caller.runs(hotel.id) {
        return Err(NightsQueryError::HotelNotFound);
    }
    let profile = hotel_view::profile(hotels, &hotel.code).await?;
    let mut faults = Vec::new();
    let nights = (query.last_night - query.first_night).num_days() + 1;
    if !(1..=MAX_NIGHTS).contains(&nights) {
        let rule = format!("must not be before first_night, and not {MAX_NIGHTS} nights or more after it");
        faults.push(FieldError::new("/last_night", "INVALID_RANGE", rule));
    }
    let room_type = profile.room_type(&query.room_type).map(|room_type| room_type.id);
    if room_type.is_none() {
        faults.push(FieldError::new("/room_type", "UNKNOWN_ROOM_TYPE", "is no room type of this hotel"));
    }
    let rate_plan = query.rate_plan.as_ref().map(|code| profile.rate_plan(code).map(|plan| plan.id));
    if rate_plan == Some(None) {
        faults.push(FieldError::new("/rate_plan", "UNKNOWN_RATE_PLAN", "is no rate plan of this hotel"));
    }
    match room_type {
        Some(room_type) if faults.is_empty() => {
            Ok(Asked { profile, room_type, rate_plan: rate_plan.flatten() })
        }
        _ => Err(NightsQueryError::Invalid(faults)),
    }
}
