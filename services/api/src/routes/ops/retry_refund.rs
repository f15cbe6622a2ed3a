use actix_web::{HttpResponse, http::StatusCode, post, web};
use keyrack_api_types::{code::Code, ops::RefundRetried};
use keyrack_booking::{
    Desk,
    retry_refund::{self, Retried, RetryRefundError},
};
use keyrack_domain::ids::RefundId;
use keyrack_http::{Key, Path, Problem, Signed};

use crate::{refusal, reply};

/// Send a refund again that waits for an operator: under a new name where the present one has failed, and else
/// under the same. For operators.
#[utoipa::path(
    tag = "operators",
    operation_id = "retry_refund",
    params(
        ("id" = String, Path),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, body = RefundRetried),
        (status = 404, description = "NOT_FOUND: no such refund, or not for you"),
        (status = 409, description = "CONFLICT: it does not wait for an operator; OPERATION_IN_PROGRESS, IDEMPOTENCY_KEY_EXPIRED"),
        (status = 422, description = "IDEMPOTENCY_KEY_REUSED"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[post("/v1/ops/refunds/{id}/retry")]
pub(crate) async fn retry(
    Signed(caller): Signed,
    Path(id): Path<RefundId>,
    Key(key): Key,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let made = retry_refund::run(&desk, &caller, id, key).await.map_err(refused)?;
    let Retried { id, state, try_number } = made.answer;
    let body = RefundRetried { id, state: state.into(), r#try: try_number };
    Ok(reply::written(StatusCode::OK, made.replayed).json(body))
}

fn refused(error: RetryRefundError) -> Problem {
    match error {
        RetryRefundError::NotFound => Problem::not_found(),
        RetryRefundError::NotWaiting(state) => {
            Problem::new(Code::Conflict, "The refund does not wait for an operator.")
                .fact("state", keyrack_api_types::booking::RefundState::from(state))
        }
        RetryRefundError::Key(refused) => refusal::key(refused),
        RetryRefundError::Fault(fault) => refusal::fault(fault),
    }
}
