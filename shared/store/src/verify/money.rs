//! Invariant 2: what was captured is kept by a reservation, refunded, due back, or in an open case. Refunds
//! above the capture are invariant 6.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{AttemptId, HotelId, ReservationId};

use super::{Broken, Subject, Violations, charges::charges};

pub async fn money(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let amounts = amounts(connection, hotel, shown).await?;
    let kept = kept(connection, hotel, shown).await?;
    let states = states(connection, hotel, shown).await?;
    let currencies = currencies(connection, hotel, shown).await?;
    let charges = charges(connection, hotel, shown).await?;
    Ok(amounts.and(kept, shown).and(states, shown).and(currencies, shown).and(charges, shown))
}

/// Each rule of an attempt is a row of the VALUES below: the sentence, when it is broken, what it wants,
/// what is there.
async fn amounts(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::money::amounts
        SELECT p.attempt_id AS "id!",
               c.rule AS "rule!",
               c.expected AS "expected!",
               c.found AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT a.attempt_id, a.state, a.currency, a.captured, a.refund_committed,
                   coalesce(r.amount, 0) AS refunds,
                   coalesce(h.captured, 0) AS told,
                   EXISTS (
                       SELECT
                       FROM reservations x
                       WHERE x.hotel_id = a.hotel_id
                         AND x.attempt_id = a.attempt_id) AS reserved
            FROM payment_attempts a
            LEFT JOIN (
                SELECT x.attempt_id, sum(x.amount) AS amount
                FROM refunds x
                WHERE x.hotel_id = $1
                GROUP BY x.attempt_id
            ) AS r ON r.attempt_id = a.attempt_id
            LEFT JOIN (
                SELECT x.attempt_id, sum(x.amount) AS captured
                FROM payment_history x
                WHERE x.hotel_id = $1
                  AND x.kind = 'captured'
                GROUP BY x.attempt_id
            ) AS h ON h.attempt_id = a.attempt_id
            WHERE a.hotel_id = $1
        ) AS p
        CROSS JOIN LATERAL (
            VALUES
                ('captured is kept, refunded, due back, or in an open case',
                 p.state NOT IN ('CONFIRMED', 'RECONCILING') AND NOT p.reserved AND p.captured > p.refunds,
                 concat(trim_scale(p.captured), ' ', p.currency),
                 concat(trim_scale(p.refunds), ' ', p.currency)),
                ('refund_committed is the sum of its refunds',
                 p.refund_committed <> p.refunds,
                 concat(trim_scale(p.refunds), ' ', p.currency),
                 concat(trim_scale(p.refund_committed), ' ', p.currency)),
                ('captured is what the payment history tells',
                 p.captured <> p.told,
                 concat(trim_scale(p.told), ' ', p.currency),
                 concat(trim_scale(p.captured), ' ', p.currency))
        ) AS c (rule, broken, expected, found)
        WHERE c.broken
        ORDER BY p.attempt_id, c.rule
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Attempt(AttemptId::new(hotel, id))))
}

/// What a reservation keeps: its rooms that stand, and the fees of those cancelled. Less where staff gave more
/// back than was due.
async fn kept(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::money::kept
        SELECT p.reservation_id AS "id!",
               'no more is kept than for rooms that stand and fees of those cancelled' AS "rule!",
               concat(trim_scale(k.kept), ' ', p.currency) AS "expected!",
               concat(trim_scale(p.left), ' ', p.currency) AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT coalesce(a.reservation_id, r.reservation_id) AS reservation_id,
                   a.currency,
                   sum(a.captured - a.refund_committed) AS left
            FROM payment_attempts a
            LEFT JOIN reservations r ON r.hotel_id = a.hotel_id AND r.attempt_id = a.attempt_id
            WHERE a.hotel_id = $1
              AND a.state = 'CONFIRMED'
            GROUP BY 1, a.currency
        ) AS p
        JOIN (
            SELECT m.reservation_id, sum(coalesce(m.penalty, m.total)) + r.change_fees AS kept
            FROM reservation_rooms m
            JOIN reservations r ON r.hotel_id = m.hotel_id AND r.reservation_id = m.reservation_id
            WHERE m.hotel_id = $1
            GROUP BY m.reservation_id, r.change_fees
        ) AS k ON k.reservation_id = p.reservation_id
        WHERE p.left > k.kept
        ORDER BY p.reservation_id
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Reservation(ReservationId::new(hotel, id))))
}

/// What the states of attempts say about their money.
async fn states(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::money::states
        SELECT p.attempt_id AS "id!",
               c.rule AS "rule!",
               c.expected AS "expected!",
               c.found AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT a.attempt_id, a.purpose, a.state, a.amount, a.currency, a.captured,
                   EXISTS (
                       SELECT
                       FROM reservations x
                       WHERE x.hotel_id = a.hotel_id
                         AND x.attempt_id = a.attempt_id) AS reserved,
                   coalesce(r.returned, false) AS returned
            FROM payment_attempts a
            LEFT JOIN (
                SELECT x.attempt_id, bool_and(x.state = 'SUCCEEDED') AS returned
                FROM refunds x
                WHERE x.hotel_id = $1
                GROUP BY x.attempt_id
            ) AS r ON r.attempt_id = a.attempt_id
            WHERE a.hotel_id = $1
        ) AS p
        CROSS JOIN LATERAL (
            VALUES
                ('an attempt to book is CONFIRMED exactly when it made a reservation',
                 p.purpose = 'booking' AND (p.state = 'CONFIRMED') <> p.reserved,
                 CASE WHEN p.reserved THEN 'CONFIRMED' ELSE 'a reservation, or another state' END,
                 CASE WHEN p.reserved THEN p.state ELSE 'CONFIRMED without one' END),
                ('a CONFIRMED attempt captured its amount',
                 p.state = 'CONFIRMED' AND p.captured <> p.amount,
                 concat(trim_scale(p.amount), ' ', p.currency),
                 concat(trim_scale(p.captured), ' ', p.currency)),
                ('an attempt is REFUNDED exactly when all its refunds SUCCEEDED',
                 p.state IN ('PAYMENT_CAPTURED_BOOKING_FAILED', 'REFUNDED') AND (p.state = 'REFUNDED') <> p.returned,
                 CASE WHEN p.returned THEN 'REFUNDED' ELSE 'all refunds SUCCEEDED, or another state' END,
                 CASE WHEN p.returned THEN p.state ELSE 'REFUNDED without them' END)
        ) AS c (rule, broken, expected, found)
        WHERE c.broken
        ORDER BY p.attempt_id, c.rule
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Attempt(AttemptId::new(hotel, id))))
}

/// Amounts of several currencies cannot be compared.
async fn currencies(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::money::currencies
        SELECT a.attempt_id AS "id!",
               concat(m.what, ' is in the currency of its attempt') AS "rule!",
               a.currency AS "expected!",
               m.currency AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT r.attempt_id, 'a refund' AS what, r.currency
            FROM refunds r
            WHERE r.hotel_id = $1
            UNION ALL
            SELECT h.attempt_id, 'a movement', h.currency
            FROM payment_history h
            WHERE h.hotel_id = $1
        ) AS m
        JOIN payment_attempts a
          ON a.hotel_id = $1
         AND a.attempt_id = m.attempt_id
         AND a.currency <> m.currency
        ORDER BY a.attempt_id, m.what
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Attempt(AttemptId::new(hotel, id))))
}
