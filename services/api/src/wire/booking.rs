use keyrack_api_types::{
    booking::{Booking, BookingStatus, NextAction, Refund},
    problem::{Action, Next},
};
use keyrack_booking::{
    Desk,
    views::{BookingView, RefundView, Standing},
};
use keyrack_domain::{ids::AttemptId, refund::RefundState};
use keyrack_http::Problem;

use super::{after_failure, reservation, reservation_path};

/// An outcome that is not known yet: looking more often would not make it known sooner.
pub(crate) const LOOK_AGAIN_AFTER_S: u64 = 2;

pub(crate) async fn booking(desk: &Desk, view: BookingView) -> Result<Booking, Problem> {
    let BookingView { attempt, hotel, hold, total, amount, standing } = view;
    let booking = Booking {
        id: attempt,
        status: BookingStatus::PendingPayment,
        hold_id: hold,
        hotel: hotel.into(),
        total: total.into(),
        amount: amount.into(),
        reservation: None,
        deadline: None,
        next_action: None,
        reason: None,
        hold_state: None,
        refund: None,
        next: look_up(attempt),
    };
    Ok(match standing {
        Standing::Pending { reconciling, deadline, next_action } => {
            let status = if reconciling { BookingStatus::Reconciling } else { BookingStatus::PendingPayment };
            let next_action = next_action.map(|page| NextAction::Redirect { url: page.expose().to_owned() });
            Booking { status, deadline: Some(deadline.into()), next_action, ..booking }
        }
        Standing::Confirmed(view) => {
            let next = Next::new(Action::None).at(reservation_path(view.id));
            let reservation = Some(reservation(desk, *view).await?);
            Booking { status: BookingStatus::Confirmed, reservation, next, ..booking }
        }
        Standing::Declined { reason, hold } => {
            let (next, hold_state) = (after_failure(hold), Some(hold.into()));
            Booking { status: BookingStatus::Failed, reason: Some(reason), hold_state, next, ..booking }
        }
        Standing::NoRoom { refund: view } => {
            let (status, next) = match view.state {
                RefundState::Succeeded => (BookingStatus::Refunded, Next::new(Action::None)),
                RefundState::Requested | RefundState::NeedsAttention => {
                    (BookingStatus::PaymentCapturedBookingFailed, booking.next.clone())
                }
            };
            Booking { status, refund: Some(refund(&view)), next, ..booking }
        }
    })
}

pub(crate) fn refund(view: &RefundView) -> Refund {
    let RefundView { id, state, amount } = *view;
    Refund { id, state: state.into(), amount: amount.into() }
}

pub(crate) fn look_up(attempt: AttemptId) -> Next {
    Next::after(Action::LookUp, LOOK_AGAIN_AFTER_S).at(attempt_path(attempt))
}

pub(crate) fn attempt_path(attempt: AttemptId) -> String {
    format!("/v1/bookings/{attempt}")
}
