//! Invariant 3: at most one reservation and at most one open attempt per hold. Constraints say the same;
//! this is asked because a constraint can be dropped, and a restored copy may lack one.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{HoldId, HotelId};

use super::{Broken, Subject, Violations};

pub async fn at_most_one(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
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
                   coalesce(r.reservations, 0) AS reservations,
                   coalesce(a.open_attempts, 0) AS open_attempts
            FROM holds h
            LEFT JOIN (
                SELECT x.hold_id, count(*) AS reservations
                FROM reservations x
                WHERE x.hotel_id = $1
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
                ('a hold has at most one reservation',
                 p.reservations > 1,
                 'one at most',
                 p.reservations::text),
                ('a hold has at most one open attempt',
                 p.open_attempts > 1,
                 'one at most',
                 p.open_attempts::text),
                ('a hold is CONSUMED exactly when a reservation took it over',
                 (p.state = 'CONSUMED') <> (p.reservations > 0),
                 CASE WHEN p.reservations > 0 THEN 'CONSUMED' ELSE 'a reservation, or another state' END,
                 CASE WHEN p.reservations > 0 THEN p.state ELSE 'CONSUMED without one' END)
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
