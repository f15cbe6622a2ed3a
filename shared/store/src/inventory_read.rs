//! `room_night_inventory` as it is shown: read from the authority, decides nothing.

use chrono::NaiveDate;
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{HotelId, RoomTypeId};

use crate::nights::Night;

struct Row {
    stay_date: NaiveDate,
    sellable: i32,
    held: i32,
    confirmed: i32,
    reported: Option<i32>,
}

/// Both ends are nights. In date order; a night without a row is absent.
pub async fn of_room_type(
    connection: &mut PgConnection,
    hotel: HotelId,
    room_type: RoomTypeId,
    nights: (NaiveDate, NaiveDate),
) -> Result<Vec<(NaiveDate, Night)>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        "-- store::inventory_read::of_room_type
        SELECT stay_date, sellable, held, confirmed, reported
        FROM room_night_inventory
        WHERE hotel_id = $1
          AND room_type_id = $2
          AND stay_date BETWEEN $3 AND $4
        ORDER BY stay_date",
        hotel.0,
        room_type.0,
        nights.0,
        nights.1
    )
    .fetch_all(connection)
    .await?;
    let night = |r| {
        let Row { stay_date, sellable, held, confirmed, reported } = r;
        (stay_date, Night { sellable, held, confirmed, reported })
    };
    Ok(rows.into_iter().map(night).collect())
}
