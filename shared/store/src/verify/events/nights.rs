//! What was told last of a night against what is available there.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{HotelId, RoomTypeId};

use crate::verify::{Subject, Violation, Violations};

/// The event with the largest `seq` that names a night tells what is available there. Nights whose
/// counters are wrong are left to invariant 1. (`least` passes over a reported number that is NULL.)
pub(super) async fn told(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let rows = sqlx::query!(
        r#"-- store::verify::events::nights::told
        SELECT i.room_type_id,
               i.stay_date,
               t.code AS "code?",
               greatest(least(i.sellable, i.reported) - i.held - i.confirmed, 0)::text AS "expected!",
               told.available::text AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT DISTINCT ON (n.room_type_id, n.night) n.room_type_id, n.night, n.available
            FROM outbox o
            CROSS JOIN LATERAL jsonb_to_recordset(o.payload -> 'nights')
                AS n (room_type_id int, night date, available int)
            WHERE o.hotel_id = $1
              AND o.type IN ('hold.placed', 'hold.released', 'hold.expired', 'reservation.confirmed',
                             'reservation.cancelled', 'reservation.changed', 'reservation.checked_out',
                             'reservation.no_show', 'reservation.no_show_undone', 'inventory.changed')
            ORDER BY n.room_type_id, n.night, o.seq DESC
        ) AS told
        JOIN room_night_inventory i
          ON i.hotel_id = $1
         AND i.room_type_id = told.room_type_id
         AND i.stay_date = told.night
        LEFT JOIN (
            SELECT u.room_type_id, u.stay_date, sum(u.held) AS held, sum(u.confirmed) AS confirmed
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
        LEFT JOIN room_types t ON t.hotel_id = $1 AND t.room_type_id = i.room_type_id
        WHERE i.held = coalesce(f.held, 0)
          AND i.confirmed = coalesce(f.confirmed, 0)
          AND told.available IS DISTINCT FROM greatest(least(i.sellable, i.reported) - i.held - i.confirmed, 0)
        ORDER BY i.room_type_id, i.stay_date
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let first = rows.into_iter().map(|row| {
        let code = row.code.map(|code| code.parse()).transpose();
        let code = code.map_err(|e| DbError::unreadable("room type code", &e))?;
        Ok(Violation {
            subject: Subject::Night { room_type: RoomTypeId(row.room_type_id), code, night: row.stay_date },
            rule: "the last event of a night tells what is available".to_owned(),
            expected: row.expected,
            found: row.found,
        })
    });
    Ok(Violations { total, first: first.collect::<Result<_, DbError>>()? })
}
