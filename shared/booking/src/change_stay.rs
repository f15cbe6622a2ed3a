//! Changing a stay: `POST /v1/reservations/{id}/changes` prices it and claims nothing,
//! `POST .../changes/{change}/confirm` carries it out.
//!
//! Where nothing is owed the stay is replaced in one transaction. Else what the new stay adds is held and an
//! attempt of purpose `change` is opened, the provider is asked, and the confirmation of that attempt replaces
//! the stay (`swap.rs`). Until then the reservation is what it was; a failure at any point leaves it so.

pub(crate) mod end;
pub mod price;
pub mod priced;
pub mod start;
pub(crate) mod swap;

use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    change::ChangeState,
    clock::Moment,
    code::RoomTypeCode,
    hotel::HotelRef,
    ids::{AttemptId, ChangeId, HoldId, RefundId, ReservationId},
    method_token::MethodToken,
    money::Money,
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
    reservation::ReservationState,
    restriction::Violation,
};
use keyrack_ledger::AttemptRow;
use keyrack_store::{attempts, changes, refunds, reservations};

use self::start::{StartChangeAnswer, StartChangeOp, Started};
use crate::{
    Answered, Desk, Fault, KeyRefusal, drift, entropy, key,
    pay::pay,
    place_hold::operation::Short,
    replays::{self, Replay},
    views::{ChangeView, RefundView},
};

#[derive(Clone, Debug)]
pub struct ConfirmChange {
    pub reservation: ReservationId,
    pub change: ChangeId,
    /// How the difference is paid, where one is owed.
    pub method: Option<MethodToken>,
    pub if_match: i32,
    pub key: OperationKey,
}

/// How a confirmation stands; told from its attempt where it had to be paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// 200
    Changed(ChangeView),
    /// 202: the provider's answer is not known yet.
    Pending { change: ChangeView, attempt: AttemptId, deadline: Moment },
    /// 402: nothing was taken, and the change may be confirmed with another card while it is valid.
    Declined { change: ChangeView, attempt: AttemptId, reason: String },
    /// 409: paid, and the stay could not be changed; the money is on its way back.
    Failed { change: ChangeView, refund: RefundView },
}

