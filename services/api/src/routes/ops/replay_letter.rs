use actix_web::{HttpResponse, post, web};
use keyrack_api_types::{code::Code, ops::LetterResolved};
use keyrack_booking::{
    Desk,
    consume::{self, LetterError, Resolution},
};
use keyrack_domain::ids::LetterId;
use keyrack_http::{Key, Path, Problem, Signed};

use crate::refusal;

/// Act again on an event that was put aside, on those before it in its line and on those behind it. What was acted on
/// is not acted on again, whatever the key. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "replay_dead_letter",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, body = LetterResolved),
        (status = 404, description = "NOT_FOUND: no such letter, or not for you"),
        (status = 409, description = "CONFLICT: one of them fails again, or this one was given up"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/ops/dead-letters/{id}/replay")]
pub(crate) async fn replay(
    Signed(caller): Signed,
    Path(id): Path<LetterId>,
    _key: Key,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    consume::replay(&desk, &caller, &consume::consumers(&desk), id).await.map_err(refused)?;
    Ok(resolved(id, Resolution::Replayed))
}

pub(super) fn resolved(id: LetterId, resolution: Resolution) -> HttpResponse {
    HttpResponse::Ok().json(LetterResolved { id, state: resolution.as_str().to_owned() })
}

pub(super) fn refused(error: LetterError) -> Problem {
    match error {
        LetterError::NotFound => Problem::not_found(),
        LetterError::FailsAgain { first, why } => {
            Problem::new(Code::Conflict, "The event cannot be acted on as it is.")
                .fact("letter_id", first)
                .fact("why", why)
        }
        LetterError::Resolved(resolution) => Problem::new(Code::Conflict, "The letter was resolved already.")
            .fact("state", resolution.as_str()),
        LetterError::Fault(fault) => refusal::fault(fault),
    }
}
