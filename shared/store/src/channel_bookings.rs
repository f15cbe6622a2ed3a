//! `channel_bookings`: bookings by the identifiers that channels give them.

use std::fmt;

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    channel_booking::{ChannelBookingKey, ChannelBookingState},
    clock::Moment,
    code::ChannelCode,
    ids::{HotelId, ReservationId},
    operation_key::Fingerprint,
};
use serde_json::Value;
use uuid::Uuid;

use crate::keys;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelBookingRow {
    pub key: ChannelBookingKey,
    pub state: ChannelBookingState,
    /// The highest that took effect; none where only a cancellation came.
    pub revision: Option<i64>,
    pub fingerprint: Option<Fingerprint>,
    pub reservation: Option<ReservationId>,
    pub unplaced: Option<Delivery>,
    pub try_id: Uuid,
}

/// What a channel sent, as it came.
#[derive(Clone, PartialEq, Eq)]
pub struct Delivery(pub Value);

/// A guest is in it.
impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Delivery(..)")
    }
}

/// A row to write, from its stated state: `None` for an identifier that is not known yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelBookingMove {
    pub from: Option<ChannelBookingState>,
    pub to: ChannelBookingRow,
}

struct Raw {
    hotel_id: i32,
    channel: String,
    booking_id: String,
    state: String,
    revision: Option<i64>,
    fingerprint: Option<Vec<u8>>,
    reservation_id: Option<Uuid>,
    unplaced: Option<Value>,
    try_id: Uuid,
}

impl TryFrom<Raw> for ChannelBookingRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let hotel = HotelId(r.hotel_id);
        let channel = r.channel.parse().map_err(|e| DbError::unreadable("channel", &e))?;
        let booking = r.booking_id.parse().map_err(|e| DbError::unreadable("booking id", &e))?;
        Ok(Self {
            key: ChannelBookingKey { hotel, channel, booking },
            state: ChannelBookingState::from_name(&r.state)
                .ok_or_else(|| DbError::unreadable("channel booking state", &r.state))?,
            revision: r.revision,
            fingerprint: r.fingerprint.map(|bytes| keys::fingerprint(&bytes)).transpose()?,
            reservation: r.reservation_id.map(|id| ReservationId::new(hotel, id)),
            unplaced: r.unplaced.map(Delivery),
            try_id: r.try_id,
        })
    }
}

