//! `hotels`: the hotels of a shard.

use chrono::NaiveDate;
use chrono_tz::Tz;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    code::HotelCode,
    hotel::HotelRef,
    hotel_profile::{HotelProfile, Place},
    ids::{HotelId, ShardId},
    policy::LateCapture,
};

use crate::{rate_plans, read::currency, room_types, taxes};

fn zone(name: &str) -> Result<Tz, DbError> {
    name.parse().map_err(|e| DbError::unreadable("time zone", &e))
}

fn code(text: &str) -> Result<HotelCode, DbError> {
    text.parse().map_err(|e| DbError::unreadable("hotel code", &e))
}

/// `false` when this shard has the hotel already. A concurrent insert of it is waited for.
pub async fn insert(connection: &mut PgConnection, profile: &HotelProfile) -> Result<bool, DbError> {
    let hotel = &profile.hotel;
    let done = sqlx::query!(
        "-- store::hotels::insert
        INSERT INTO hotels (
            hotel_id, code, name, time_zone, currency, city, latitude, longitude, late_capture, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, keyrack_now())
        ON CONFLICT (hotel_id) DO NOTHING",
        hotel.id.0,
        hotel.code.as_str(),
        profile.name,
        hotel.zone.name(),
        hotel.currency.code(),
        profile.city,
        profile.place.map(|p| p.latitude),
        profile.place.map(|p| p.longitude),
        profile.late_capture.as_str()
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// `None`: the directory knows the hotel, its shard does not have it (yet).
pub async fn reference(
    connection: &mut PgConnection,
    id: HotelId,
    shard: ShardId,
) -> Result<Option<HotelRef>, DbError> {
    let row = sqlx::query!(
        "-- store::hotels::reference
        SELECT code, time_zone, currency
        FROM hotels
        WHERE hotel_id = $1",
        id.0
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let (zone, currency) = (zone(&row.time_zone)?, currency(&row.currency)?);
    Ok(Some(HotelRef { id, shard, code: code(&row.code)?, zone, currency }))
}

/// What the hotel has configured; `None` when it is not on this shard.
pub async fn profile(
    connection: &mut PgConnection,
    id: HotelId,
    shard: ShardId,
) -> Result<Option<HotelProfile>, DbError> {
    let row = sqlx::query!(
        "-- store::hotels::profile
        SELECT code, name, time_zone, currency, city, latitude, longitude, late_capture
        FROM hotels
        WHERE hotel_id = $1",
        id.0
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let (zone, currency) = (zone(&row.time_zone)?, currency(&row.currency)?);
    let hotel = HotelRef { id, shard, code: code(&row.code)?, zone, currency };
    let place = row.latitude.zip(row.longitude).map(|(latitude, longitude)| Place { latitude, longitude });
    Ok(Some(HotelProfile {
        hotel,
        name: row.name,
        city: row.city,
        place,
        late_capture: late_capture(&row.late_capture)?,
        room_types: room_types::of_hotel(connection, id).await?,
        rate_plans: rate_plans::of_hotel(connection, id).await?,
        taxes: taxes::of_hotel(connection, id, currency).await?,
    }))
}

/// What the hotel wants done with money that comes too late.
pub async fn late_capture_of(connection: &mut PgConnection, id: HotelId) -> Result<LateCapture, DbError> {
    let name = sqlx::query_scalar!(
        "-- store::hotels::late_capture_of
        SELECT late_capture
        FROM hotels
        WHERE hotel_id = $1",
        id.0
    )
    .fetch_one(connection)
    .await?;
    late_capture(&name)
}

fn late_capture(name: &str) -> Result<LateCapture, DbError> {
    LateCapture::from_name(name).ok_or_else(|| DbError::unreadable("policy of late captures", &name))
}

/// Until which night a hotel's inventory has been opened, and the zone that tells its today.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenedUntil {
    pub hotel: HotelId,
    pub zone: Tz,
    pub last_night: Option<NaiveDate>,
}

/// A page of this shard's hotels, by their number, after `after`.
pub async fn opened_until(
    connection: &mut PgConnection,
    after: HotelId,
    limit: i64,
) -> Result<Vec<OpenedUntil>, DbError> {
    let rows = sqlx::query!(
        "-- store::hotels::opened_until
        SELECT hotel_id, time_zone, opened_until
        FROM hotels
        WHERE hotel_id > $1
        ORDER BY hotel_id
        LIMIT $2",
        after.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    let opened = rows.into_iter().map(|row| {
        let (hotel, zone) = (HotelId(row.hotel_id), zone(&row.time_zone)?);
        Ok(OpenedUntil { hotel, zone, last_night: row.opened_until })
    });
    opened.collect()
}

/// The same of one hotel, locked against another worker that rolls it: `None` when it is at work.
pub async fn lock_opened_until(
    connection: &mut PgConnection,
    hotel: HotelId,
) -> Result<Option<OpenedUntil>, DbError> {
    let row = sqlx::query!(
        "-- store::hotels::lock_opened_until
        SELECT time_zone, opened_until
        FROM hotels
        WHERE hotel_id = $1
        FOR NO KEY UPDATE SKIP LOCKED",
        hotel.0
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(OpenedUntil { hotel, zone: zone(&row.time_zone)?, last_night: row.opened_until }))
}

/// Forward only.
pub async fn set_opened_until(
    connection: &mut PgConnection,
    hotel: HotelId,
    last_night: NaiveDate,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::hotels::set_opened_until
        UPDATE hotels
        SET opened_until = $2
        WHERE hotel_id = $1
          AND (opened_until IS NULL OR opened_until < $2)",
        hotel.0,
        last_night
    )
    .execute(connection)
    .await?
    .exactly(1, "store::hotels::set_opened_until")
}
