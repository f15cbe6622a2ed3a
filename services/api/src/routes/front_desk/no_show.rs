use actix_web::{HttpResponse, post, web};
use keyrack_api_types::front_desk::StayStep;
use keyrack_booking::{
    Desk,
    front_desk::{StepRequest, operation::Step},
};
use keyrack_domain::{code::HotelCode, ids::ReservationId};
use keyrack_http::{Key, MayMatch, Path, Problem, Signed};

use super::step::run;

/// The guest did not come: from the arrival's midnight on. The nights still to come can be sold again.
#[utoipa::path(
    tag = "front desk",
    operation_id = "mark_no_show",
    params(
        ("hotel" = String, Path),
        ("id" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The version that was last seen; left out: whatever it is"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, body = StayStep, headers(("ETag" = String, description = "The version after it, quoted"))),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "CONFLICT, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 412, description = "VERSION_CONFLICT"),
        (status = 422, description = "IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/hotels/{hotel}/reservations/{id}/no-show")]
pub(crate) async fn no_show(
    Signed(caller): Signed,
    Path((hotel, reservation)): Path<(HotelCode, ReservationId)>,
    Key(key): Key,
    MayMatch(if_match): MayMatch,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let step = Step::NoShow;
    run(&desk, &caller, StepRequest { hotel, reservation, step, if_match, key }).await
}
