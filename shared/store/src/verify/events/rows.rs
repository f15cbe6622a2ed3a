//! Holds, attempts, reservations and refunds against the events about them, both ways.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::HotelId;

use crate::verify::{Subject, Violation, Violations};

/// A row and its state tell which events it must have, and which it may have: an attempt whose booking
/// failed after a capture was perhaps FAILED before, and then told so. Two of a type only of refunds, each try of
/// which may arrive and fail, and which operators send again as often as they want.
#[expect(clippy::too_many_lines, reason = "one statement, one line for each kind of event")]
pub(super) async fn told(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Told,
        r#"-- store::verify::events::rows::told
        SELECT coalesce(w.type, e.type) AS "name!",
               coalesce(w.about, e.about, 'nothing') AS "about!",
               CASE WHEN w.about IS NULL THEN 'none, since nothing has that id'
                    WHEN w.must = w.may THEN w.must::text
                    ELSE concat(w.must, ' to ', w.may)
               END AS "expected!",
               coalesce(e.events, 0)::text AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT x.type, x.must, x.may,
                   concat(x.kind, '_', lpad(to_hex($1::int), 8, '0'), replace(x.id::text, '-', '')) AS about
            FROM (
                SELECT 'hld' AS kind, h.hold_id AS id, v.type, v.must, v.may
                FROM holds h
                CROSS JOIN LATERAL (VALUES
                    ('hold.placed', 1, 1),
                    ('hold.released', (h.state = 'RELEASED')::int, (h.state = 'RELEASED')::int),
                    ('hold.expired', (h.state = 'EXPIRED')::int, (h.state = 'EXPIRED')::int)
                ) AS v (type, must, may)
                WHERE h.hotel_id = $1
                UNION ALL
                SELECT 'att', a.attempt_id, v.type, v.must, v.may
                FROM payment_attempts a
                CROSS JOIN LATERAL (VALUES
                    ('attempt.started', 1, 1),
                    ('attempt.reconciling', (a.state = 'RECONCILING')::int, (a.state <> 'PENDING_PAYMENT')::int),
                    ('attempt.failed', (a.state = 'FAILED')::int,
                     (a.state IN ('FAILED', 'PAYMENT_CAPTURED_BOOKING_FAILED', 'REFUNDED'))::int)
                ) AS v (type, must, may)
                WHERE a.hotel_id = $1
                UNION ALL
                SELECT 'res', r.reservation_id, v.type, v.must, v.may
                FROM reservations r
                LEFT JOIN (
                    SELECT m.reservation_id, count(m.cancelled_at)::int AS cancelled
                    FROM reservation_rooms m
                    WHERE m.hotel_id = $1
                      AND m.removed_at_version IS NULL
                    GROUP BY m.reservation_id
                ) AS m ON m.reservation_id = r.reservation_id
                CROSS JOIN LATERAL (VALUES
                    ('reservation.confirmed', 1, 1),
                    ('reservation.cancelled', least(coalesce(m.cancelled, 0), 1), coalesce(m.cancelled, 0)),
                    ('reservation.changed', 0, r.version - 1),
                    ('reservation.checked_in', (r.state IN ('CHECKED_IN', 'CHECKED_OUT'))::int,
                     (r.state IN ('CHECKED_IN', 'CHECKED_OUT'))::int),
                    ('reservation.checked_out', (r.state = 'CHECKED_OUT')::int, (r.state = 'CHECKED_OUT')::int),
                    ('reservation.no_show', (r.state = 'NO_SHOW')::int, r.version - 1),
                    ('reservation.no_show_undone', 0, r.version - 1)
                ) AS v (type, must, may)
                WHERE r.hotel_id = $1
                UNION ALL
                SELECT 'ref', r.refund_id, v.type, v.must, v.may
                FROM refunds r
                CROSS JOIN LATERAL (VALUES
                    ('refund.requested', (NOT r.by_hand)::int, (NOT r.by_hand)::int),
                    ('refund.succeeded', (r.state = 'SUCCEEDED')::int, r.try),
                    ('refund.failed', 0, r.try),
                    ('refund.needs_attention', (r.state = 'NEEDS_ATTENTION')::int, 1000)
                ) AS v (type, must, may)
                WHERE r.hotel_id = $1
            ) AS x
        ) AS w
        FULL JOIN (
            SELECT o.type,
                   o.payload ->> concat(split_part(o.type, '.', 1), '_id') AS about,
                   count(*) AS events
            FROM outbox o
            WHERE o.hotel_id = $1
              AND split_part(o.type, '.', 1) IN ('hold', 'attempt', 'reservation', 'refund')
            GROUP BY 1, 2
        ) AS e ON e.type = w.type AND e.about = w.about
        WHERE coalesce(e.events, 0) NOT BETWEEN coalesce(w.must, 0) AND coalesce(w.may, 0)
        ORDER BY 1, 2
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(violations(rows))
}

struct Told {
    name: String,
    about: String,
    expected: String,
    found: String,
    total: i64,
}

fn violations(rows: Vec<Told>) -> Violations {
    let total = rows.first().map_or(0, |row| row.total);
    let first = rows.into_iter().map(|row| Violation {
        subject: Subject::Event { name: row.name, about: row.about },
        rule: "each change has one event".to_owned(),
        expected: row.expected,
        found: row.found,
    });
    Violations { total, first: first.collect() }
}
