//! `restrictions`: rules for new sales of a night. No row: no rule.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    ids::{HotelId, RoomTypeId},
    restriction::{NightRestriction, RatePlanScope, Restrictions},
};

/// A row within its hotel.
pub type RestrictionKey = (RoomTypeId, RatePlanScope, NaiveDate);

/// All rows of a room type, under any plan, from `first` to `last`, both included. For a stay `last`
/// is the check-out date: that is where closed to departure stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Window {
    pub hotel: HotelId,
    pub room_type: RoomTypeId,
    pub first: NaiveDate,
    pub last: NaiveDate,
}

macro_rules! restriction {
    ($row:expr) => {{
        let row = $row;
        let key: RestrictionKey =
            (RoomTypeId(row.room_type_id), RatePlanScope::from(row.rate_plan_id), row.stay_date);
        let restriction = NightRestriction {
            stop_sell: row.stop_sell,
            min_stay_arrival: limit(row.min_stay_arrival)?,
            min_stay_through: limit(row.min_stay_through)?,
            max_stay: limit(row.max_stay)?,
            closed_to_arrival: row.closed_to_arrival,
            closed_to_departure: row.closed_to_departure,
            min_advance_days: limit(row.min_advance_days)?,
            max_advance_days: limit(row.max_advance_days)?,
        };
        Ok::<_, DbError>((key, restriction))
    }};
}

fn limit(column: Option<i32>) -> Result<Option<u16>, DbError> {
    column.map(u16::try_from).transpose().map_err(|e| DbError::unreadable("restriction", &e))
}

/// Plain read: a rule that commits a moment later governs the sales after it.
pub async fn in_windows(
    connection: &mut PgConnection,
    windows: &[Window],
) -> Result<BTreeMap<HotelId, Restrictions>, DbError> {
    let hotels: Vec<i32> = windows.iter().map(|w| w.hotel.0).collect();
    let room_types: Vec<i32> = windows.iter().map(|w| w.room_type.0).collect();
    let first: Vec<NaiveDate> = windows.iter().map(|w| w.first).collect();
    let last: Vec<NaiveDate> = windows.iter().map(|w| w.last).collect();
    let rows = sqlx::query!(
        "-- store::restrictions::in_windows
        SELECT r.hotel_id, r.room_type_id, r.rate_plan_id, r.stay_date, r.stop_sell, r.min_stay_arrival,
               r.min_stay_through, r.max_stay, r.closed_to_arrival, r.closed_to_departure, r.min_advance_days,
               r.max_advance_days
        FROM unnest($1::int[], $2::int[], $3::date[], $4::date[]) AS w (hotel_id, room_type_id, first, last)
        CROSS JOIN LATERAL (
            SELECT n.hotel_id, n.room_type_id, n.rate_plan_id, n.stay_date, n.stop_sell, n.min_stay_arrival,
                   n.min_stay_through, n.max_stay, n.closed_to_arrival, n.closed_to_departure, n.min_advance_days,
                   n.max_advance_days
            FROM restrictions n
            WHERE n.hotel_id = w.hotel_id
              AND n.room_type_id = w.room_type_id
              AND n.stay_date BETWEEN w.first AND w.last
        ) AS r",
        &hotels,
        &room_types,
        &first,
        &last
    )
    .fetch_all(connection)
    .await?;
    let mut found = BTreeMap::<HotelId, Restrictions>::new();
    for row in rows {
        let hotel = HotelId(row.hotel_id);
        let (key, restriction) = restriction!(row)?;
        found.entry(hotel).or_default().insert(key, restriction);
    }
    Ok(found)
}

/// Exactly these rows, as far as they exist.
pub async fn read(
    connection: &mut PgConnection,
    hotel: HotelId,
    keys: &[RestrictionKey],
) -> Result<Restrictions, DbError> {
    let (room_types, rate_plans, dates) = columns(keys);
    let rows = sqlx::query!(
        "-- store::restrictions::read
        SELECT r.room_type_id, r.rate_plan_id, r.stay_date, r.stop_sell, r.min_stay_arrival, r.min_stay_through,
               r.max_stay, r.closed_to_arrival, r.closed_to_departure, r.min_advance_days, r.max_advance_days
        FROM unnest($2::int[], $3::int[], $4::date[]) AS w (room_type_id, rate_plan_id, stay_date)
        CROSS JOIN LATERAL (
            SELECT n.room_type_id, n.rate_plan_id, n.stay_date, n.stop_sell, n.min_stay_arrival, n.min_stay_through,
                   n.max_stay, n.closed_to_arrival, n.closed_to_departure, n.min_advance_days, n.max_advance_days
            FROM restrictions n
            WHERE n.hotel_id = $1
              AND n.room_type_id = w.room_type_id
              AND n.rate_plan_id = w.rate_plan_id
              AND n.stay_date = w.stay_date
        ) AS r",
        hotel.0,
        &room_types,
        &rate_plans,
        &dates
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| restriction!(row)).collect()
}

