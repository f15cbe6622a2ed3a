//! Looking at channels' bookings: the channel at its own, the hotel's staff at all.

use keyrack_domain::{
    channel_booking::{ChannelBookingKey, ChannelBookingState},
    code::{ChannelCode, HotelCode},
    hotel::HotelRef,
    ids::ReservationId,
    principal::Caller,
};
use keyrack_ledger::{ChannelBookingRow, Delivery};
use keyrack_store::{channel_bookings, reservations};

use super::{Address, ChannelBookingError, admit, key, standing};
use crate::{Desk, Fault, reservations::told, views::ReservationView};

#[derive(Clone, Debug)]
pub struct ChannelBookingView {
    pub key: ChannelBookingKey,
    /// As it stands: CANCELLED too where the hotel cancelled it.
    pub state: ChannelBookingState,
    pub revision: Option<i64>,
    pub reservation: Option<ReservationView>,
    /// What waits for somebody, as it came.
    pub unplaced: Option<Delivery>,
}

#[derive(Clone, Debug)]
pub struct Page {
    pub items: Vec<Item>,
    /// Goes on after here: channel and identifier.
    pub next: Option<ChannelBookingKey>,
}

#[derive(Clone, Debug)]
pub struct Item {
    pub key: ChannelBookingKey,
    /// What the channel told last; its reservation may have been cancelled here.
    pub state: ChannelBookingState,
    pub revision: Option<i64>,
    pub reservation: Option<ReservationId>,
    pub unplaced: Option<Delivery>,
}

/// Anybody else's is not found.
pub async fn find(
    desk: &Desk,
    caller: &Caller,
    address: Address,
) -> Result<ChannelBookingView, ChannelBookingError> {
    let hotel = desk.hotels().by_code(&address.hotel).await?;
    if !caller.runs(hotel.id) {
        admit(desk, caller, &hotel, &address.channel).await?;
    }
    let key = key(&hotel, address);
    let found = read(desk, &hotel, &key).await?;
    found.ok_or(ChannelBookingError::NotFound)
}

async fn read(
    desk: &Desk,
    hotel: &HotelRef,
    key: &ChannelBookingKey,
) -> Result<Option<ChannelBookingView>, Fault> {
    let mut connection = desk.hotels().database(hotel)?.connection().await?;
    let Some(row) = channel_bookings::read(&mut connection, [key]).await?.pop() else { return Ok(None) };
    let reservation = match row.reservation {
        Some(id) => {
            match reservations::find(&mut connection, id).await? {
                // None of ours pays for it: whose payments wait is of no account.
                Some(row) => {
                    let principal = row.principal;
                    told(&mut connection, vec![(row, hotel.code.clone())], principal).await?.pop()
                }
                None => None,
            }
        }
        None => None,
    };
    let state = standing(row.state, reservation.as_ref().map(|view| view.state));
    let ChannelBookingRow { key, revision, unplaced, .. } = row;
    Ok(Some(ChannelBookingView { key, state, revision, reservation, unplaced }))
}

/// Of one hotel, for its staff, in the order of channel and identifier: all, or those that wait for somebody.
pub async fn list(
    desk: &Desk,
    caller: &Caller,
    hotel: &HotelCode,
    only_unplaced: bool,
    after: Option<(ChannelCode, keyrack_domain::channel_booking::ChannelBookingId)>,
    limit: u16,
) -> Result<Page, ChannelBookingError> {
    let hotel = desk.hotels().by_code(hotel).await?;
    if !caller.runs(hotel.id) {
        return Err(ChannelBookingError::NotFound);
    }
    let limit = usize::from(limit.clamp(1, crate::reservations::MAX_PAGE));
    // One more than the page: it tells whether there is a next one.
    let more = i64::try_from(limit + 1).map_err(Fault::internal)?;
    let after = after.map(|(channel, booking)| ChannelBookingKey { hotel: hotel.id, channel, booking });
    let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
    let mut rows = channel_bookings::of_hotel(&mut connection, hotel.id, only_unplaced, after.as_ref(), more)
        .await
        .map_err(Fault::from)?;
    let next = (rows.len() > limit).then(|| rows[limit - 1].key.clone());
    rows.truncate(limit);
    let item = |row: ChannelBookingRow| {
        let ChannelBookingRow { key, state, revision, reservation, unplaced, .. } = row;
        Item { key, state, revision, reservation, unplaced }
    };
    Ok(Page { items: rows.into_iter().map(item).collect(), next })
}