#[derive(Debug, thiserror::Error)]
pub enum ConfirmChangeError {
    /// Also what belongs to somebody else.
    #[error("no such reservation or change")]
    NotFound,
    #[error("the reservation is at version {0}")]
    Stale(i32, ReservationState),
    #[error("the reservation is {0:?}")]
    NotChangeable(ReservationState),
    #[error("the price was promised until {0}")]
    Expired(Moment),
    /// It was carried out, or is being carried out, under another key.
    #[error("the change is {0:?}")]
    NotPriced(ChangeState),
    #[error("another change of this reservation is being paid for")]
    InProgress(ChangeId),
    #[error("a difference is owed and nothing says how it is paid")]
    PaymentRequired(Money),
    #[error("a restriction is in the way")]
    Restricted(Vec<Violation<RoomTypeCode>>),
    #[error("sold out")]
    SoldOut { short: Vec<Short>, room_types: Vec<RoomTypeCode> },
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub const ENDPOINT: Endpoint = Endpoint::CONFIRM_CHANGE;

/// The work goes on when the caller goes away.
pub async fn confirm(
    desk: &Desk,
    caller: &Caller,
    request: ConfirmChange,
) -> Result<Answered<Confirmed>, ConfirmChangeError> {
    let work = drive(desk.clone(), caller.clone(), request);
    desk.go_on(work).await.map_err(Fault::internal)?
}

async fn drive(
    desk: Desk,
    caller: Caller,
    request: ConfirmChange,
) -> Result<Answered<Confirmed>, ConfirmChangeError> {
    let ConfirmChange { reservation, change, method, if_match, key } = request;
    let Some(hotel) = desk.hotel_of(reservation.hotel()).await? else {
        return Err(ConfirmChangeError::NotFound);
    };
    let input = (reservation, change, method.as_ref().map(MethodToken::expose), if_match);
    let fingerprint = key::fingerprint(ENDPOINT, &input)?;
    let operation = StartChangeOp {
        hotel: hotel.as_ref().clone(),
        claim: key::claim(hotel.id, caller.principal, ENDPOINT, key, fingerprint),
        caller: caller.clone(),
        reservation,
        change,
        method,
        if_match,
        hold: HoldId::new(hotel.id, entropy::id()),
        attempt: AttemptId::new(hotel.id, entropy::id()),
        refunds: RefundId::new(hotel.id, entropy::id()),
        auth_timeout: desk.settings().auth_timeout,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    let started = match answer {
        StartChangeAnswer::Started(started) => started,
        refused => return Err(refusal(reservation, refused)),
    };
    match started.attempt {
        _ if replayed => note_repeat(&desk, &hotel, caller, &started).await?,
        Some(attempt) => ask(&desk, &hotel, attempt, caller).await?,
        None => {}
    }
    let answer = standing(&desk, &hotel, started).await?;
    Ok(Answered { answer, replayed })
}

async fn note_repeat(desk: &Desk, hotel: &HotelRef, caller: Caller, started: &Started) -> Result<(), Fault> {
    if let Some(attempt) = started.attempt {
        let row = paying(desk, hotel, attempt).await?;
        replays::of_attempt(desk, hotel, caller, attempt, row.state).await;
        return Ok(());
    }
    let told = serde_json::json!({ "state": started.change.state, "picked_up": "the_changed_stay" });
    let (action, subject) = ("change.replayed", started.change.id.to_string());
    replays::note(desk, hotel, caller, Replay { action, subject, told }).await;
    Ok(())
}

async fn paying(desk: &Desk, hotel: &HotelRef, attempt: AttemptId) -> Result<AttemptRow, Fault> {
    let mut connection = desk.hotels().database(hotel)?.connection().await?;
    let row = attempts::read(&mut connection, [&attempt]).await?.pop();
    row.ok_or_else(|| Fault::internal(Gone(attempt)))
}

async fn ask(desk: &Desk, hotel: &HotelRef, attempt: AttemptId, caller: Caller) -> Result<(), Fault> {
    let row = paying(desk, hotel, attempt).await?;
    if let Err(fault) = pay(desk, hotel, &row, Actor::Caller(caller)).await {
        // Money may have been taken: no error would be true. The standing is told, and the sweep ends it.
        tracing::warn!(%attempt, error = %fault, "the outcome is not written down yet");
    }
    Ok(())
}

/// Attempts and changes are kept for ever.
#[derive(Debug, thiserror::Error)]
#[error("attempt {0} or its change is gone")]
struct Gone(AttemptId);

#[derive(Debug, thiserror::Error)]
#[error("change {0} is gone")]
struct NoChange(ChangeId);

/// Of this confirmation, whatever later ones have made of the change.
async fn standing(desk: &Desk, hotel: &HotelRef, started: Started) -> Result<Confirmed, Fault> {
    let Some(attempt) = started.attempt else { return Ok(Confirmed::Changed(started.change)) };
    let mut connection = desk.hotels().database(hotel)?.connection().await?;
    let row = attempts::read(&mut connection, [&attempt]).await?.pop();
    let row = row.ok_or_else(|| Fault::internal(Gone(attempt)))?;
    let id = started.change.id;
    let change = changes::read(&mut connection, [&id]).await?.pop();
    let change = ChangeView::of(&change.ok_or_else(|| Fault::internal(NoChange(id)))?, started.change.stay);
    Ok(match row.state {
        AttemptState::PendingPayment | AttemptState::Reconciling => {
            Confirmed::Pending { change, attempt, deadline: row.deadline_at }
        }
        AttemptState::Confirmed => Confirmed::Changed(change),
        AttemptState::Failed => {
            Confirmed::Declined { change, attempt, reason: row.failure.unwrap_or_default() }
        }
        AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
            let refund = refunds::of_attempts(&mut connection, [&attempt]).await?.pop();
            let refund = refund.ok_or_else(|| Fault::internal(Gone(attempt)))?;
            Confirmed::Failed { change, refund: RefundView::of(&refund) }
        }
    })
}

/// Its reservation's guest's, or staff's.
pub async fn find(
    desk: &Desk,
    caller: &Caller,
    reservation: ReservationId,
    id: ChangeId,
) -> Result<Option<ChangeView>, Fault> {
    let Some(hotel) = desk.hotel_of(id.hotel()).await? else { return Ok(None) };
    let mut connection = desk.hotels().database(&hotel)?.connection().await?;
    let row = changes::read(&mut connection, [&id]).await?.pop();
    let Some(row) = row.filter(|row| row.reservation == reservation) else { return Ok(None) };
    let owner = reservations::find(&mut connection, reservation).await?;
    if !owner.is_some_and(|owner| owner.principal == caller.principal || caller.runs(hotel.id)) {
        return Ok(None);
    }
    let quote = keyrack_store::quotes::read(&mut connection, [&row.quote]).await?.pop();
    let quote = quote.ok_or_else(|| Fault::internal(NoChange(id)))?;
    Ok(Some(ChangeView::of(&row, quote.document.stay)))
}

fn refusal(reservation: ReservationId, answer: StartChangeAnswer) -> ConfirmChangeError {
    use ConfirmChangeError as Error;
    match answer {
        StartChangeAnswer::Started(_) | StartChangeAnswer::NotFound => Error::NotFound,
        StartChangeAnswer::Stale(version, state) => Error::Stale(version, state),
        StartChangeAnswer::NotChangeable(state) => Error::NotChangeable(state),
        StartChangeAnswer::Expired(at) => Error::Expired(at),
        StartChangeAnswer::NotPriced(state) => Error::NotPriced(state),
        StartChangeAnswer::InProgress(change) => Error::InProgress(change),
        StartChangeAnswer::PaymentRequired(charge) => Error::PaymentRequired(charge),
        StartChangeAnswer::Restricted(violations) => Error::Restricted(violations),
        StartChangeAnswer::SoldOut { short, room_types } => Error::SoldOut { short, room_types },
        StartChangeAnswer::Drift(night) => drift::of_reservation(reservation, night).into(),
    }
}
