//! `room_types`: what a hotel has to sell, numbered in the order in which it was told.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    hotel::RoomType,
    ids::{HotelId, RoomTypeId},
};

pub async fn insert(
    connection: &mut PgConnection,
    hotel: HotelId,
    room_types: &[RoomType],
) -> Result<(), DbError> {
    let ids: Vec<i32> = room_types.iter().map(|t| t.id.0).collect();
    let codes: Vec<String> = room_types.iter().map(|t| t.code.as_str().to_owned()).collect();
    let names: Vec<String> = room_types.iter().map(|t| t.name.clone()).collect();
    let bases: Vec<i32> = room_types.iter().map(|t| i32::from(t.base_occupancy)).collect();
    let adults: Vec<i32> = room_types.iter().map(|t| i32::from(t.max_adults)).collect();
    let children: Vec<i32> = room_types.iter().map(|t| i32::from(t.max_children)).collect();
    let occupancies: Vec<i32> = room_types.iter().map(|t| i32::from(t.max_occupancy)).collect();
    let units: Vec<i64> = room_types.iter().map(|t| i64::from(t.units)).collect();
    sqlx::query!(
        "-- store::room_types::insert
        INSERT INTO room_types (
            hotel_id, room_type_id, code, name, base_occupancy, max_adults, max_children, max_occupancy, units)
        SELECT $1, u.id, u.code, u.name, u.base, u.adults, u.children, u.occupancy, u.units
        FROM unnest($2::int[], $3::text[], $4::text[], $5::int[], $6::int[], $7::int[], $8::int[], $9::bigint[])
            AS u (id, code, name, base, adults, children, occupancy, units)",
        hotel.0,
        &ids,
        &codes,
        &names,
        &bases,
        &adults,
        &children,
        &occupancies,
        &units
    )
    .execute(connection)
    .await?
    .exactly(room_types.len(), "store::room_types::insert")
}

pub async fn of_hotel(connection: &mut PgConnection, hotel: HotelId) -> Result<Vec<RoomType>, DbError> {
    let rows = sqlx::query!(
        "-- store::room_types::of_hotel
        SELECT room_type_id, code, name, base_occupancy, max_adults, max_children, max_occupancy, units
        FROM room_types
        WHERE hotel_id = $1
        ORDER BY room_type_id",
        hotel.0
    )
    .fetch_all(connection)
    .await?;
    let room_types = rows.into_iter().map(|row| {
        Ok(RoomType {
            id: RoomTypeId(row.room_type_id),
            code: row.code.parse().map_err(|e| DbError::unreadable("room type code", &e))?,
            name: row.name,
            base_occupancy: small(row.base_occupancy)?,
            max_adults: small(row.max_adults)?,
            max_children: small(row.max_children)?,
            max_occupancy: small(row.max_occupancy)?,
            units: row.units.try_into().map_err(|e| DbError::unreadable("number of units", &e))?,
        })
    });
    room_types.collect()
}

fn small(column: i32) -> Result<u16, DbError> {
    column.try_into().map_err(|e| DbError::unreadable("occupancy", &e))
}

/// Edits of rates and restrictions lock their room types first: a night that has no row yet cannot be
/// locked, and two edits of it would each fill in what the other had just changed. Foreign keys
/// take KEY SHARE only and do not wait here.
pub async fn lock(
    connection: &mut PgConnection,
    hotel: HotelId,
    room_types: &[RoomTypeId],
) -> Result<(), DbError> {
    let ids: Vec<i32> = room_types.iter().map(|id| id.0).collect();
    let rows = sqlx::query!(
        "-- store::room_types::lock
        SELECT room_type_id
        FROM room_types
        WHERE hotel_id = $1
          AND room_type_id = ANY($2::int[])
        ORDER BY hotel_id, room_type_id
        FOR NO KEY UPDATE",
        hotel.0,
        &ids
    )
    .fetch_all(connection)
    .await?;
    match rows.len() {
        got if got == ids.len() => Ok(()),
        got => Err(DbError::RowCount {
            statement: "store::room_types::lock",
            expected: ids.len() as u64,
            got: got as u64,
        }),
    }
}
