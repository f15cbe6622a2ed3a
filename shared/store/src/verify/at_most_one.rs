//! Invariant 3: at most one reservation and at most one open attempt per hold, and a reservation that is
//! cancelled in its head is so in its rooms. Constraints say some of it too; this is asked because a
//! constraint can be dropped, and a restored copy may lack one.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{HoldId, HotelId, ReservationId};

use super::{Broken, Subject, Violations, channel_bookings::channel_bookings};

pub async fn at_most_one(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let holds = holds(connection, hotel, shown).await?;
    let cancelled = cancelled(connection, hotel, shown).await?;
    let channels = channel_bookings(connection, hotel, shown).await?;
    Ok(holds.and(cancelled, shown).and(channels, shown))
}

/// A room's units go back with it, and the reservation ends with its last room.
async fn cancelled(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::cancelled
        SELECT p.reservation_id AS "id!",
               c.rule AS "rule!",
               c.expected AS "expected!",
               c.found AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT r.reservation_id, r.state,
                   coalesce(m.standing, 0) AS standing,
                   coalesce(n.left_behind, 0) AS left_behind
            FROM reservations r
            LEFT JOIN (
                SELECT x.reservation_id, count(*) FILTER (WHERE x.cancelled_at IS NULL) AS standing
                FROM reservation_rooms x
                WHERE x.hotel_id = $1
                GROUP BY x.reservation_id
            ) AS m ON m.reservation_id = r.reservation_id
            LEFT JOIN (
                SELECT x.reservation_id, count(*) AS left_behind
                FROM reservation_rooms x
                JOIN reservation_nights y
                  ON y.hotel_id = x.hotel_id
                 AND y.reservation_id = x.reservation_id
                 AND y.room = x.room
                 AND y.given_back_at IS NULL
                WHERE x.hotel_id = $1
                  AND x.cancelled_at IS NOT NULL
                GROUP BY x.reservation_id
            ) AS n ON n.reservation_id = r.reservation_id
            WHERE r.hotel_id = $1
        ) AS p
        CROSS JOIN LATERAL (
            VALUES
                ('a reservation is CANCELLED exactly when none of its rooms stands',
                 (p.state = 'CANCELLED') <> (p.standing = 0),
                 CASE WHEN p.standing = 0 THEN 'CANCELLED' ELSE 'a room that stands, or another end' END,
                 concat(p.state, ' with ', p.standing, ' rooms')),
                ('the units of a cancelled room are given back',
                 p.left_behind > 0,
                 '0',
                 p.left_behind::text)
        ) AS c (rule, broken, expected, found)
        WHERE c.broken
        ORDER BY p.reservation_id, c.rule
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Reservation(ReservationId::new(hotel, id))))
}

async fn holds(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::at_most_one
        SELECT p.hold_id AS "id!",
               c.rule AS "rule!",
               c.expected AS "expected!",
               c.found AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT h.hold_id, h.state,
                   coalesce(r.taken, 0) AS taken,
                   coalesce(a.open_attempts, 0) AS open_attempts
            FROM holds h
            LEFT JOIN (
                SELECT x.hold_id, count(*) AS taken
                FROM (
                    SELECT o.hold_id
                    FROM reservations o
                    WHERE o.hotel_id = $1
                    UNION ALL
                    SELECT c.hold_id
                    FROM reservation_changes c
                    WHERE c.hotel_id = $1
                      AND c.state = 'COMPLETED'
                ) AS x
                GROUP BY x.hold_id
            ) AS r ON r.hold_id = h.hold_id
            LEFT JOIN (
                SELECT x.hold_id, count(*) AS open_attempts
                FROM payment_attempts x
                WHERE x.hotel_id = $1
                  AND x.state IN ('PENDING_PAYMENT', 'RECONCILING')
                GROUP BY x.hold_id
            ) AS a ON a.hold_id = h.hold_id
            WHERE h.hotel_id = $1
        ) AS p
        CROSS JOIN LATERAL (
            VALUES
                ('a hold has at most one reservation or change',
                 p.taken > 1,
                 'one at most',
                 p.taken::text),
                ('a hold has at most one open attempt',
                 p.open_attempts > 1,
                 'one at most',
                 p.open_attempts::text),
                ('a hold is CONSUMED exactly when a reservation or a change of one took it over',
                 (p.state = 'CONSUMED') <> (p.taken > 0),
                 CASE WHEN p.taken > 0 THEN 'CONSUMED' ELSE 'a reservation, or another state' END,
                 CASE WHEN p.taken > 0 THEN p.state ELSE 'CONSUMED without one' END)
        ) AS c (rule, broken, expected, found)
        WHERE c.broken
        ORDER BY p.hold_id, c.rule
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Hold(HoldId::new(hotel, id))))
}
