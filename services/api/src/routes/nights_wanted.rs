//! Which nights of a room type the staff asks for.

use keyrack_api_types::date::Date;
use keyrack_booking::nights_query::{NightsQuery, NightsQueryError};
use keyrack_domain::code::{RatePlanCode, RoomTypeCode};
use keyrack_http::Problem;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::refusal;

/// Both ends are nights; at most 1,000 of them.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct NightsWanted {
    #[param(value_type = String, example = "RT-DLX")]
    room_type: RoomTypeCode,
    #[param(value_type = String, format = Date)]
    first_night: Date,
    #[param(value_type = String, format = Date)]
    last_night: Date,
}

/// The same where there are rate plans.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanNightsWanted {
    #[param(value_type = String, example = "RT-DLX")]
    room_type: RoomTypeCode,
    /// Only of this plan.
    #[param(value_type = Option<String>, example = "FLEX")]
    rate_plan: Option<RatePlanCode>,
    #[param(value_type = String, format = Date)]
    first_night: Date,
    #[param(value_type = String, format = Date)]
    last_night: Date,
}

impl From<NightsWanted> for NightsQuery {
    fn from(wanted: NightsWanted) -> Self {
        let NightsWanted { room_type, first_night, last_night } = wanted;
        Self { room_type, rate_plan: None, first_night: first_night.0, last_night: last_night.0 }
    }
}

impl From<PlanNightsWanted> for NightsQuery {
    fn from(wanted: PlanNightsWanted) -> Self {
        let PlanNightsWanted { room_type, rate_plan, first_night, last_night } = wanted;
        Self { room_type, rate_plan, first_night: first_night.0, last_night: last_night.0 }
    }
}

pub(super) fn refused(error: NightsQueryError) -> Problem {
    match error {
        NightsQueryError::HotelNotFound => Problem::not_found(),
        NightsQueryError::Invalid(errors) => refusal::invalid(errors),
        NightsQueryError::Fault(fault) => refusal::fault(fault),
    }
}
