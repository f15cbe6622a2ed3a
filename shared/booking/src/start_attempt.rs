//! T2 and what follows: `POST /v1/bookings`.

pub mod operation;

use keyrack_domain::{
    actor::Actor,
    clock::Moment,
    guest::Guest,
    hold::HoldState,
    hotel::HotelRef,
    ids::{AttemptId, HoldId},
    method_token::MethodToken,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
};
use keyrack_ledger::{KeyClaim, KeyHome};
use keyrack_store::holds;

use self::operation::{AttemptAnswer, StartAttemptOp};
use crate::{
    Answered, Desk, Fault, KeyRefusal, bookings, entropy, key, pay::pay, replays, views::BookingView,
};

#[derive(Clone, Debug)]
pub struct StartAttempt {
    pub hold: HoldId,
    pub method: MethodToken,
    pub guest: Guest,
    pub key: OperationKey,
}

#[derive(Debug, thiserror::Error)]
pub enum StartAttemptError {
    #[error("no such hold")]
    HoldNotFound,
    #[error("the hold ended at {0}")]
    HoldExpired(Moment),
    #[error("the hold is {0:?}")]
    HoldNotActive(HoldState),
    #[error("another attempt to pay for this hold is open")]
    AttemptInProgress(AttemptId),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub const ENDPOINT: Endpoint = Endpoint::BOOK;

/// The booking's standing when the provider has answered, or when its deadline has run out.
/// The work goes on when the caller goes away.
pub async fn run(
    desk: &Desk,
    caller: &Caller,
    request: StartAttempt,
) -> Result<Answered<BookingView>, StartAttemptError> {
    let work = drive(desk.clone(), caller.clone(), request);
    desk.go_on(work).await.map_err(Fault::internal)?
}

async fn drive(
    desk: Desk,
    caller: Caller,
    request: StartAttempt,
) -> Result<Answered<BookingView>, StartAttemptError> {
    let Some(hotel) = desk.hotel_of(request.hold.hotel()).await? else {
        return Err(StartAttemptError::HoldNotFound);
    };
    let operation = operation(&desk, &hotel, &caller, request).await?;
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        AttemptAnswer::Opened(attempt) => {
            if replayed {
                replays::of_attempt(&desk, &hotel, caller, attempt.id, attempt.state).await;
            } else if let Err(fault) = pay(&desk, &hotel, &attempt, Actor::Caller(caller)).await {
                // The attempt is open and money may have been taken: no error would be true. Its standing
                // is told, and the sweep ends it.
                tracing::warn!(attempt = %attempt.id, error = %fault, "the outcome is not written down yet");
            }
            let answer = bookings::view(&desk, &hotel, attempt.id).await?;
            Ok(Answered { answer, replayed })
        }
        AttemptAnswer::HoldNotFound => Err(StartAttemptError::HoldNotFound),
        AttemptAnswer::HoldExpired(at) => Err(StartAttemptError::HoldExpired(at)),
        AttemptAnswer::HoldNotActive(state) => Err(StartAttemptError::HoldNotActive(state)),
        AttemptAnswer::AttemptInProgress(attempt) => Err(StartAttemptError::AttemptInProgress(attempt)),
    }
}

/// The amount is part of what the key stands for. It is the hold's and never changes, so it may be read
/// before the transaction.
async fn operation(
    desk: &Desk,
    hotel: &HotelRef,
    caller: &Caller,
    request: StartAttempt,
) -> Result<StartAttemptOp, StartAttemptError> {
    let mut connection = desk.hotels().database(hotel)?.connection().await.map_err(Fault::from)?;
    let hold = holds::read(&mut connection, [&request.hold]).await.map_err(Fault::from)?.pop();
    let Some(hold) = hold.filter(|hold| hold.principal == caller.principal) else {
        return Err(StartAttemptError::HoldNotFound);
    };
    let input = (request.hold, hold.total, request.method.expose(), &request.guest);
    let fingerprint = key::fingerprint(ENDPOINT, &input)?;
    let claim = key::claim(hotel.id, caller.principal, ENDPOINT, request.key, fingerprint);
    Ok(StartAttemptOp {
        claim: KeyClaim { home: KeyHome::Attempts, ..claim },
        actor: Actor::Caller(caller.clone()),
        principal: caller.principal,
        hold: request.hold,
        attempt: AttemptId::new(hotel.id, entropy::id()),
        method: request.method,
        guest: request.guest,
        auth_timeout: desk.settings().auth_timeout,
    })
}
