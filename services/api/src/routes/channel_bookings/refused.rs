//! What a channel is told that is no success.

use keyrack_api_types::{
    code::Code,
    problem::{Action, Next},
    reservation::ReservationState,
    shortage::ShortNight,
};
use keyrack_booking::{channel_booking::ChannelBookingError, place_hold};
use keyrack_domain::channel_booking::ChannelBookingState;
use keyrack_http::Problem;

use crate::refusal;

pub(super) fn refused(error: ChannelBookingError) -> Problem {
    match error {
        ChannelBookingError::NotFound => Problem::not_found(),
        ChannelBookingError::Invalid(errors) => refusal::invalid(errors),
        ChannelBookingError::Unmapped(errors) => {
            refusal::invalid(errors).fact("state", ChannelBookingState::Unmapped)
        }
        ChannelBookingError::Inactive => {
            Problem::new(Code::BookingInactive, "This booking was cancelled. Nothing was taken.")
        }
        ChannelBookingError::StaleRevision { present } => Problem::new(
            Code::StaleRevision,
            format!("Revision {present} is known and says something else. Nothing was changed."),
        )
        .fact("revision", present),
        ChannelBookingError::SoldOut { first, also_short } => {
            let detail = format!(
                "{} on {}: {} wanted, {} available.",
                first.room_type, first.night, first.requested, first.available
            );
            let also_short: Vec<_> = also_short.into_iter().map(short_night).collect();
            Problem::new(Code::RoomNightUnavailable, detail)
                .fact("room_type", first.room_type)
                .fact("night", first.night)
                .fact("requested", first.requested)
                .fact("available", first.available)
                .fact("also_short", also_short)
                // It is sold elsewhere already: there is nothing to quote anew.
                .next(Next { action: Action::None, after_s: None, at: None })
        }
        ChannelBookingError::NotChangeable(state) => Problem::new(
            Code::Conflict,
            "Only a booking that is CONFIRMED can be modified or cancelled, to the day of arrival.",
        )
        .fact("state", ReservationState::from(state)),
        ChannelBookingError::Fault(fault) => refusal::fault(fault),
    }
}

fn short_night(short: place_hold::ShortNight) -> ShortNight {
    let place_hold::ShortNight { room_type, night, requested, available } = short;
    ShortNight { room_type: room_type.into(), night: night.into(), requested, available }
}
