use actix_web::{HttpResponse, get, web};
use keyrack_api_types::channel_booking::ChannelBooking;
use keyrack_booking::{
    Desk,
    channel_booking::{self, Address},
};
use keyrack_domain::{
    channel_booking::ChannelBookingId,
    code::{ChannelCode, HotelCode},
};
use keyrack_http::{Path, Problem, Signed};

use super::refused::refused;
use crate::wire;

/// A booking of a channel as it stands, for the channel and for the hotel's staff.
#[utoipa::path(
    tag = "channel bookings",
    operation_id = "show_channel_booking",
    params(
        ("hotel" = String, Path),
        ("channel" = String, Path),
        ("booking_id" = String, Path, description = "The channel's own: 1 to 64 visible ASCII characters"),
    ),
    responses(
        (status = 200, body = ChannelBooking),
        (status = 404, description = "NOT_FOUND"),
    ),
)]
#[get("/v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}")]
pub(crate) async fn show(
    Signed(caller): Signed,
    Path((hotel, channel, booking)): Path<(HotelCode, ChannelCode, ChannelBookingId)>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let address = Address { hotel, channel, booking };
    let view = channel_booking::find(&desk, &caller, address).await.map_err(refused)?;
    Ok(HttpResponse::Ok().json(wire::channel_booking(&desk, view).await?))
}
