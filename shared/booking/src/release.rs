//! Giving a hold up: `DELETE /v1/holds/{id}`.

pub mod operation;

use keyrack_domain::{
    actor::Actor,
    ids::{AttemptId, HoldId},
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
};

use self::operation::{ReleaseAnswer, ReleaseOp};
use crate::{Answered, Desk, Fault, KeyRefusal, drift, key, views::HoldView};

#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    #[error("no such hold")]
    NotFound,
    /// 409 `HOLD_NOT_ACTIVE`: a reservation took it over. (A hold released or expired before answers with itself.)
    #[error("the hold became a reservation")]
    Consumed,
    #[error("the hold is being paid for")]
    AttemptInProgress(AttemptId),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub const ENDPOINT: Endpoint = Endpoint("DELETE /v1/holds/{id}");

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    hold: HoldId,
    key: OperationKey,
) -> Result<Answered<HoldView>, ReleaseError> {
    let Some(hotel) = desk.hotel_of(hold.hotel()).await? else { return Err(ReleaseError::NotFound) };
    let operation = ReleaseOp {
        hotel: hotel.as_ref().clone(),
        claim: key::claim(hotel.id, caller.principal, ENDPOINT, key, key::fingerprint(ENDPOINT, &hold)?),
        actor: Actor::Caller(caller.clone()),
        principal: caller.principal,
        hold,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        ReleaseAnswer::Ended(view) => Ok(Answered { answer: view, replayed }),
        ReleaseAnswer::NotFound => Err(ReleaseError::NotFound),
        ReleaseAnswer::Consumed => Err(ReleaseError::Consumed),
        ReleaseAnswer::AttemptInProgress(attempt) => Err(ReleaseError::AttemptInProgress(attempt)),
        ReleaseAnswer::Drift(night) => Err(drift::fault(hold, night).into()),
    }
}
