use actix_web::{HttpResponse, post, web};
use keyrack_api_types::{
    front_desk::{RefundRequest, RefundRequested},
    problem::FieldError,
};
use keyrack_booking::{
    Desk,
    staff_refund::{self, StaffRefund, StaffRefundError},
};
use keyrack_domain::{code::HotelCode, ids::ReservationId};
use keyrack_http::{Json, Key, Path, Problem, Signed};

use crate::{refusal, reply, wire};

/// Give money back that no rule asks for, with a reason. The reservation stays as it is.
#[utoipa::path(
    tag = "front desk",
    operation_id = "refund_reservation",
    params(
        ("hotel" = String, Path),
        ("id" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = RefundRequest,
    responses(
        (status = 201, body = RefundRequested),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/hotels/{hotel}/reservations/{id}/refunds")]
pub(crate) async fn refund(
    Signed(caller): Signed,
    Path((hotel, reservation)): Path<(HotelCode, ReservationId)>,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<RefundRequest>,
) -> Result<HttpResponse, Problem> {
    let RefundRequest { amount, reason } = body;
    let request = StaffRefund { hotel, reservation, amount, reason, key };
    let made = staff_refund::run(&desk, &caller, request).await.map_err(refused)?;
    let place = wire::reservation_path(reservation);
    let body = RefundRequested { reservation_id: reservation, refund: wire::refund(&made.answer) };
    Ok(reply::created(place, made.replayed).json(body))
}

fn refused(error: StaffRefundError) -> Problem {
    match error {
        StaffRefundError::NotFound => Problem::not_found(),
        StaffRefundError::Invalid(errors) => refusal::invalid(errors),
        StaffRefundError::TooMuch(left) => {
            let detail = format!("at most {left} of the payment has not been given back");
            Problem::invalid(vec![FieldError {
                pointer: "/amount".to_owned(),
                code: "TOO_LARGE".into(),
                detail,
            }])
        }
        StaffRefundError::Key(refused) => refusal::key(refused),
        StaffRefundError::Fault(fault) => refusal::fault(fault),
    }
}
