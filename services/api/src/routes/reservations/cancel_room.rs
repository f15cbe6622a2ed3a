use actix_web::{HttpResponse, post, web};
use keyrack_api_types::cancellation::Cancellation;
use keyrack_booking::{
    Desk,
    cancel::{Cancel, price::Wanted},
};
use keyrack_domain::ids::ReservationId;
use keyrack_http::{IfMatch, Key, Path, Problem, Signed};

use super::cancel::run;

/// Cancel one room. The others stay as they are; with the last one the reservation is CANCELLED.
#[utoipa::path(
    tag = "reservations",
    operation_id = "cancel_room",
    params(
        ("id" = String, Path),
        ("room" = i16, Path, description = "Its place in the reservation, from 1"),
        ("If-Match" = String, Header, description = "The version that was last seen"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, body = Cancellation, headers(("ETag" = String, description = "The version after it, quoted"))),
        (status = 404, description = "NOT_FOUND: no such reservation or room"),
        (status = 409, description = "CONFLICT, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 412, description = "VERSION_CONFLICT, with the reservation as it is"),
        (status = 422, description = "IDEMPOTENCY_KEY_REUSED"),
        (status = 428, description = "PRECONDITION_REQUIRED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/reservations/{id}/rooms/{room}/cancel")]
pub(crate) async fn cancel_room(
    Signed(caller): Signed,
    Path((id, room)): Path<(ReservationId, i16)>,
    Key(key): Key,
    IfMatch(if_match): IfMatch,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    run(&desk, &caller, Cancel { reservation: id, wanted: Wanted::Room(room), if_match, key }).await
}
