//! Counters against the facts that they stand for: units of ACTIVE holds and of reservation nights not
//! given back. Read by `verify` and by the repair, which sets the counters to the facts.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    code::RoomTypeCode,
    ids::{HoldId, HotelId, RoomTypeId},
};
use uuid::Uuid;

use crate::nights::{Night, NightKey};

/// A night whose counters are not its facts, or whose facts are more than it can sell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NightDrift {
    pub key: NightKey,
    /// `None`: units of a type that the hotel does not have.
    pub code: Option<RoomTypeCode>,
    /// `None`: units are claimed on a night that has no row.
    pub counters: Option<Night>,
    pub facts: Facts,
}

/// Units, counted one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    pub held: i32,
    pub confirmed: i32,
}

/// The first `limit` of such nights, in lock order, and how many there are in all. One statement, so that
/// counters and facts are of one instant at every isolation level.
pub async fn nights(
    connection: &mut PgConnection,
    hotel: HotelId,
    limit: Option<i64>,
) -> Result<(Vec<NightDrift>, i64), DbError> {
    let rows = sqlx::query!(
        r#"-- store::drift::nights
        SELECT coalesce(i.room_type_id, f.room_type_id) AS "room_type_id!",
               coalesce(i.stay_date, f.stay_date) AS "stay_date!",
               t.code AS "code?",
               i.sellable AS "sellable?",
               i.held AS "held?",
               i.confirmed AS "confirmed?",
               i.reported AS "reported?",
               coalesce(f.held, 0) AS "units_held!",
               coalesce(f.confirmed, 0) AS "units_confirmed!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT n.room_type_id, n.stay_date, n.sellable, n.held, n.confirmed, n.reported
            FROM room_night_inventory n
            WHERE n.hotel_id = $1
        ) AS i
        FULL JOIN (
            SELECT u.room_type_id, u.stay_date, sum(u.held)::int AS held, sum(u.confirmed)::int AS confirmed
            FROM (
                SELECT n.room_type_id, n.stay_date, 1 AS held, 0 AS confirmed
                FROM holds h
                JOIN hold_nights n ON n.hotel_id = h.hotel_id AND n.hold_id = h.hold_id
                WHERE h.hotel_id = $1
                  AND h.state = 'ACTIVE'
                UNION ALL
                SELECT r.room_type_id, r.stay_date, 0, 1
                FROM reservation_nights r
                WHERE r.hotel_id = $1
                  AND r.given_back_at IS NULL
            ) AS u
            GROUP BY u.room_type_id, u.stay_date
        ) AS f ON f.room_type_id = i.room_type_id AND f.stay_date = i.stay_date
        LEFT JOIN room_types t
          ON t.hotel_id = $1
         AND t.room_type_id = coalesce(i.room_type_id, f.room_type_id)
        WHERE i.held IS DISTINCT FROM coalesce(f.held, 0)
           OR i.confirmed IS DISTINCT FROM coalesce(f.confirmed, 0)
           OR i.held + i.confirmed > i.sellable
        ORDER BY 1, 2
        LIMIT $2"#,
        hotel.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let nights = rows.into_iter().map(|row| {
        let code = row.code.map(|code| code.parse()).transpose();
        let counters = match (row.sellable, row.held, row.confirmed) {
            (Some(sellable), Some(held), Some(confirmed)) => {
                Some(Night { sellable, held, confirmed, reported: row.reported })
            }
            _ => None,
        };
        Ok(NightDrift {
            key: NightKey { hotel, room_type: RoomTypeId(row.room_type_id), date: row.stay_date },
            code: code.map_err(|e| DbError::unreadable("room type code", &e))?,
            counters,
            facts: Facts { held: row.units_held, confirmed: row.units_confirmed },
        })
    });
    Ok((nights.collect::<Result<_, DbError>>()?, total))
}

/// ACTIVE holds that the expiry passes over because the counters did not carry them.
pub async fn marked(connection: &mut PgConnection, hotel: HotelId) -> Result<Vec<HoldId>, DbError> {
    let rows = sqlx::query_scalar!(
        "-- store::drift::marked
        SELECT hold_id
        FROM holds
        WHERE hotel_id = $1
          AND state = 'ACTIVE'
          AND drift_at IS NOT NULL
        ORDER BY hotel_id, hold_id",
        hotel.0
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|id| HoldId::new(hotel, id)).collect())
}

/// Ends the mark of holds that are locked and still carry it.
pub async fn clear_marks(
    connection: &mut PgConnection,
    hotel: HotelId,
    holds: &[HoldId],
) -> Result<(), DbError> {
    if holds.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "-- store::drift::clear_marks
        UPDATE holds
        SET drift_at = NULL
        WHERE hotel_id = $1
          AND hold_id = ANY($2::uuid[])
          AND state = 'ACTIVE'
          AND drift_at IS NOT NULL",
        hotel.0,
        &holds.iter().map(|id| id.uuid()).collect::<Vec<Uuid>>()
    )
    .execute(connection)
    .await?
    .exactly(holds.len(), "store::drift::clear_marks")
}
