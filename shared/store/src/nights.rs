//! `room_night_inventory`: the counters. Only the ledger, and the repair, which
//! sets what is missing to the sum, call what changes or locks them.

use chrono::NaiveDate;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::ids::{HotelId, RoomTypeId};

/// A room-night. Its order is the lock order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NightKey {
    pub hotel: HotelId,
    pub room_type: RoomTypeId,
    pub date: NaiveDate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Night {
    pub sellable: i32,
    pub held: i32,
    pub confirmed: i32,
}

impl Night {
    pub const fn available(self) -> i32 {
        self.sellable - self.held - self.confirmed
    }
}

/// What one transaction adds to each counter of a night.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NightDelta {
    pub sellable: i32,
    pub held: i32,
    pub confirmed: i32,
}

struct Columns {
    hotels: Vec<i32>,
    room_types: Vec<i32>,
    dates: Vec<NaiveDate>,
}

fn columns<'k>(keys: impl IntoIterator<Item = &'k NightKey>) -> Columns {
    let mut columns = Columns { hotels: Vec::new(), room_types: Vec::new(), dates: Vec::new() };
    for key in keys {
        columns.hotels.push(key.hotel.0);
        columns.room_types.push(key.room_type.0);
        columns.dates.push(key.date);
    }
    columns
}

fn night(hotel: i32, room_type: i32, date: NaiveDate, counters: (i32, i32, i32)) -> (NightKey, Night) {
    let (sellable, held, confirmed) = counters;
    let key = NightKey { hotel: HotelId(hotel), room_type: RoomTypeId(room_type), date };
    (key, Night { sellable, held, confirmed })
}

/// Without a lock: good for a refusal, never for a sale. A night without a row is absent.
pub async fn read(
    connection: &mut PgConnection,
    keys: impl IntoIterator<Item = &NightKey>,
) -> Result<Vec<(NightKey, Night)>, DbError> {
    let wanted = columns(keys);
    let rows = sqlx::query!(
        "-- store::nights::read
        SELECT i.hotel_id, i.room_type_id, i.stay_date, i.sellable, i.held, i.confirmed
        FROM unnest($1::int[], $2::int[], $3::date[]) AS w (hotel_id, room_type_id, stay_date)
        CROSS JOIN LATERAL (
            SELECT n.hotel_id, n.room_type_id, n.stay_date, n.sellable, n.held, n.confirmed
            FROM room_night_inventory n
            WHERE n.hotel_id = w.hotel_id
              AND n.room_type_id = w.room_type_id
              AND n.stay_date = w.stay_date
        ) AS i",
        &wanted.hotels,
        &wanted.room_types,
        &wanted.dates
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|r| night(r.hotel_id, r.room_type_id, r.stay_date, (r.sellable, r.held, r.confirmed)))
        .collect())
}

/// Locks the nights in the order given, which must be ascending: a lateral join visits them one by
/// one, where a set-based statement would choose an order of its own.
pub async fn lock(
    connection: &mut PgConnection,
    keys: impl IntoIterator<Item = &NightKey>,
) -> Result<Vec<(NightKey, Night)>, DbError> {
    let wanted = columns(keys);
    let rows = sqlx::query!(
        "-- store::nights::lock
        SELECT i.hotel_id, i.room_type_id, i.stay_date, i.sellable, i.held, i.confirmed
        FROM (
            SELECT u.hotel_id, u.room_type_id, u.stay_date
            FROM unnest($1::int[], $2::int[], $3::date[]) AS u (hotel_id, room_type_id, stay_date)
            ORDER BY u.hotel_id, u.room_type_id, u.stay_date
        ) AS w
        CROSS JOIN LATERAL (
            SELECT n.hotel_id, n.room_type_id, n.stay_date, n.sellable, n.held, n.confirmed
            FROM room_night_inventory n
            WHERE n.hotel_id = w.hotel_id
              AND n.room_type_id = w.room_type_id
              AND n.stay_date = w.stay_date
            FOR NO KEY UPDATE
        ) AS i",
        &wanted.hotels,
        &wanted.room_types,
        &wanted.dates
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|r| night(r.hotel_id, r.room_type_id, r.stay_date, (r.sellable, r.held, r.confirmed)))
        .collect())
}

/// The one statement that sells, gives back or confirms a unit: check and write at once, exactly one
/// row for each night, or an error that rolls everything back. Never a clamp.
pub async fn apply(connection: &mut PgConnection, deltas: &[(NightKey, NightDelta)]) -> Result<(), DbError> {
    if deltas.is_empty() {
        return Ok(());
    }
    let wanted = columns(deltas.iter().map(|(key, _)| key));
    let sellable: Vec<i32> = deltas.iter().map(|(_, d)| d.sellable).collect();
    let held: Vec<i32> = deltas.iter().map(|(_, d)| d.held).collect();
    let confirmed: Vec<i32> = deltas.iter().map(|(_, d)| d.confirmed).collect();
    sqlx::query!(
        "-- store::nights::apply
        UPDATE room_night_inventory AS i
        SET sellable = i.sellable + d.sellable,
            held = i.held + d.held,
            confirmed = i.confirmed + d.confirmed
        FROM unnest($1::int[], $2::int[], $3::date[], $4::int[], $5::int[], $6::int[])
            AS d (hotel_id, room_type_id, stay_date, sellable, held, confirmed)
        WHERE i.hotel_id = d.hotel_id
          AND i.room_type_id = d.room_type_id
          AND i.stay_date = d.stay_date
          AND i.held + d.held >= 0
          AND i.confirmed + d.confirmed >= 0
          AND i.held + d.held + i.confirmed + d.confirmed <= i.sellable + d.sellable",
        &wanted.hotels,
        &wanted.room_types,
        &wanted.dates,
        &sellable,
        &held,
        &confirmed
    )
    .execute(connection)
    .await?
    .exactly(deltas.len(), "store::nights::apply")
}
