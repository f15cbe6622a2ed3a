use actix_web::{
    HttpResponse,
    http::{
        StatusCode,
        header::{HeaderName, HeaderValue, LOCATION, RETRY_AFTER},
    },
    post, web,
};
use keyrack_api_types::{
    booking::{Booking, BookingRequest},
    code::Code,
    problem::{Action, Next},
};
use keyrack_booking::{
    Answered, Desk,
    start_attempt::{self, StartAttempt, StartAttemptError},
    views::{BookingView, RefundView, Standing},
};
use keyrack_domain::{ids::AttemptId, refund::RefundState};
use keyrack_http::{Json, Key, Problem, REPLAYED, Signed, etag};

use crate::{refusal, reply, wire};

/// Pay for a hold. A repeat with the same key is told how the booking stands by then.
#[utoipa::path(
    tag = "bookings",
    operation_id = "book",
    params(("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters")),
    request_body = BookingRequest,
    responses(
        (status = 201, description = "CONFIRMED, with the reservation", body = Booking),
        (status = 202, description = "PENDING_PAYMENT or RECONCILING: the outcome is not known yet; `next` tells where to look, `next_action` where to send the customer first", body = Booking),
        (status = 402, description = "PAYMENT_DECLINED: nothing was taken; `reason` says why, `hold_state` whether the hold can be paid for again"),
        (status = 404, description = "NOT_FOUND: no such hold of yours"),
        (status = 409, description = "BOOKING_FAILED, HOLD_NOT_ACTIVE, ATTEMPT_IN_PROGRESS, OPERATION_IN_PROGRESS"),
        (status = 410, description = "HOLD_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/bookings")]
pub(crate) async fn create(
    Signed(caller): Signed,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<BookingRequest>,
) -> Result<HttpResponse, Problem> {
    let guest = body.guest.with_email("/guest").map_err(Problem::invalid)?;
    let hold = body.hold_id.0.ok_or_else(Problem::not_found)?;
    let request = StartAttempt { hold, method: body.payment.method_token, guest, key };
    let booked = start_attempt::run(&desk, &caller, request).await.map_err(refused)?;
    answer(&desk, booked).await
}

async fn answer(desk: &Desk, booked: Answered<BookingView>) -> Result<HttpResponse, Problem> {
    let Answered { answer: view, replayed } = booked;
    let attempt = view.attempt;
    let problem = match &view.standing {
        Standing::Confirmed(reservation) => {
            let mut response = reply::created(wire::reservation_path(reservation.id), replayed);
            response.insert_header(etag(reservation.version));
            return Ok(response.json(wire::booking(desk, view).await?));
        }
        Standing::Pending { .. } => {
            let mut response = reply::written(StatusCode::ACCEPTED, replayed);
            response.insert_header((LOCATION, wire::attempt_path(attempt)));
            response.insert_header((RETRY_AFTER, wire::LOOK_AGAIN_AFTER_S));
            return Ok(response.json(wire::booking(desk, view).await?));
        }
        Standing::Declined { reason, hold } => wire::declined(view.hold, *hold, reason),
        Standing::NoRoom { refund } => no_room(refund, attempt),
    };
    let problem = problem.fact("attempt_id", attempt);
    Err(if replayed { replay(problem) } else { problem })
}

fn no_room(refund: &RefundView, attempt: AttemptId) -> Problem {
    let (told, next) = match refund.state {
        RefundState::Succeeded => ("has gone back", Next::new(Action::None)),
        RefundState::Requested | RefundState::NeedsAttention => ("goes back", wire::look_up(attempt)),
    };
    let detail = format!("{:?} was taken when the room had gone, and {told}.", refund.amount);
    Problem::new(Code::BookingFailed, detail).fact("refund", wire::refund(refund)).next(next)
}

fn replay(problem: Problem) -> Problem {
    let (name, value) = REPLAYED;
    problem.header(HeaderName::from_static(name), HeaderValue::from_static(value))
}

fn refused(error: StartAttemptError) -> Problem {
    match error {
        StartAttemptError::HoldNotFound => Problem::not_found(),
        StartAttemptError::HoldExpired(at) => {
            Problem::new(Code::HoldExpired, format!("The hold ended at {at}. Nothing was paid."))
                .fact("expired_at", at)
        }
        StartAttemptError::HoldNotActive(state) => {
            refusal::hold_not_active(state, "The hold is not active any more. This call has paid nothing.")
        }
        StartAttemptError::AttemptInProgress(attempt) => refusal::attempt_in_progress(attempt),
        StartAttemptError::Key(refused) => refusal::key(refused),
        StartAttemptError::Fault(fault) => refusal::fault(fault),
    }
}
