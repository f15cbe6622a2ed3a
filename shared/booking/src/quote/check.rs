//! What is wrong with a request for a quote, all of it at once.

use chrono::NaiveDate;
use keyrack_domain::{
    horizon::Horizon,
    hotel::{RatePlan, RoomType},
    hotel_profile::HotelProfile,
    occupancy::{OccupancyFault, RoomRequest},
    quote::MAX_ROOMS,
    stay::Stay,
};

use super::QuoteInput;
use crate::FieldError;

/// One room as asked, with what it asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen<'a> {
    pub(crate) request: &'a RoomRequest,
    pub(crate) room_type: &'a RoomType,
    pub(crate) rate_plan: &'a RatePlan,
}

/// What is wrong whatever the hotel and the day.
pub(crate) fn shape(input: QuoteInput) -> Result<(Stay, Vec<RoomRequest>), Vec<FieldError>> {
    let mut faults = Vec::new();
    let stay = Stay::new(input.check_in, input.check_out);
    if let Err(fault) = stay {
        faults.push(FieldError::new("/check_out", "INVALID_STAY", fault.to_string()));
    }
    if input.rooms.is_empty() || input.rooms.len() > MAX_ROOMS {
        let rule = format!("must have 1 to {MAX_ROOMS} entries, one for each room");
        faults.push(FieldError::new("/rooms", "OUT_OF_RANGE", rule));
    }
    match stay {
        Ok(stay) if faults.is_empty() => Ok((stay, input.rooms)),
        _ => Err(faults),
    }
}

/// What is wrong at this hotel, today on its wall.
pub(crate) fn content<'a>(
    stay: Stay,
    requests: &'a [RoomRequest],
    profile: &'a HotelProfile,
    today: NaiveDate,
    horizon: Horizon,
) -> Result<Vec<Chosen<'a>>, Vec<FieldError>> {
    let mut faults = dates(stay, today, horizon);
    let mut rooms = Vec::new();
    for (n, request) in requests.iter().enumerate() {
        let at = format!("/rooms/{n}");
        let room_type = profile.room_type(&request.room_type);
        if room_type.is_none() {
            let rule = "is no room type of this hotel";
            faults.push(FieldError::new(format!("{at}/room_type"), "UNKNOWN_ROOM_TYPE", rule));
        }
        let rate_plan = profile.rate_plan(&request.rate_plan);
        if rate_plan.is_none() {
            let rule = "is no rate plan of this hotel";
            faults.push(FieldError::new(format!("{at}/rate_plan"), "UNKNOWN_RATE_PLAN", rule));
        }
        let misfits = room_type.map(|room_type| request.faults(room_type)).unwrap_or_default();
        faults.extend(misfits.into_iter().map(|fault| misfit(&at, fault)));
        rooms.extend(room_type.zip(rate_plan).map(|(room_type, rate_plan)| Chosen {
            request,
            room_type,
            rate_plan,
        }));
    }
    // A booking is paid once, so its rooms are paid in one way.
    if rooms.windows(2).any(|pair| pair[0].rate_plan.payment != pair[1].rate_plan.payment) {
        let rule = "have rate plans that are paid in different ways; book them apart";
        faults.push(FieldError::new("/rooms", "MIXED_PAYMENT", rule));
    }
    if faults.is_empty() { Ok(rooms) } else { Err(faults) }
}

pub(crate) fn dates(stay: Stay, today: NaiveDate, horizon: Horizon) -> Vec<FieldError> {
    let mut faults = Vec::new();
    if stay.check_in() < today {
        let rule = format!("is past: the hotel's today is {today}");
        faults.push(FieldError::new("/check_in", "PAST_DATE", rule));
    }
    let last = horizon.last_night(today);
    if stay.last_night() > last {
        let rule = format!("the last night must not be after {last}, the end of the horizon");
        faults.push(FieldError::new("/check_out", "OUT_OF_HORIZON", rule));
    }
    faults
}

pub(crate) fn misfit(at: &str, fault: OccupancyFault) -> FieldError {
    let field = match fault {
        OccupancyFault::NoAdult
        | OccupancyFault::TooManyAdults { .. }
        | OccupancyFault::TooManyGuests { .. } => "adults".to_owned(),
        OccupancyFault::TooManyChildren { .. } => "children_ages".to_owned(),
        OccupancyFault::ChildAge { child, .. } => format!("children_ages/{child}"),
        OccupancyFault::Note(_) => "note".to_owned(),
    };
    FieldError::new(format!("{at}/{field}"), fault.code(), fault.to_string())
}
