use actix_web::{HttpResponse, http::StatusCode, patch, web};
use keyrack_api_types::{change::GuestChange, code::Code, reservation::Reservation};
use keyrack_booking::{
    Answered, Desk,
    change_guest::{ChangeGuest, ChangeGuestError, run},
};
use keyrack_domain::ids::ReservationId;
use keyrack_http::{IfMatch, Json, Key, Path, Problem, Signed, etag};

use super::stale;
use crate::{refusal, reply, wire};

/// Change who will sleep there. No room and no money is touched.
#[utoipa::path(
    tag = "reservations",
    operation_id = "change_guest",
    params(
        ("id" = String, Path),
        ("If-Match" = String, Header, description = "The version that was last seen"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = GuestChange,
    responses(
        (status = 200, body = Reservation, headers(("ETag" = String, description = "The present version, quoted"))),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "CONFLICT, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 412, description = "VERSION_CONFLICT, with the reservation as it is"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 428, description = "PRECONDITION_REQUIRED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[patch("/v1/reservations/{id}")]
pub(crate) async fn change_guest(
    Signed(caller): Signed,
    Path(id): Path<ReservationId>,
    Key(key): Key,
    IfMatch(if_match): IfMatch,
    desk: web::Data<Desk>,
    Json(body): Json<GuestChange>,
) -> Result<HttpResponse, Problem> {
    let guest = body.guest.with_email("/guest").map_err(Problem::invalid)?;
    let request = ChangeGuest { reservation: id, guest, if_match, key };
    match run(&desk, &caller, request).await {
        Ok(Answered { replayed, .. }) => {
            let found = keyrack_booking::reservations::find(&desk, &caller, id).await;
            let view = found.map_err(refusal::fault)?.ok_or_else(Problem::not_found)?;
            let tag = etag(view.version);
            let body = wire::reservation(&desk, view).await?;
            Ok(reply::written(StatusCode::OK, replayed).insert_header(tag).json(body))
        }
        Err(ChangeGuestError::Stale(version, _)) => stale(&desk, &caller, id, version).await,
        Err(error) => Err(refused(error)),
    }
}

fn refused(error: ChangeGuestError) -> Problem {
    match error {
        ChangeGuestError::NotFound => Problem::not_found(),
        ChangeGuestError::NotChangeable(state) | ChangeGuestError::Stale(_, state) => {
            let detail = "Only of a stay that is CONFIRMED or CHECKED_IN the guest can be changed.";
            let state = keyrack_api_types::reservation::ReservationState::from(state);
            Problem::new(Code::Conflict, detail).fact("state", state)
        }
        ChangeGuestError::Key(refused) => refusal::key(refused),
        ChangeGuestError::Fault(fault) => refusal::fault(fault),
    }
}
