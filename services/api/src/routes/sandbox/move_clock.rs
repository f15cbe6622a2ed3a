use std::time::Duration;

use actix_web::{HttpResponse, post, web};
use keyrack_api_types::{
    problem::FieldError,
    sandbox::{MoveClock, SandboxClock as Answer},
};
use keyrack_booking::sandbox_clock::{Move, MoveError};
use keyrack_domain::principal::Role;
use keyrack_http::{Json, Prefer, Problem, Signed};

use crate::{
    refusal,
    sandbox::{SandboxClock, WaitFor},
};

/// Move the clock of everything that decides, forward only. Answered once the workers have seen it.
#[utoipa::path(
    tag = "sandbox",
    operation_id = "move_clock",
    params(("Prefer" = Option<String>, Header, description = "`wait-for=drained`: also wait until no worker has anything due")),
    request_body = MoveClock,
    responses(
        (status = 200, body = Answer),
        (status = 404, description = "NOT_FOUND: not an operator, or not a sandbox"),
        (status = 422, description = "INVALID"),
    ),
)]
#[post("/v1/sandbox/clock")]
pub(crate) async fn move_clock(
    Signed(caller): Signed,
    prefer: Prefer,
    clock: web::Data<dyn SandboxClock>,
    Json(body): Json<MoveClock>,
) -> Result<HttpResponse, Problem> {
    if caller.role != Role::Operator {
        return Err(Problem::not_found());
    }
    let to = match (body.advance_s, body.now) {
        (Some(seconds), None) => Move::By(Duration::from_secs(u64::from(seconds))),
        (None, Some(instant)) => Move::To(instant.0),
        (None, None) => return Err(wrong("/advance_s", "MISSING", "give advance_s or now".to_owned())),
        (Some(_), Some(_)) => {
            return Err(wrong("/now", "NOT_ALLOWED", "give advance_s or now, not both".to_owned()));
        }
    };
    let wait = if prefer.asks("wait-for", "drained") { WaitFor::Drained } else { WaitFor::Seen };
    let now = clock.advance(to, wait).await.map_err(|error| refused(error, to))?;
    Ok(HttpResponse::Ok().json(Answer { now: now.into() }))
}

fn refused(error: MoveError, to: Move) -> Problem {
    let field = match to {
        Move::By(_) => "/advance_s",
        Move::To(_) => "/now",
    };
    match error {
        MoveError::Backwards { now } => wrong(field, "NOT_FORWARD", format!("the clock shows {now} already")),
        MoveError::TooFar => {
            wrong(field, "OUT_OF_RANGE", "lies beyond the calendar that we handle".to_owned())
        }
        MoveError::Fault(fault) => refusal::fault(fault),
    }
}

fn wrong(pointer: &str, code: &'static str, detail: String) -> Problem {
    Problem::invalid(vec![FieldError { pointer: pointer.to_owned(), code: code.into(), detail }])
}
