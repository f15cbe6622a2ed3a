use actix_web::{HttpResponse, http::StatusCode, post, web};
use keyrack_api_types::{
    code::Code,
    schedule::{ChargeState, ReservationCharge},
};
use keyrack_booking::{
    Desk,
    paid_at_desk::{self, PaidAtDesk, PaidAtDeskError},
};
use keyrack_domain::{code::HotelCode, ids::ReservationId};
use keyrack_http::{Key, Path, Problem, Signed};

use crate::{refusal, reply, wire};

/// The hotel has taken the money for a charge itself, at the desk. On its staff's word; nothing is collected any
/// more.
#[utoipa::path(
    tag = "front desk",
    operation_id = "charge_paid_at_desk",
    params(
        ("hotel" = String, Path),
        ("id" = String, Path),
        ("number" = i16, Path, description = "The charge's place in the reservation's schedule, from 1"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, body = ReservationCharge),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "CONFLICT, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/hotels/{hotel}/reservations/{id}/charges/{number}/paid")]
pub(crate) async fn charge_paid(
    Signed(caller): Signed,
    Path((hotel, reservation, number)): Path<(HotelCode, ReservationId, i16)>,
    Key(key): Key,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let at = desk.hotels().by_code(&hotel).await.map_err(refusal::no_hotel)?;
    let request = PaidAtDesk { hotel, reservation, number, key };
    let paid = paid_at_desk::run(&desk, &caller, request).await.map_err(refused)?;
    Ok(reply::written(StatusCode::OK, paid.replayed).json(wire::charge(&paid.answer, &at)))
}

fn refused(error: PaidAtDeskError) -> Problem {
    match error {
        PaidAtDeskError::NotFound => Problem::not_found(),
        PaidAtDeskError::NotOwed(state) => {
            Problem::new(Code::Conflict, "The charge is not owed.").fact("state", ChargeState::from(state))
        }
        PaidAtDeskError::InProgress(attempt) => {
            let detail = "The charge is being collected from the guest's payment method. Look again soon.";
            Problem::new(Code::Conflict, detail).fact("attempt_id", attempt)
        }
        PaidAtDeskError::Key(refused) => refusal::key(refused),
        PaidAtDeskError::Fault(fault) => refusal::fault(fault),
    }
}
