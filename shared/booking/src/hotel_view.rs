//! A hotel as everybody may see it: `GET /v1/hotels/{hotel}`.

use chrono_tz::Tz;
use keyrack_domain::{
    code::HotelCode,
    hotel::{RatePlan, RoomType},
    hotel_profile::HotelProfile,
    money::Currency,
    policy::LateCapture,
    tax::Tax,
};
use keyrack_store::hotels;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{
    Fault,
    hotel_directory::{HotelDirectory, NoHotel},
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotelView {
    pub code: HotelCode,
    pub name: String,
    pub zone: Tz,
    pub currency: Currency,
    pub city: String,
    /// Degrees north and east.
    pub place: Option<(Decimal, Decimal)>,
    pub late_capture: LateCapture,
    pub taxes: Vec<Tax>,
    /// In order of creation, as are the plans.
    pub room_types: Vec<RoomType>,
    pub rate_plans: Vec<RatePlan>,
}

impl From<HotelProfile> for HotelView {
    fn from(profile: HotelProfile) -> Self {
        Self {
            code: profile.hotel.code,
            name: profile.name,
            zone: profile.hotel.zone,
            currency: profile.hotel.currency,
            city: profile.city,
            place: profile.place.map(|place| (place.latitude, place.longitude)),
            late_capture: profile.late_capture,
            taxes: profile.taxes,
            room_types: profile.room_types,
            rate_plans: profile.rate_plans,
        }
    }
}

pub async fn find(hotels: &HotelDirectory, code: &HotelCode) -> Result<HotelView, NoHotel> {
    profile(hotels, code).await.map(HotelView::from)
}

/// Outside of any transaction: for what is shown, and for what never changes.
pub(crate) async fn profile(hotels: &HotelDirectory, code: &HotelCode) -> Result<HotelProfile, NoHotel> {
    let hotel = hotels.by_code(code).await?;
    let mut connection = hotels.database(&hotel)?.connection().await.map_err(Fault::from)?;
    let found = hotels::profile(&mut connection, hotel.id, hotel.shard).await.map_err(Fault::from)?;
    found.ok_or(NoHotel::NotFound)
}
