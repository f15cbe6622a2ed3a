use actix_web::{HttpResponse, http::StatusCode, post, web};
use keyrack_api_types::{cancellation::Cancellation, code::Code, reservation::ReservationState};
use keyrack_booking::{
    Answered, Desk,
    cancel::{self, Cancel, CancelError, price::Wanted},
};
use keyrack_domain::{ids::ReservationId, principal::Caller};
use keyrack_http::{IfMatch, Key, Path, Problem, Signed, etag};

use crate::{refusal, reply, wire};

/// Cancel all rooms that stand. The fee is that of the policy that was sold, by the hotel's clock; the rest
/// goes back.
#[utoipa::path(
    tag = "reservations",
    operation_id = "cancel_reservation",
    params(
        ("id" = String, Path),
        ("If-Match" = String, Header, description = "The version that was last seen"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, body = Cancellation, headers(("ETag" = String, description = "The version after it, quoted"))),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "CONFLICT, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 412, description = "VERSION_CONFLICT, with the reservation as it is"),
        (status = 422, description = "IDEMPOTENCY_KEY_REUSED"),
        (status = 428, description = "PRECONDITION_REQUIRED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/reservations/{id}/cancel")]
pub(crate) async fn cancel_reservation(
    Signed(caller): Signed,
    Path(id): Path<ReservationId>,
    Key(key): Key,
    IfMatch(if_match): IfMatch,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    run(&desk, &caller, Cancel { reservation: id, wanted: Wanted::Whole, if_match, key }).await
}

pub(super) async fn run(desk: &Desk, caller: &Caller, request: Cancel) -> Result<HttpResponse, Problem> {
    let id = request.reservation;
    match cancel::run(desk, caller, request).await {
        Ok(Answered { answer, replayed }) => {
            let mut response = reply::written(StatusCode::OK, replayed);
            Ok(response.insert_header(etag(answer.version)).json(wire::cancellation(answer)))
        }
        Err(CancelError::Stale(version, _)) => stale(desk, caller, id, version).await,
        Err(error) => Err(refused(error)),
    }
}

/// Whoever decides again needs the present state, so it comes along.
pub(crate) async fn stale(
    desk: &Desk,
    caller: &Caller,
    id: ReservationId,
    version: i32,
) -> Result<HttpResponse, Problem> {
    let found = keyrack_booking::reservations::find(desk, caller, id).await.map_err(refusal::fault)?;
    let view = found.ok_or_else(Problem::not_found)?;
    let (name, tag) = etag(view.version);
    let tag = tag.parse().map_err(Problem::internal)?;
    let detail =
        format!("The reservation is at version {version}. Look at it as it is now, and decide again.");
    let current = wire::reservation(desk, view).await?;
    Err(Problem::new(Code::VersionConflict, detail).fact("current", current).header(name, tag))
}

fn refused(error: CancelError) -> Problem {
    match error {
        CancelError::NotFound => Problem::not_found(),
        CancelError::NotConfirmed(state) | CancelError::Stale(_, state) => Problem::new(
            Code::Conflict,
            "Only a reservation that is CONFIRMED can be cancelled, to the day of arrival.",
        )
        .fact("state", ReservationState::from(state)),
        CancelError::Key(refused) => refusal::key(refused),
        CancelError::Fault(fault) => refusal::fault(fault),
    }
}
