use actix_web::{HttpResponse, http::StatusCode, put, web};
use keyrack_api_types::channel_booking::{ChannelBooking, ChannelBookingRequest, ChannelRoom};
use keyrack_booking::{
    Desk,
    channel_booking::{self, Address, Delivered, DeliveredRoom, Delivery},
};
use keyrack_domain::{
    channel_booking::ChannelBookingId,
    code::{ChannelCode, HotelCode},
};
use keyrack_http::{Json, Key, Path, Problem, Signed, etag};

use super::refused::refused;
use crate::{reply, wire};

/// Bring a booking of a channel, or its modification. What is sent again changes nothing, with whatever key:
/// the identifier is the key of this call.
#[utoipa::path(
    tag = "channel bookings",
    operation_id = "put_channel_booking",
    params(
        ("hotel" = String, Path),
        ("channel" = String, Path),
        ("booking_id" = String, Path, description = "The channel's own: 1 to 64 visible ASCII characters"),
        ("Idempotency-Key" = String, Header, description = "1 to 255 visible ASCII characters"),
    ),
    request_body = ChannelBookingRequest,
    responses(
        (status = 200, description = "As it was, or modified", body = ChannelBooking),
        (status = 201, description = "Created, and its rooms taken", body = ChannelBooking),
        (status = 404, description = "NOT_FOUND: no such hotel or channel of yours"),
        (status = 409, description = "BOOKING_INACTIVE, STALE_REVISION, ROOM_NIGHT_UNAVAILABLE, CONFLICT"),
        (status = 422, description = "INVALID; with `state` UNMAPPED where the booking is kept until somebody has looked at it"),
        (status = 503, description = "HOT_NIGHT_BUSY, UNAVAILABLE"),
    ),
)]
#[put("/v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}")]
pub(crate) async fn put(
    Signed(caller): Signed,
    Path((hotel, channel, booking)): Path<(HotelCode, ChannelCode, ChannelBookingId)>,
    _key: Key,
    desk: web::Data<Desk>,
    Json(body): Json<ChannelBookingRequest>,
) -> Result<HttpResponse, Problem> {
    let address = Address { hotel, channel, booking };
    let ChannelBookingRequest { revision, check_in, check_out, rooms, guest, total } = body;
    let delivered = Delivered {
        revision,
        check_in: check_in.0,
        check_out: check_out.0,
        rooms: rooms.into_iter().map(room).collect(),
        guest: guest.checked("/guest").map_err(Problem::invalid)?,
        total: total.amount,
        currency: total.currency,
    };
    let delivering = channel_booking::deliver(&desk, &caller, address.clone(), delivered);
    let booked = delivering.await.map_err(refused)?;
    let view = channel_booking::find(&desk, &caller, address).await.map_err(refused)?;
    let version = view.reservation.as_ref().map(|reservation| reservation.version);
    let mut response = match booked.delivery {
        Delivery::Created => reply::created(wire::reservation_path(booked.reservation), false),
        Delivery::Repeated | Delivery::Modified => reply::written(StatusCode::OK, false),
    };
    if let Some(version) = version {
        response.insert_header(etag(version));
    }
    Ok(response.json(wire::channel_booking(&desk, view).await?))
}

fn room(room: ChannelRoom) -> DeliveredRoom {
    let ChannelRoom { room_type, rate_plan, adults, children_ages } = room;
    DeliveredRoom { room_type, rate_plan, adults, children_ages }
}
