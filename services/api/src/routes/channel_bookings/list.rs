use std::{fmt, str::FromStr};

use actix_web::{HttpResponse, get, web};
use keyrack_api_types::{channel_booking::ChannelBookingLine, page::Page};
use keyrack_booking::{Desk, channel_booking, reservations::MAX_PAGE};
use keyrack_domain::{
    channel_booking::ChannelBookingId,
    code::{ChannelCode, HotelCode},
};
use keyrack_http::{Cursor, Path, Problem, Query, Signed, limit};
use serde::Deserialize;

use super::refused::refused;
use crate::wire;

const USUAL_PAGE: u16 = 50;

/// Which bookings.
#[derive(Clone, Copy, Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Which {
    /// Those with a delivery that waits for somebody.
    Unmapped,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// UNMAPPED: only those with a delivery that waits for somebody.
    state: Option<Which>,
    /// `next_cursor` of the page before.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor<Place>>,
    /// 1 to 100; 50 when left out.
    limit: Option<u16>,
}

/// A channel and an identifier of it: a code has no slash.
#[derive(Clone, Debug)]
struct Place(ChannelCode, ChannelBookingId);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0, self.1)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (channel, booking) = text.split_once('/').ok_or(())?;
        Ok(Self(channel.parse().map_err(|_| ())?, booking.parse().map_err(|_| ())?))
    }
}

/// The bookings of a hotel's channels, for its staff, in the order of channel and identifier.
#[utoipa::path(
    tag = "channel bookings",
    operation_id = "list_channel_bookings",
    params(("hotel" = String, Path), Wanted),
    responses(
        (status = 200, body = Page<ChannelBookingLine>),
        (status = 404, description = "NOT_FOUND: no such hotel of yours"),
        (status = 422, description = "INVALID"),
    ),
)]
#[get("/v1/hotels/{hotel}/channel-bookings")]
pub(crate) async fn list(
    Signed(caller): Signed,
    Path(hotel): Path<HotelCode>,
    Query(wanted): Query<Wanted>,
    desk: web::Data<Desk>,
) -> Result<HttpResponse, Problem> {
    let limit = limit(wanted.limit, USUAL_PAGE, MAX_PAGE)?;
    let after = wanted.cursor.map(|Cursor(Place(channel, booking))| (channel, booking));
    let only_unplaced = matches!(wanted.state, Some(Which::Unmapped));
    let listing = channel_booking::list(&desk, &caller, &hotel, only_unplaced, after, limit);
    let page = listing.await.map_err(refused)?;
    let next_cursor = page.next.map(|key| Cursor::write(&Place(key.channel, key.booking)));
    let items: Vec<ChannelBookingLine> = page.items.into_iter().map(wire::channel_booking_line).collect();
    Ok(HttpResponse::Ok().json(Page { items, next_cursor }))
}
