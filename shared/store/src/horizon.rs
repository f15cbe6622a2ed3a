//! Opening nights of `room_night_inventory` as the horizon rolls on.

use chrono::NaiveDate;
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    event::NightAvailability,
    ids::{HotelId, RoomTypeId},
};

/// Opens the nights of every room type with its `units`, both ends included. A night that is open
/// keeps its own number. Answers with what it opened, in order of room type and date.
pub async fn open_nights(
    connection: &mut PgConnection,
    hotel: HotelId,
    first: NaiveDate,
    last: NaiveDate,
) -> Result<Vec<NightAvailability>, DbError> {
    let rows = sqlx::query!(
        "-- store::horizon::open_nights
        INSERT INTO room_night_inventory (hotel_id, room_type_id, stay_date, sellable)
        SELECT t.hotel_id, t.room_type_id, $2::date + n.days, t.units
        FROM room_types t
        CROSS JOIN generate_series(0, $3::date - $2::date) AS n (days)
        WHERE t.hotel_id = $1
        ORDER BY t.room_type_id, n.days
        ON CONFLICT (hotel_id, room_type_id, stay_date) DO NOTHING
        RETURNING room_type_id, stay_date, sellable",
        hotel.0,
        first,
        last
    )
    .fetch_all(connection)
    .await?;
    let opened = rows.into_iter().map(|row| {
        Ok(NightAvailability {
            room_type_id: RoomTypeId(row.room_type_id),
            night: row.stay_date,
            available: row.sellable.try_into().map_err(|e| DbError::unreadable("number of units", &e))?,
        })
    });
    opened.collect()
}
