use keyrack_api_types::channel_booking::{ChannelBooking, ChannelBookingLine};
use keyrack_booking::{
    Desk,
    channel_booking::{ChannelBookingView, Item},
};
use keyrack_http::Problem;

use super::reservation;

pub(crate) async fn channel_booking(
    desk: &Desk,
    view: ChannelBookingView,
) -> Result<ChannelBooking, Problem> {
    let ChannelBookingView { key, state, revision, reservation: reserved, unplaced } = view;
    let reserved = match reserved {
        Some(view) => Some(reservation(desk, view).await?),
        None => None,
    };
    Ok(ChannelBooking {
        channel: key.channel.into(),
        booking_id: key.booking.into(),
        state: state.into(),
        revision,
        reservation: reserved,
        unplaced: unplaced.map(|delivery| delivery.0),
    })
}

pub(crate) fn channel_booking_line(item: Item) -> ChannelBookingLine {
    let Item { key, state, revision, reservation, unplaced } = item;
    ChannelBookingLine {
        channel: key.channel.into(),
        booking_id: key.booking.into(),
        state: state.into(),
        revision,
        reservation_id: reservation,
        unplaced: unplaced.map(|delivery| delivery.0),
    }
}