fn columns<'k>(keys: impl IntoIterator<Item = &'k RestrictionKey>) -> (Vec<i32>, Vec<i32>, Vec<NaiveDate>) {
    let mut columns = (Vec::new(), Vec::new(), Vec::new());
    for (room_type, scope, date) in keys {
        columns.0.push(room_type.0);
        columns.1.push(i32::from(*scope));
        columns.2.push(*date);
    }
    columns
}

/// The rows as they are afterwards; those that say nothing any more are removed. The room types
/// are locked, so that `before`, the rows as they were read, is still what stands there.
pub async fn replace(
    connection: &mut PgConnection,
    hotel: HotelId,
    before: &Restrictions,
    after: &Restrictions,
) -> Result<(), DbError> {
    let kept = after.iter().filter(|(_, row)| !row.is_empty()).map(|(key, row)| (*key, *row)).collect();
    put(connection, hotel, &kept).await?;
    let emptied = after.iter().filter(|(key, row)| row.is_empty() && before.contains_key(key));
    let emptied: Vec<RestrictionKey> = emptied.map(|(key, _)| *key).collect();
    remove(connection, hotel, &emptied).await
}

async fn put(connection: &mut PgConnection, hotel: HotelId, rows: &Restrictions) -> Result<(), DbError> {
    if rows.is_empty() {
        return Ok(());
    }
    let (room_types, rate_plans, dates) = columns(rows.keys());
    let flags = |pick: fn(&NightRestriction) -> bool| rows.values().map(pick).collect::<Vec<bool>>();
    let limits = |pick: fn(&NightRestriction) -> Option<u16>| {
        rows.values().map(|row| pick(row).map(i32::from)).collect::<Vec<Option<i32>>>()
    };
    sqlx::query!(
        "-- store::restrictions::put
        INSERT INTO restrictions (
            hotel_id, room_type_id, rate_plan_id, stay_date, stop_sell, min_stay_arrival, min_stay_through, max_stay,
            closed_to_arrival, closed_to_departure, min_advance_days, max_advance_days)
        SELECT $1, u.room_type_id, u.rate_plan_id, u.stay_date, u.stop_sell, u.min_stay_arrival, u.min_stay_through,
               u.max_stay, u.closed_to_arrival, u.closed_to_departure, u.min_advance_days, u.max_advance_days
        FROM unnest($2::int[], $3::int[], $4::date[], $5::bool[], $6::int[], $7::int[], $8::int[], $9::bool[],
                    $10::bool[], $11::int[], $12::int[])
            AS u (room_type_id, rate_plan_id, stay_date, stop_sell, min_stay_arrival, min_stay_through, max_stay,
                  closed_to_arrival, closed_to_departure, min_advance_days, max_advance_days)
        ORDER BY u.room_type_id, u.rate_plan_id, u.stay_date
        ON CONFLICT (hotel_id, room_type_id, rate_plan_id, stay_date) DO UPDATE
        SET stop_sell = excluded.stop_sell,
            min_stay_arrival = excluded.min_stay_arrival,
            min_stay_through = excluded.min_stay_through,
            max_stay = excluded.max_stay,
            closed_to_arrival = excluded.closed_to_arrival,
            closed_to_departure = excluded.closed_to_departure,
            min_advance_days = excluded.min_advance_days,
            max_advance_days = excluded.max_advance_days",
        hotel.0,
        &room_types,
        &rate_plans,
        &dates,
        &flags(|r| r.stop_sell),
        &limits(|r| r.min_stay_arrival) as &[Option<i32>],
        &limits(|r| r.min_stay_through) as &[Option<i32>],
        &limits(|r| r.max_stay) as &[Option<i32>],
        &flags(|r| r.closed_to_arrival),
        &flags(|r| r.closed_to_departure),
        &limits(|r| r.min_advance_days) as &[Option<i32>],
        &limits(|r| r.max_advance_days) as &[Option<i32>]
    )
    .execute(connection)
    .await?
    .exactly(rows.len(), "store::restrictions::put")
}

async fn remove(
    connection: &mut PgConnection,
    hotel: HotelId,
    keys: &[RestrictionKey],
) -> Result<(), DbError> {
    if keys.is_empty() {
        return Ok(());
    }
    let (room_types, rate_plans, dates) = columns(keys);
    sqlx::query!(
        "-- store::restrictions::remove
        DELETE FROM restrictions AS r
        USING unnest($2::int[], $3::int[], $4::date[]) AS w (room_type_id, rate_plan_id, stay_date)
        WHERE r.hotel_id = $1
          AND r.room_type_id = w.room_type_id
          AND r.rate_plan_id = w.rate_plan_id
          AND r.stay_date = w.stay_date",
        hotel.0,
        &room_types,
        &rate_plans,
        &dates
    )
    .execute(connection)
    .await?
    .exactly(keys.len(), "store::restrictions::remove")
}
