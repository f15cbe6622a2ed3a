use actix_web::{HttpResponse, post, web};
use keyrack_api_types::front_desk::{CheckOutRequest, StayStep};
use keyrack_booking::{
    Desk,
    front_desk::{StepRequest, operation::Step},
};
use keyrack_domain::{code::HotelCode, ids::ReservationId};
use keyrack_http::{Key, MayJson, MayMatch, Path, Problem, Signed};

use super::step::run;

/// The guest leaves. With a date it is an early departure, and the nights from it on can be sold again.
#[utoipa::path(
    tag = "front desk",
    operation_id = "check_out",
    params(
        ("hotel" = String, Path),
        ("id" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The version that was last seen; left out: whatever it is"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = CheckOutRequest,
    responses(
        (status = 200, body = StayStep, headers(("ETag" = String, description = "The version after it, quoted"))),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "CONFLICT, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 412, description = "VERSION_CONFLICT"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/hotels/{hotel}/reservations/{id}/check-out")]
pub(crate) async fn check_out(
    Signed(caller): Signed,
    Path((hotel, reservation)): Path<(HotelCode, ReservationId)>,
    Key(key): Key,
    MayMatch(if_match): MayMatch,
    desk: web::Data<Desk>,
    MayJson(body): MayJson<CheckOutRequest>,
) -> Result<HttpResponse, Problem> {
    let step = Step::CheckOut(body.check_out.map(|date| date.0));
    run(&desk, &caller, StepRequest { hotel, reservation, step, if_match, key }).await
}
