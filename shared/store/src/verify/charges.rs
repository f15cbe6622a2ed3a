//! What stays that are not prepaid cost, charge by charge: part of invariant 2.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{AttemptId, HotelId, ReservationId};

use super::{Broken, Subject, Violations};

pub(super) async fn charges(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let sums = sums(connection, hotel, shown).await?;
    let paid = paid(connection, hotel, shown).await?;
    Ok(sums.and(paid, shown).and(tries(connection, hotel, shown).await?, shown))
}

/// What was paid and what is owed later make up what the stay costs. Less only where the hotel gave back more than
/// was due; and what was given back counts as paid once, since a price that falls makes it due.
async fn sums(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::charges::sums
        SELECT p.reservation_id AS "id!",
               c.rule AS "rule!",
               concat(trim_scale(p.cost), ' ', p.currency) AS "expected!",
               concat(trim_scale(c.found), ' ', p.currency) AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT r.reservation_id, r.currency, s.owed, s.at_desk, s.kept_at_desk,
                   m.cost + r.change_fees AS cost,
                   coalesce(a.captured, 0) AS captured,
                   coalesce(a.kept, 0) AS kept
            FROM reservations r
            JOIN (
                SELECT x.reservation_id,
                       coalesce(sum(x.amount) FILTER (WHERE x.state IN ('DUE', 'FAILED')), 0) AS owed,
                       coalesce(sum(x.amount) FILTER (WHERE x.state = 'PAID' AND x.attempt_id IS NULL), 0) AS at_desk,
                       coalesce(sum(x.amount - x.owed_back) FILTER (WHERE x.state = 'PAID' AND x.attempt_id IS NULL), 0)
                           AS kept_at_desk
                FROM scheduled_charges x
                WHERE x.hotel_id = $1
                GROUP BY x.reservation_id
            ) AS s ON s.reservation_id = r.reservation_id
            JOIN (
                SELECT x.reservation_id, sum(coalesce(x.penalty, x.total)) AS cost
                FROM reservation_rooms x
                WHERE x.hotel_id = $1
                GROUP BY x.reservation_id
            ) AS m ON m.reservation_id = r.reservation_id
            LEFT JOIN (
                SELECT coalesce(x.reservation_id, b.reservation_id) AS reservation_id,
                       sum(x.captured) AS captured,
                       sum(x.captured - x.refund_committed) AS kept
                FROM payment_attempts x
                LEFT JOIN reservations b ON b.hotel_id = x.hotel_id AND b.attempt_id = x.attempt_id
                WHERE x.hotel_id = $1
                  AND x.state = 'CONFIRMED'
                GROUP BY 1
            ) AS a ON a.reservation_id = r.reservation_id
            WHERE r.hotel_id = $1
        ) AS p
        CROSS JOIN LATERAL (
            VALUES
                ('no more is kept and owed than the stay costs',
                 p.kept + p.kept_at_desk + p.owed > p.cost,
                 p.kept + p.kept_at_desk + p.owed),
                ('what was paid and what is owed make up what the stay costs',
                 p.captured + p.at_desk + p.owed < p.cost,
                 p.captured + p.at_desk + p.owed)
        ) AS c (rule, broken, found)
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

/// A charge is PAID by an attempt of its reservation that took exactly it, or by the desk's word; one that is
/// being paid has an attempt that is open.
async fn paid(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::charges::paid
        SELECT p.reservation_id AS "id!",
               concat(c.rule, ', charge ', p.number) AS "rule!",
               c.expected AS "expected!",
               coalesce(p.attempt_state, p.state) AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT x.reservation_id, x.number, x.state, x.attempt_id, a.state AS attempt_state,
                   a.state = 'CONFIRMED'
                       AND a.captured = x.amount
                       AND (a.reservation_id = x.reservation_id OR r.attempt_id = a.attempt_id) AS has_paid
            FROM scheduled_charges x
            JOIN reservations r ON r.hotel_id = x.hotel_id AND r.reservation_id = x.reservation_id
            LEFT JOIN payment_attempts a ON a.hotel_id = x.hotel_id AND a.attempt_id = x.attempt_id
            WHERE x.hotel_id = $1
        ) AS p
        CROSS JOIN LATERAL (
            VALUES
                ('a PAID charge has its CONFIRMED attempt, or the desk''s word',
                 p.state = 'PAID' AND p.attempt_id IS NOT NULL AND p.has_paid IS NOT TRUE,
                 'CONFIRMED, of its amount'),
                ('a charge that is being paid has an open attempt',
                 p.state = 'DUE' AND p.attempt_id IS NOT NULL
                     AND p.attempt_state NOT IN ('PENDING_PAYMENT', 'RECONCILING'),
                 'an open attempt'),
                ('a charge that is owed was not taken by its attempt',
                 p.state IN ('DUE', 'FAILED') AND p.attempt_state = 'CONFIRMED',
                 'PAID')
        ) AS c (rule, broken, expected)
        WHERE c.broken
        ORDER BY p.reservation_id, p.number, c.rule
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Reservation(ReservationId::new(hotel, id))))
}

/// An attempt to collect a charge that is open or has taken money is that of exactly one charge.
async fn tries(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::charges::tries
        SELECT a.attempt_id AS "id!",
               'an attempt to collect a charge is that of one charge' AS "rule!",
               '1' AS "expected!",
               coalesce(x.charges, 0)::text AS "found!",
               count(*) OVER () AS "total!"
        FROM payment_attempts a
        LEFT JOIN (
            SELECT c.attempt_id, count(*) AS charges
            FROM scheduled_charges c
            WHERE c.hotel_id = $1
            GROUP BY c.attempt_id
        ) AS x ON x.attempt_id = a.attempt_id
        WHERE a.hotel_id = $1
          AND a.purpose IN ('deposit', 'penalty')
          AND a.state IN ('PENDING_PAYMENT', 'RECONCILING', 'CONFIRMED')
          AND coalesce(x.charges, 0) <> 1
        ORDER BY a.attempt_id
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Attempt(AttemptId::new(hotel, id))))
}
