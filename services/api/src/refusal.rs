//! What every use case can be refused for, said in HTTP once.

use std::time::Duration;

use keyrack_api_types::{code::Code, problem};
use keyrack_booking::{Fault, FieldError, KeyRefusal, hotel_directory::NoHotel};
use keyrack_domain::{hold::HoldState, ids::AttemptId};
use keyrack_http::Problem;

use crate::wire;

/// How long a client should wait for a database that is gone: long enough for a failover to begin.
const UNAVAILABLE_FOR: Duration = Duration::from_secs(2);

pub(crate) fn fault(fault: Fault) -> Problem {
    match fault {
        // An answer like any other, and counted where it happened: no line in the log for each.
        Fault::Busy { retry_after, source: _ } => {
            Problem::new(Code::HotNightBusy, "Many want this at once. Nothing was done.")
                .retry_after(retry_after)
        }
        Fault::Unavailable(source) => Problem::new(
            Code::Unavailable,
            "No connection to the database was to be had in time. Repeat with the same key.",
        )
        .retry_after(UNAVAILABLE_FOR)
        .caused_by(source),
        Fault::Internal(source) => Problem::internal(source),
    }
}

pub(crate) fn key(refusal: KeyRefusal) -> Problem {
    match refusal {
        KeyRefusal::Reused => Problem::new(
            Code::IdempotencyKeyReused,
            "This key named another call: its input was not the same.",
        ),
        KeyRefusal::InProgress { retry_after } => {
            Problem::new(Code::OperationInProgress, "The first call with this key has not ended yet.")
                .retry_after(retry_after)
        }
        KeyRefusal::Expired => Problem::new(
            Code::IdempotencyKeyExpired,
            "This key is too old for a blind repeat: look first what became of it.",
        ),
    }
}

pub(crate) fn invalid(errors: Vec<FieldError>) -> Problem {
    let errors = errors.into_iter().map(|FieldError { pointer, code, detail }| problem::FieldError {
        pointer,
        code: code.into(),
        detail: detail.into_owned(),
    });
    Problem::invalid(errors.collect())
}

pub(crate) fn no_hotel(error: NoHotel) -> Problem {
    match error {
        NoHotel::NotFound => Problem::not_found(),
        NoHotel::Fault(error) => fault(error),
    }
}

/// A hold that became a reservation is no reason to quote anew: that would book a second time.
pub(crate) fn hold_not_active(state: HoldState, detail: &'static str) -> Problem {
    let problem = Problem::new(Code::HoldNotActive, detail)
        .fact("state", keyrack_api_types::hold::HoldState::from(state));
    match state {
        HoldState::Consumed => problem.next(wire::look_up_reservations()),
        HoldState::Active | HoldState::Expired | HoldState::Released => problem,
    }
}

pub(crate) fn attempt_in_progress(attempt: AttemptId) -> Problem {
    Problem::new(Code::AttemptInProgress, "The hold is being paid for. Wait for the outcome.")
        .fact("attempt_id", attempt)
        .next(wire::look_up(attempt))
}
