//! An operator sends a refund again that had been refused too often: `POST /v1/ops/refunds/{id}/retry`.

use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor,
    ids::RefundId,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    refund::RefundState,
};
use keyrack_payments::Reference;
use keyrack_store::{attempts, audit::NewAudit, clock, payment_history, refunds};
use serde::{Deserialize, Serialize};

use crate::{
    Answered, Desk, Fault, KeyRefusal,
    ended::Ended,
    give_up_booking::reference_of,
    key_claim::{self, Call, Done},
    ops::must_operate,
};

const ENDPOINT: Endpoint = Endpoint("POST /v1/ops/refunds/{id}/retry");

/// As it stands after the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Retried {
    pub id: RefundId,
    pub state: RefundState,
    pub try_number: i32,
}

#[derive(Debug, thiserror::Error)]
pub enum RetryRefundError {
    /// Also for everybody but operators.
    #[error("no such refund")]
    NotFound,
    #[error("the refund does not wait for an operator: it is {0:?}")]
    NotWaiting(RefundState),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    id: RefundId,
    key: OperationKey,
) -> Result<Answered<Retried>, RetryRefundError> {
    must_operate(caller).map_err(|_| RetryRefundError::NotFound)?;
    let hotel = desk.hotel_of(id.hotel()).await?.ok_or(RetryRefundError::NotFound)?;
    let call = Call::new(desk.hotels(), hotel.id, caller, ENDPOINT, key, &id)?;
    let caller = caller.clone();
    key_claim::once(desk.hotels().database(&hotel)?, "retry_refund", call, move |connection| {
        let caller = caller.clone();
        Box::pin(async move { again(connection, id, caller).await })
    })
    .await
}

async fn again(
    connection: &mut keyrack_db::PgConnection,
    id: RefundId,
    caller: Caller,
) -> Result<Done<Retried>, Ended<RetryRefundError>> {
    let not_found = || Ended::Refused(RetryRefundError::NotFound);
    let attempt = refunds::attempt_of(connection, id).await?.ok_or_else(not_found)?;
    attempts::lock(connection, [&attempt]).await?;
    let known = refunds::lock_of_attempt(connection, attempt).await?;
    let refund = known.into_iter().map(|known| known.row).find(|row| row.id == id).ok_or_else(not_found)?;
    if refund.state != RefundState::NeedsAttention {
        return Err(Ended::Refused(RetryRefundError::NotWaiting(refund.state)));
    }
    let name = reference_of(&refund).ok_or_else(|| DbError::unreadable("refund number", &refund.number))?;
    // A new name is a new payment back: only after a definite failure of the present one.
    let has_failed =
        payment_history::has_failed(connection, attempt, &Reference::from(name).to_string()).await?;
    let try_number = refund.try_number + i32::from(has_failed);
    let now = clock::now(connection).await?;
    refunds::request_again(connection, id, try_number, now).await?;
    let audit = NewAudit {
        hotel: id.hotel(),
        actor: Actor::Caller(caller),
        action: "refund.retried",
        subject: id.to_string(),
        before: Some(serde_json::json!({ "state": refund.state, "try": refund.try_number })),
        after: Some(serde_json::json!({ "state": RefundState::Requested, "try": try_number })),
    };
    let answer = Retried { id, state: RefundState::Requested, try_number };
    Ok(Done { answer, audit: vec![audit], events: Vec::new() })
}
