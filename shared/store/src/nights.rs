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
    /// What the hotel's own system said, where that was below what is committed: a conflict waits.
    pub reported: Option<i32>,
}

impl Night {
    pub const fn committed(self) -> i32 {
        self.held + self.confirmed
    }

    /// Below zero where a conflict waits: nothing is sold until what is committed has fallen below the
    /// reported number.
    pub const fn available(self) -> i32 {
        let most = match self.reported {
            Some(reported) if reported < self.sellable => reported,
            Some(_) | None => self.sellable,
        };
        most - self.committed()
    }

    /// Does the hotel's own system say that there are fewer units than are committed?
    pub const fn is_in_conflict(self) -> bool {
        matches!(self.reported, Some(reported) if self.committed() > reported)
    }

    pub const fn add(&mut self, delta: NightDelta) {
        self.sellable += delta.sellable;
        self.held += delta.held;
        self.confirmed += delta.confirmed;
    }
}

/// What one transaction adds to each counter of a night.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NightDelta {
    pub sellable: i32,
    pub held: i32,
    pub confirmed: i32,
}

impl NightDelta {
    pub const fn add(&mut self, other: Self) {
        self.sellable += other.sellable;
        self.held += other.held;
        self.confirmed += other.confirmed;
    }
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

macro_rules! night {
    ($row:expr) => {{
        let row = $row;
        let (hotel, room_type) = (HotelId(row.hotel_id), RoomTypeId(row.room_type_id));
        let night = Night {
            sellable: row.sellable,
            held: row.held,
            confirmed: row.confirmed,
            reported: row.reported,
        };
        (NightKey { hotel, room_type, date: row.stay_date }, night)
    }};
}

/// Without a lock: good for a refusal, never for a sale. A night without a row is absent.
pub async fn read(
    connection: &mut PgConnection,
    keys: impl IntoIterator<Item = &NightKey>,
) -> Result<Vec<(NightKey, Night)>, DbError> {
    let wanted = columns(keys);
    let rows = sqlx::query!(
        "-- store::nights::read
        SELECT i.hotel_id, i.room_type_id, i.stay_date, i.sellable, i.held, i.confirmed, i.reported
        FROM unnest($1::int[], $2::int[], $3::date[]) AS w (hotel_id, room_type_id, stay_date)
        CROSS JOIN LATERAL (
            SELECT n.hotel_id, n.room_type_id, n.stay_date, n.sellable, n.held, n.confirmed, n.reported
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
    Ok(rows.into_iter().map(|row| night!(row)).collect())
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
        SELECT i.hotel_id, i.room_type_id, i.stay_date, i.sellable, i.held, i.confirmed, i.reported
        FROM (
            SELECT u.hotel_id, u.room_type_id, u.stay_date
            FROM unnest($1::int[], $2::int[], $3::date[]) AS u (hotel_id, room_type_id, stay_date)
            ORDER BY u.hotel_id, u.room_type_id, u.stay_date
        ) AS w
        CROSS JOIN LATERAL (
            SELECT n.hotel_id, n.room_type_id, n.stay_date, n.sellable, n.held, n.confirmed, n.reported
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
    Ok(rows.into_iter().map(|row| night!(row)).collect())
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

/// What the hotel's system says of nights that are locked, where that is below what is committed; `None` ends it.
/// Before [`apply`], which may leave fewer units than an old number.
pub async fn report(
    connection: &mut PgConnection,
    numbers: &[(NightKey, Option<i32>)],
) -> Result<(), DbError> {
    if numbers.is_empty() {
        return Ok(());
    }
    let wanted = columns(numbers.iter().map(|(key, _)| key));
    let reported: Vec<Option<i32>> = numbers.iter().map(|(_, reported)| *reported).collect();
    sqlx::query!(
        "-- store::nights::report
        UPDATE room_night_inventory AS i
        SET reported = d.reported
        FROM unnest($1::int[], $2::int[], $3::date[], $4::int[]) AS d (hotel_id, room_type_id, stay_date, reported)
        WHERE i.hotel_id = d.hotel_id
          AND i.room_type_id = d.room_type_id
          AND i.stay_date = d.stay_date",
        &wanted.hotels,
        &wanted.room_types,
        &wanted.dates,
        &reported as &[Option<i32>]
    )
    .execute(connection)
    .await?
    .exactly(numbers.len(), "store::nights::report")
}
