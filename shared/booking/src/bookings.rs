//! How a booking stands, read from its attempt. Reading never changes anything.

use keyrack_domain::{attempt::AttemptState, hotel::HotelRef, ids::AttemptId, principal::Caller};
use keyrack_ledger::AttemptRow;
use keyrack_store::{attempts, refunds, reservations};

use crate::{
    Desk, Fault,
    views::{BookingView, RefundView, ReservationView, Standing},
};

/// Anybody else's attempt is not found.
pub async fn find(desk: &Desk, caller: &Caller, attempt: AttemptId) -> Result<Option<BookingView>, Fault> {
    let Some(hotel) = desk.hotel_of(attempt.hotel()).await? else { return Ok(None) };
    let mut connection = desk.hotels().database(&hotel)?.connection().await?;
    let row = attempts::read(&mut connection, [&attempt]).await?.pop();
    drop(connection);
    match row.filter(|row| row.principal == caller.principal) {
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

/// Attempts are kept for ever.
#[derive(Debug, thiserror::Error)]
#[error("attempt {0} is gone")]
struct Gone(AttemptId);

pub(crate) async fn of_row(desk: &Desk, hotel: &HotelRef, row: AttemptRow) -> Result<BookingView, Fault> {
    let mut connection = desk.hotels().database(hotel)?.connection().await?;
    let standing = match row.state {
        AttemptState::PendingPayment => Standing::Pending { reconciling: false, deadline: row.deadline_at },
        AttemptState::Reconciling => Standing::Pending { reconciling: true, deadline: row.deadline_at },
        AttemptState::Confirmed => {
            let reservation = reservations::of_attempt(&mut connection, row.id).await?;
            let reservation = reservation.ok_or_else(|| Fault::internal(Gone(row.id)))?;
            Standing::Confirmed(Box::new(ReservationView::of(reservation, &hotel.code)))
        }
        AttemptState::Failed => Standing::Declined { reason: row.failure.unwrap_or_default() },
        AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
            let refund = refunds::of_attempt(&mut connection, row.id).await?.pop();
            let refund = refund.ok_or_else(|| Fault::internal(Gone(row.id)))?;
            let refund = RefundView { id: refund.id, state: refund.state, amount: refund.amount };
            Standing::NoRoom { refund }
        }
    };
    Ok(BookingView {
        attempt: row.id,
        hotel: hotel.code.clone(),
        hold: row.hold,
        amount: row.amount,
        standing,
    })
}
