use actix_web::{HttpResponse, http::StatusCode, post, web};
use keyrack_api_types::pms::{PmsConflict, PmsResolve};
use keyrack_booking::{Desk, pms_conflicts};
use keyrack_domain::{code::HotelCode, ids::ConflictId};
use keyrack_http::{Json, Key, Path, Problem, Signed};

use super::refused;
use crate::{reply, wire};

/// Decide what holds: what is committed, what was there before, or what the hotel's system reported.
#[utoipa::path(
    tag = "hotel systems",
    operation_id = "resolve_pms_conflict",
    params(
        ("hotel" = String, Path),
        ("id" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = PmsResolve,
    responses(
        (status = 200, body = PmsConflict),
        (status = 404, description = "NOT_FOUND"),
        (status = 409, description = "CONFLICT with its `state`: it has ended already; OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/hotels/{hotel}/pms/conflicts/{id}/resolve")]
pub(crate) async fn resolve(
    Signed(caller): Signed,
    Path((hotel, id)): Path<(HotelCode, ConflictId)>,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(PmsResolve { action }): Json<PmsResolve>,
) -> Result<HttpResponse, Problem> {
    let resolving = pms_conflicts::resolve(&desk, &caller, &hotel, id, action.into(), key);
    let resolved = resolving.await.map_err(refused::conflict)?;
    Ok(reply::written(StatusCode::OK, resolved.replayed).json(wire::pms_conflict(resolved.answer)))
}
