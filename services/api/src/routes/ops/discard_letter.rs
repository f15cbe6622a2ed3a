use actix_web::{HttpResponse, post, web};
use keyrack_api_types::ops::LetterResolved;
use keyrack_booking::{
    Desk,
    consume::{self, Resolution},
};
use keyrack_domain::ids::LetterId;
use keyrack_http::{Key, Path, Problem, Signed};

use super::replay_letter::{refused, resolved};

/// Give an event up on which its handler cannot act: it has no effect there. What waits behind it can be replayed
/// then. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "discard_dead_letter",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, body = LetterResolved),
        (status = 404, description = "NOT_FOUND: no such letter, or not for you"),
        (status = 409, description = "CONFLICT: it was acted on already"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/ops/dead-letters/{id}/discard")]
pub(crate) async fn discard(
    Signed(caller): Signed,
    Path(id): Path<LetterId>,
    _key: Key,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    consume::discard(&desk, &caller, id).await.map_err(refused)?;
    Ok(resolved(id, Resolution::Discarded))
}
