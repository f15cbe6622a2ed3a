use keyrack_api_types::{quoted::QuotedRoom, reservation::Reservation};
use keyrack_booking::{Desk, views::ReservationView};
use keyrack_domain::ids::ReservationId;
use keyrack_http::Problem;

use crate::refusal;

/// Its deadlines are told on the wall of its hotel.
pub(crate) async fn reservation(desk: &Desk, view: ReservationView) -> Result<Reservation, Problem> {
    let zone = desk.hotels().by_code(&view.hotel).await.map_err(refusal::no_hotel)?.zone;
    let ReservationView { id, hotel, hold, attempt, state, version, document, guest, created_at } = view;
    let stay = document.stay;
    Ok(Reservation {
        id,
        state: state.into(),
        version,
        hotel: hotel.into(),
        check_in: stay.check_in().into(),
        check_out: stay.check_out().into(),
        rooms: document.rooms.into_iter().map(|room| QuotedRoom::new(room, stay, zone)).collect(),
        charges: document.charges.into_iter().map(Into::into).collect(),
        total: document.total.into(),
        guest: guest.into(),
        hold_id: hold,
        attempt_id: attempt,
        created_at: created_at.into(),
    })
}

pub(crate) fn reservation_path(id: ReservationId) -> String {
    format!("/v1/reservations/{id}")
}
