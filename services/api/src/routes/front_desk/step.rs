//! What the four steps of a stay have in common.

use actix_web::{HttpResponse, http::StatusCode};
use keyrack_api_types::{
    code::Code, front_desk::StayStep, problem::FieldError, reservation::ReservationState,
};
use keyrack_booking::{
    Answered, Desk,
    front_desk::{self, StepError, StepRequest, operation::Stepped},
};
use keyrack_domain::principal::Caller;
use keyrack_http::{Problem, etag};

use crate::{refusal, reply, routes::reservations::stale};

pub(super) async fn run(desk: &Desk, caller: &Caller, request: StepRequest) -> Result<HttpResponse, Problem> {
    let id = request.reservation;
    let Answered { answer, replayed } = match front_desk::run(desk, caller, request).await {
        Ok(answered) => answered,
        Err(StepError::Stale(version, _)) => return stale(desk, caller, id, version).await,
        Err(error) => return Err(refused(error)),
    };
    let Stepped { reservation, state, version } = answer;
    let mut response = reply::written(StatusCode::OK, replayed);
    let body = StayStep { reservation_id: reservation, state: state.into(), version };
    Ok(response.insert_header(etag(version)).json(body))
}

fn refused(error: StepError) -> Problem {
    match error {
        StepError::NotFound => Problem::not_found(),
        StepError::WrongState(state) | StepError::Stale(_, state) => {
            let state = ReservationState::from(state);
            Problem::new(Code::Conflict, "The reservation's state does not allow this.").fact("state", state)
        }
        StepError::NotToday { first, last } => {
            let until = last.map_or_else(String::new, |last| format!(" until {last}"));
            let detail = format!("This can be done from {first}{until}, by the hotel's calendar.");
            Problem::new(Code::Conflict, detail).fact("first", first).fact("last", last)
        }
        StepError::NoSuchDeparture(first, last) => {
            let detail = format!("must be from {first} to {last}");
            let pointer = "/check_out".to_owned();
            Problem::invalid(vec![FieldError { pointer, code: "OUT_OF_RANGE".into(), detail }])
        }
        StepError::SoldOut { room_type, night } => {
            let detail = format!("{room_type} on {night} has been sold to somebody else.");
            Problem::new(Code::RoomNightUnavailable, detail).fact("room_type", room_type).fact("night", night)
        }
        StepError::Key(refused) => refusal::key(refused),
        StepError::Fault(fault) => refusal::fault(fault),
    }
}
