use actix_web::{HttpResponse, http::StatusCode, post, web};
use keyrack_api_types::{
    code::Code,
    ops::{CloseFindingRequest, OpsSettlementFinding},
};
use keyrack_booking::{
    Desk,
    close_finding::{self, CloseFindingError},
};
use keyrack_domain::ids::FindingId;
use keyrack_http::{Json, Key, Path, Problem, Signed};

use super::findings::finding;
use crate::{refusal, reply};

/// Close a finding that somebody has looked at, with a note of what came of it. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "close_settlement_finding",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = CloseFindingRequest,
    responses(
        (status = 200, body = OpsSettlementFinding),
        (status = 404, description = "NOT_FOUND: no such finding, or not for you"),
        (status = 409, description = "CONFLICT: it is not open"),
        (status = 422, description = "INVALID, IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/ops/settlement-findings/{id}/close")]
pub(crate) async fn close(
    Signed(caller): Signed,
    Path(id): Path<FindingId>,
    Key(key): Key,
    desk: web::Data<Desk>,
    Json(body): Json<CloseFindingRequest>,
) -> Result<HttpResponse, Problem> {
    let closed = close_finding::run(&desk, &caller, id, body.note, key).await.map_err(refused)?;
    Ok(reply::written(StatusCode::OK, closed.replayed).json(finding(closed.answer)))
}

fn refused(error: CloseFindingError) -> Problem {
    match error {
        CloseFindingError::NotFound => Problem::not_found(),
        CloseFindingError::Invalid(errors) => refusal::invalid(errors),
        CloseFindingError::NotOpen(state) => {
            Problem::new(Code::Conflict, "The finding is not open.").fact("state", state.as_str())
        }
        CloseFindingError::Key(refused) => refusal::key(refused),
        CloseFindingError::Fault(fault) => refusal::fault(fault),
    }
}
