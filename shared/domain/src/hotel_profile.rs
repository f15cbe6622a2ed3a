//! Everything that a hotel has configured about what it sells, nights apart.

use rust_decimal::Decimal;

use crate::{
    code::{RatePlanCode, RoomTypeCode},
    hotel::{HotelRef, RatePlan, RoomType},
    ids::{RatePlanId, RoomTypeId},
    policy::LateCapture,
    tax::Tax,
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HotelProfile {
    pub hotel: HotelRef,
    pub name: String,
    pub city: String,
    pub place: Option<Place>,
    pub late_capture: LateCapture,
    /// In order of creation, as are the plans; taxes in the order in which they are shown.
    pub room_types: Vec<RoomType>,
    pub rate_plans: Vec<RatePlan>,
    pub taxes: Vec<Tax>,
}

/// Degrees, north and east, with at most six decimals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub latitude: Decimal,
    pub longitude: Decimal,
}

impl HotelProfile {
    pub fn room_type(&self, code: &RoomTypeCode) -> Option<&RoomType> {
        self.room_types.iter().find(|room_type| room_type.code == *code)
    }

    pub fn rate_plan(&self, code: &RatePlanCode) -> Option<&RatePlan> {
        self.rate_plans.iter().find(|plan| plan.code == *code)
    }

    pub fn room_type_by_id(&self, id: RoomTypeId) -> Option<&RoomType> {
        self.room_types.iter().find(|room_type| room_type.id == id)
    }

    pub fn rate_plan_by_id(&self, id: RatePlanId) -> Option<&RatePlan> {
        self.rate_plans.iter().find(|plan| plan.id == id)
    }
}
