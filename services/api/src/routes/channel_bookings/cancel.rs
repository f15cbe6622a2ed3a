use actix_web::{HttpResponse, delete, http::StatusCode, web};
use keyrack_api_types::channel_booking::{ChannelBookingState, ChannelCancellation};
use keyrack_booking::{
    Desk,
    channel_booking::{self, Address},
};
use keyrack_domain::{
    channel_booking::ChannelBookingId,
    code::{ChannelCode, HotelCode},
};
use keyrack_http::{Key, Path, Problem, Signed};

use super::refused::refused;
use crate::reply;

/// Cancel a booking of a channel. Its rooms are given back once; a repeat is told that they are. One that is
/// not known is not found, and recorded as cancelled all the same: should it arrive late, it takes no room.
#[utoipa::path(
    tag = "channel bookings",
    operation_id = "cancel_channel_booking",
    params(
        ("hotel" = String, Path),
        ("channel" = String, Path),
        ("booking_id" = String, Path, description = "The channel's own: 1 to 64 visible ASCII characters"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    responses(
        (status = 200, description = "Cancelled, now or before", body = ChannelCancellation),
        (status = 404, description = "NOT_FOUND: no such booking, hotel or channel of yours"),
        (status = 409, description = "CONFLICT: the guest is there, has left, or did not come"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[delete("/v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}")]
pub(crate) async fn cancel(
    Signed(caller): Signed,
    Path((hotel, channel, booking)): Path<(HotelCode, ChannelCode, ChannelBookingId)>,
    _key: Key,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let address = Address { hotel, channel, booking };
    let withdrawn = channel_booking::withdraw(&desk, &caller, address.clone()).await.map_err(refused)?;
    Ok(reply::written(StatusCode::OK, false).json(ChannelCancellation {
        channel: address.channel.into(),
        booking_id: address.booking.into(),
        state: ChannelBookingState::Cancelled,
        already_cancelled: withdrawn.before,
        reservation_id: withdrawn.reservation,
    }))
}
