use keyrack_api_types::{
    booking::NextAction,
    cancellation::{Cancellation, CancelledRoom},
    quoted::ReservedRoom,
    reservation::{Reservation, WaitingPayment},
    schedule::{ReservationCharge, local},
};
use keyrack_booking::{
    Desk, RoomRow,
    cancel::{operation, price::RoomPrice},
    views::{self, ChargeView, ReservationView},
};
use keyrack_domain::{hotel::HotelRef, ids::ReservationId, money::Money, quote};
use keyrack_http::Problem;

use super::refund;
use crate::refusal;

/// Its deadlines are told on the wall of its hotel.
pub(crate) async fn reservation(desk: &Desk, view: ReservationView) -> Result<Reservation, Problem> {
    let hotel_ref = desk.hotels().by_code(&view.hotel).await.map_err(refusal::no_hotel)?;
    let zone = hotel_ref.zone;
    let ReservationView {
        id,
        hotel,
        hold,
        attempt,
        state,
        version,
        document,
        rooms,
        refunds,
        guest,
        created_at,
        schedule,
        waiting,
    } = view;
    let stay = document.stay;
    let reserved = |(sold, row): (quote::QuotedRoom, RoomRow)| ReservedRoom {
        cancelled_at: row.cancelled.map(|cancelled| cancelled.at.into()),
        penalty: row.cancelled.map(|cancelled| cancelled.penalty.to_string()),
        ..ReservedRoom::new(sold, stay, zone)
    };
    Ok(Reservation {
        id,
        state: state.into(),
        version,
        hotel: hotel.into(),
        check_in: stay.check_in().into(),
        check_out: stay.check_out().into(),
        rooms: document.rooms.into_iter().zip(rooms).map(reserved).collect(),
        charges: document.charges.into_iter().map(Into::into).collect(),
        total: document.total.into(),
        refunds: refunds.iter().map(refund).collect(),
        schedule: schedule.iter().map(|of_stay| charge(of_stay, &hotel_ref)).collect(),
        waiting_payments: waiting.iter().map(waiting_payment).collect(),
        guest: guest.into(),
        hold_id: hold,
        attempt_id: attempt,
        created_at: created_at.into(),
    })
}

fn waiting_payment(payment: &views::WaitingPayment) -> WaitingPayment {
    WaitingPayment {
        attempt_id: payment.attempt,
        charge: payment.charge,
        change_id: payment.change,
        amount: payment.amount.into(),
        next_action: NextAction::Redirect { url: payment.page.expose().to_owned() },
        deadline: payment.deadline.into(),
    }
}

/// Its day is told on the wall of its hotel.
pub(crate) fn charge(view: &ChargeView, hotel: &HotelRef) -> ReservationCharge {
    ReservationCharge {
        number: view.number,
        kind: view.kind.into(),
        amount: view.amount.to_string(),
        due_at: local(view.due_at, hotel.zone),
        state: view.state.into(),
        owed_back: view.owed_back.map(|owed| owed.to_string()),
    }
}

pub(crate) fn reservation_path(id: ReservationId) -> String {
    format!("/v1/reservations/{id}")
}

pub(crate) fn cancelled_rooms(rooms: Vec<RoomPrice>) -> Vec<CancelledRoom> {
    let room = |price: RoomPrice| CancelledRoom {
        room: price.room,
        penalty: price.penalty.to_string(),
        refund: price.refund.to_string(),
    };
    rooms.into_iter().map(room).collect()
}

pub(crate) fn cancellation(view: operation::Cancellation) -> Cancellation {
    let operation::Cancellation { reservation, state, version, rooms, penalty, refund, due } = view;
    Cancellation {
        reservation_id: reservation,
        state: state.into(),
        version,
        rooms: cancelled_rooms(rooms),
        penalty: penalty.into(),
        refund: refund.into(),
        due: due.unwrap_or_else(|| Money::zero(refund.currency())).into(),
    }
}