/// Those that are known, in no order. Certain only under the locks of their identifiers.
pub async fn read(
    connection: &mut PgConnection,
    keys: impl IntoIterator<Item = &ChannelBookingKey>,
) -> Result<Vec<ChannelBookingRow>, DbError> {
    let (mut hotels, mut channels, mut bookings) = (Vec::new(), Vec::new(), Vec::new());
    for key in keys {
        hotels.push(key.hotel.0);
        channels.push(key.channel.as_str().to_owned());
        bookings.push(key.booking.as_str().to_owned());
    }
    let rows = sqlx::query_as!(
        Raw,
        "-- store::channel_bookings::read
        SELECT b.hotel_id, b.channel, b.booking_id, b.state, b.revision, b.fingerprint, b.reservation_id, b.unplaced,
               b.try_id
        FROM unnest($1::int[], $2::text[], $3::text[]) AS w (hotel_id, channel, booking_id)
        CROSS JOIN LATERAL (
            SELECT x.hotel_id, x.channel, x.booking_id, x.state, x.revision, x.fingerprint, x.reservation_id,
                   x.unplaced, x.try_id
            FROM channel_bookings x
            WHERE x.hotel_id = w.hotel_id
              AND x.channel = w.channel
              AND x.booking_id = w.booking_id
            LIMIT 1
        ) AS b",
        &hotels,
        &channels,
        &bookings
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Those of a hotel after `after`, in the order of channel and identifier: all, or those that wait for
/// somebody.
pub async fn of_hotel(
    connection: &mut PgConnection,
    hotel: HotelId,
    only_unplaced: bool,
    after: Option<&ChannelBookingKey>,
    limit: i64,
) -> Result<Vec<ChannelBookingRow>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        "-- store::channel_bookings::of_hotel
        SELECT hotel_id, channel, booking_id, state, revision, fingerprint, reservation_id, unplaced, try_id
        FROM channel_bookings
        WHERE hotel_id = $1
          AND (channel, booking_id) > ($2, $3)
          AND (unplaced IS NOT NULL OR NOT $4)
        ORDER BY channel, booking_id
        LIMIT $5",
        hotel.0,
        // Before every code there is.
        after.map_or("", |key| key.channel.as_str()),
        after.map_or("", |key| key.booking.as_str()),
        only_unplaced,
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Each from its stated state and no other.
pub async fn write(
    connection: &mut PgConnection,
    moves: &[ChannelBookingMove],
    at: Moment,
) -> Result<(), DbError> {
    let (new, known): (Vec<_>, Vec<_>) = moves.iter().partition(|row| row.from.is_none());
    insert(connection, &new, at).await?;
    shift(connection, &known, at).await
}

async fn insert(
    connection: &mut PgConnection,
    moves: &[&ChannelBookingMove],
    at: Moment,
) -> Result<(), DbError> {
    if moves.is_empty() {
        return Ok(());
    }
    let columns = Columns::of(moves);
    sqlx::query!(
        "-- store::channel_bookings::insert
        INSERT INTO channel_bookings (
            hotel_id, channel, booking_id, state, revision, fingerprint, reservation_id, unplaced, try_id, created_at,
            changed_at)
        SELECT u.hotel_id, u.channel, u.booking_id, u.state, u.revision, u.fingerprint, u.reservation_id, u.unplaced,
               u.try_id, $10, $10
        FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bytea[], $7::uuid[], $8::jsonb[],
                    $9::uuid[])
            AS u (hotel_id, channel, booking_id, state, revision, fingerprint, reservation_id, unplaced, try_id)",
        &columns.hotels,
        &columns.channels,
        &columns.bookings,
        &columns.states,
        &columns.revisions as &[Option<i64>],
        &columns.fingerprints as &[Option<Vec<u8>>],
        &columns.reservations as &[Option<Uuid>],
        &columns.unplaced as &[Option<Value>],
        &columns.tries,
        at.0
    )
    .execute(connection)
    .await?
    .exactly(moves.len(), "store::channel_bookings::insert")
}

async fn shift(
    connection: &mut PgConnection,
    moves: &[&ChannelBookingMove],
    at: Moment,
) -> Result<(), DbError> {
    if moves.is_empty() {
        return Ok(());
    }
    let columns = Columns::of(moves);
    let from = |row: &&ChannelBookingMove| row.from.map(|state| state.as_str().to_owned());
    let from: Vec<String> = moves.iter().filter_map(from).collect();
    sqlx::query!(
        "-- store::channel_bookings::shift
        UPDATE channel_bookings AS b
        SET state = u.state,
            revision = u.revision,
            fingerprint = u.fingerprint,
            reservation_id = u.reservation_id,
            unplaced = u.unplaced,
            try_id = u.try_id,
            changed_at = $11
        FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bytea[], $7::uuid[], $8::jsonb[],
                    $9::uuid[], $10::text[])
            AS u (hotel_id, channel, booking_id, state, revision, fingerprint, reservation_id, unplaced, try_id,
                  from_state)
        WHERE b.hotel_id = u.hotel_id
          AND b.channel = u.channel
          AND b.booking_id = u.booking_id
          AND b.state = u.from_state",
        &columns.hotels,
        &columns.channels,
        &columns.bookings,
        &columns.states,
        &columns.revisions as &[Option<i64>],
        &columns.fingerprints as &[Option<Vec<u8>>],
        &columns.reservations as &[Option<Uuid>],
        &columns.unplaced as &[Option<Value>],
        &columns.tries,
        &from,
        at.0
    )
    .execute(connection)
    .await?
    .exactly(moves.len(), "store::channel_bookings::shift")
}

#[derive(Default)]
struct Columns {
    hotels: Vec<i32>,
    channels: Vec<String>,
    bookings: Vec<String>,
    states: Vec<String>,
    revisions: Vec<Option<i64>>,
    fingerprints: Vec<Option<Vec<u8>>>,
    reservations: Vec<Option<Uuid>>,
    unplaced: Vec<Option<Value>>,
    tries: Vec<Uuid>,
}

impl Columns {
    fn of(moves: &[&ChannelBookingMove]) -> Self {
        let mut columns = Self::default();
        for ChannelBookingMove { to, .. } in moves {
            columns.hotels.push(to.key.hotel.0);
            columns.channels.push(ChannelCode::as_str(&to.key.channel).to_owned());
            columns.bookings.push(to.key.booking.as_str().to_owned());
            columns.states.push(to.state.as_str().to_owned());
            columns.revisions.push(to.revision);
            columns.fingerprints.push(to.fingerprint.map(|print| print.0.to_vec()));
            columns.reservations.push(to.reservation.map(ReservationId::uuid));
            columns.unplaced.push(to.unplaced.as_ref().map(|delivery| delivery.0.clone()));
            columns.tries.push(to.try_id);
        }
        columns
    }
}
