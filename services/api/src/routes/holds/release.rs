use actix_web::{HttpResponse, delete, http::StatusCode, web};
use keyrack_api_types::hold::Hold;
use keyrack_booking::{
    Desk,
    release::{self, ReleaseError},
};
use keyrack_domain::{hold::HoldState, ids::HoldId};
use keyrack_http::{Key, Path, Problem, Signed};

use crate::{refusal, reply, wire};

/// Give a hold up. Its units are free at once; a repeat gives the same answer.
#[utoipa::path(
    tag = "holds",
    operation_id = "release_hold",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, description = "As it ended: RELEASED, or EXPIRED before", body = Hold),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "HOLD_NOT_ACTIVE, ATTEMPT_IN_PROGRESS, OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[delete("/v1/holds/{id}")]
pub(crate) async fn release_hold(
    Signed(caller): Signed,
    Path(id): Path<HoldId>,
    Key(key): Key,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let ended = release::run(&desk, &caller, id, key).await.map_err(refused)?;
    Ok(reply::written(StatusCode::OK, ended.replayed).json(wire::hold(ended.answer)))
}

fn refused(error: ReleaseError) -> Problem {
    match error {
        ReleaseError::NotFound => Problem::not_found(),
        ReleaseError::Consumed => {
            refusal::hold_not_active(HoldState::Consumed, "The hold has become a reservation.")
        }
        ReleaseError::AttemptInProgress(attempt) => refusal::attempt_in_progress(attempt),
        ReleaseError::Key(refused) => refusal::key(refused),
        ReleaseError::Fault(fault) => refusal::fault(fault),
    }
}
