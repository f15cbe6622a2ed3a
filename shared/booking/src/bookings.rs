//! How a booking stands, read from its attempt. Reading never changes anything.

use keyrack_db::PgConnection;
use keyrack_domain::{
    attempt::{AttemptState, Purpose},
    hold::HoldState,
    hotel::HotelRef,
    ids::{AttemptId, HoldId},
    principal::Caller,
};
use keyrack_ledger::{AttemptRow, HoldRow};
use keyrack_store::{attempts, clock, customer_actions, holds, refunds, reservations as reservation_rows};

use crate::{
    Desk, Fault, reservations,
    views::{BookingView, RefundView, Standing},
};

/// Anybody else's attempt is not found.
pub async fn find(desk: &Desk, caller: &Caller, attempt: AttemptId) -> Result<Option<BookingView>, Fault> {
    let Some(hotel) = desk.hotel_of(attempt.hotel()).await? else { return Ok(None) };
    let mut connection = desk.hotels().database(&hotel)?.connection().await?;
    let row = attempts::read(&mut connection, [&attempt]).await?.pop();
    drop(connection);
    match row.filter(|row| row.principal == caller.principal && row.purpose == Purpose::Booking) {
        None => Ok(None),
        Some(row) => of_row(desk, &hotel, row).await.map(Some),
    }
}

/// Of an attempt that exists.
pub(crate) async fn view(desk: &Desk, hotel: &HotelRef, attempt: AttemptId) -> Result<BookingView, Fault> {
    let mut connection = desk.hotels().database(hotel)?.connection().await?;
    let row = attempts::read(&mut connection, [&attempt]).await?.pop();
    drop(connection);
    of_row(desk, hotel, row.ok_or_else(|| Fault::internal(Gone(attempt)))?).await
}

/// As whoever pays for it now would find it.
async fn hold_state(connection: &mut PgConnection, hold: &HoldRow) -> Result<HoldState, Fault> {
    let is_due = hold.state == HoldState::Active && clock::now(connection).await?.is_past(hold.expires_at);
    Ok(if is_due { HoldState::Expired } else { hold.state })
}

/// An attempt's hold is kept with it.
#[derive(Debug, thiserror::Error)]
#[error("hold {0} is gone")]
struct NoHold(HoldId);

/// Attempts are kept for ever.
#[derive(Debug, thiserror::Error)]
#[error("attempt {0} is gone")]
struct Gone(AttemptId);

pub(crate) async fn of_row(desk: &Desk, hotel: &HotelRef, row: AttemptRow) -> Result<BookingView, Fault> {
    let held = row.hold.ok_or_else(|| Fault::internal(Gone(row.id)))?;
    let mut connection = desk.hotels().database(hotel)?.connection().await?;
    let hold =
        holds::read(&mut connection, [&held]).await?.pop().ok_or_else(|| Fault::internal(NoHold(held)))?;
    let standing = match row.state {
        AttemptState::PendingPayment => {
            let next_action = customer_actions::read(&mut connection, row.id).await?;
            Standing::Pending { reconciling: false, deadline: row.deadline_at, next_action }
        }
        AttemptState::Reconciling => {
            Standing::Pending { reconciling: true, deadline: row.deadline_at, next_action: None }
        }
        AttemptState::Confirmed => {
            let reservation = reservation_rows::of_attempt(&mut connection, row.id).await?;
            let reservation = reservation.ok_or_else(|| Fault::internal(Gone(row.id)))?;
            let made = vec![(reservation, hotel.code.clone())];
            let told = reservations::told(&mut connection, made, row.principal).await?;
            let told = told.into_iter().next().ok_or_else(|| Fault::internal(Gone(row.id)))?;
            Standing::Confirmed(Box::new(told))
        }
        AttemptState::Failed => {
            let hold = hold_state(&mut connection, &hold).await?;
            Standing::Declined { reason: row.failure.unwrap_or_default(), hold }
        }
        AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
            let refund = refunds::of_attempts(&mut connection, [&row.id]).await?.pop();
            let refund = refund.ok_or_else(|| Fault::internal(Gone(row.id)))?;
            Standing::NoRoom { refund: RefundView::of(&refund) }
        }
    };
    Ok(BookingView {
        attempt: row.id,
        hotel: hotel.code.clone(),
        hold: held,
        total: hold.total,
        amount: row.amount,
        standing,
    })
}
