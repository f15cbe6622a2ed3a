use actix_web::{
    HttpResponse,
    http::{
        StatusCode,
        header::{HeaderName, HeaderValue, LOCATION, RETRY_AFTER},
    },
    post, web,
};
use keyrack_api_types::{
    change::{Change, ConfirmChangeRequest},
    code::Code,
    problem::{Action, Next},
    shortage::ShortNight,
};
use keyrack_booking::{
    Answered, Desk, FieldError,
    change_stay::{self, ConfirmChange, ConfirmChangeError, Confirmed},
    views::ChangeView,
};
use keyrack_domain::{
    ids::{ChangeId, ReservationId},
    principal::Caller,
};
use keyrack_http::{IfMatch, Json, Key, Path, Problem, REPLAYED, Signed, etag};

use super::price::{not_changeable, restricted};
use crate::{refusal, reply, routes::reservations::stale, wire};

/// Carry out a priced change. What the stay adds is held while its charge is paid; only then the stay is
/// replaced, and what it no longer has goes back. Until then, and after any failure, it is what it was.
#[utoipa::path(
    tag = "reservations",
    operation_id = "confirm_change",
    params(
        ("id" = String, Path),
        ("change" = String, Path),
        ("If-Match" = String, Header, description = "The version that was priced"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = ConfirmChangeRequest,
    responses(
        (status = 200, description = "COMPLETED", body = Change, headers(("ETag" = String, description = "The version that it made, quoted"))),
        (status = 202, description = "STARTED: the outcome of the payment is not known yet; `next` tells where to look", body = Change),
        (status = 402, description = "PAYMENT_DECLINED: nothing was taken and the stay is what it was; another card is a new key"),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "ROOM_NIGHT_UNAVAILABLE, RESTRICTION_VIOLATED, CHANGE_IN_PROGRESS, CHANGE_FAILED, CONFLICT, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 410, description = "CHANGE_EXPIRED"),
        (status = 412, description = "VERSION_CONFLICT, with the reservation as it is"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 428, description = "PRECONDITION_REQUIRED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/reservations/{id}/changes/{change}/confirm")]
pub(crate) async fn confirm(
    Signed(caller): Signed,
    Path((id, change)): Path<(ReservationId, ChangeId)>,
    Key(key): Key,
    IfMatch(if_match): IfMatch,
    desk: web::Data<Desk>,
    Json(body): Json<ConfirmChangeRequest>,
) -> Result<HttpResponse, Problem> {
    let method = body.payment.map(|payment| payment.method_token);
    let request = ConfirmChange { reservation: id, change, method, if_match, key };
    match change_stay::confirm(&desk, &caller, request).await {
        Ok(confirmed) => answer(confirmed),
        Err(error) => refused(&desk, &caller, id, error).await,
    }
}

fn answer(confirmed: Answered<Confirmed>) -> Result<HttpResponse, Problem> {
    let Answered { answer, replayed } = confirmed;
    let problem = match answer {
        Confirmed::Changed(change) => {
            let mut response = reply::written(StatusCode::OK, replayed);
            if let Some(version) = change.version {
                response.insert_header(etag(version));
            }
            return Ok(response.json(wire::change(&change, None)));
        }
        Confirmed::Pending { change, attempt, .. } => {
            let mut response = reply::written(StatusCode::ACCEPTED, replayed);
            response.insert_header((LOCATION, wire::change_path(&change)));
            response.insert_header((RETRY_AFTER, wire::LOOK_AGAIN_AFTER_S));
            return Ok(response.json(wire::change(&change, Some(attempt))));
        }
        Confirmed::Declined { change, attempt, reason } => {
            let detail = "Nothing was taken, and the stay is what it was.";
            Problem::new(Code::PaymentDeclined, detail)
                .fact("reason", reason)
                .fact("change_id", change.id)
                .fact("attempt_id", attempt)
                .next(Next::new(Action::NewKey))
        }
        Confirmed::Failed { change, refund } => Problem::new(
            Code::ChangeFailed,
            "The charge was taken when the stay could not be changed any more, and goes back.",
        )
        .fact("change_id", change.id)
        .fact("refund", wire::refund(&refund))
        .next(look(&change)),
    };
    Err(if replayed { replay(problem) } else { problem })
}

fn look(change: &ChangeView) -> Next {
    Next::new(Action::LookUp).at(wire::reservation_path(change.reservation))
}

fn replay(problem: Problem) -> Problem {
    let (name, value) = REPLAYED;
    problem.header(HeaderName::from_static(name), HeaderValue::from_static(value))
}

async fn refused(
    desk: &Desk,
    caller: &Caller,
    id: ReservationId,
    error: ConfirmChangeError,
) -> Result<HttpResponse, Problem> {
    Err(match error {
        ConfirmChangeError::NotFound => Problem::not_found(),
        ConfirmChangeError::Stale(version, _) => return stale(desk, caller, id, version).await,
        ConfirmChangeError::NotChangeable(state) => not_changeable(state.into()),
        ConfirmChangeError::Expired(at) => {
            Problem::new(Code::ChangeExpired, format!("The price was promised until {at}. Nothing was done."))
                .fact("expired_at", at)
        }
        ConfirmChangeError::NotPriced(state) => {
            let detail = "The change has been confirmed before; look at it.";
            let state = keyrack_api_types::change::ChangeState::from(state);
            Problem::new(Code::Conflict, detail).fact("state", state)
        }
        ConfirmChangeError::InProgress(change) => {
            let detail = "Another change of this reservation is being paid for.";
            let place = format!("/v1/reservations/{id}/changes/{change}");
            Problem::new(Code::ChangeInProgress, detail)
                .fact("change_id", change)
                .next(Next::after(Action::LookUp, wire::LOOK_AGAIN_AFTER_S).at(place))
        }
        ConfirmChangeError::PaymentRequired(charge) => {
            let rule = format!("is required: {charge:?} is paid before the stay changes");
            refusal::invalid(vec![FieldError::new("/payment", "REQUIRED", rule)])
        }
        ConfirmChangeError::Restricted(violations) => restricted(violations),
        ConfirmChangeError::SoldOut { short, room_types } => sold_out(short, room_types),
        ConfirmChangeError::Key(refused) => refusal::key(refused),
        ConfirmChangeError::Fault(fault) => refusal::fault(fault),
    })
}

fn sold_out(
    short: Vec<keyrack_booking::place_hold::operation::Short>,
    room_types: Vec<keyrack_domain::code::RoomTypeCode>,
) -> Problem {
    let mut nights = short.into_iter().zip(room_types).map(|(short, room_type)| ShortNight {
        room_type: room_type.into(),
        night: short.night.date.into(),
        requested: short.requested,
        available: short.available,
    });
    let Some(first) = nights.next() else {
        return Problem::new(Code::RoomNightUnavailable, "A night is not available.");
    };
    let detail = format!(
        "{} on {}: {} more wanted, {} available. The stay is what it was.",
        first.room_type, first.night.0, first.requested, first.available
    );
    Problem::new(Code::RoomNightUnavailable, detail)
        .fact("room_type", first.room_type)
        .fact("night", first.night)
        .fact("requested", first.requested)
        .fact("available", first.available)
        .fact("also_short", nights.collect::<Vec<_>>())
}
