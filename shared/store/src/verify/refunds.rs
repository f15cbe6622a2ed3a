//! Invariant 6: no refund, and no sum of refunds, exceeds what was captured; what each came to is history.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::{AttemptId, HotelId, RefundId};

use super::{Broken, Subject, Violation, Violations};

pub async fn refunds(
    connection: &mut PgConnection,
    hotel: HotelId,
    shown: i64,
) -> Result<Violations, DbError> {
    let amounts = amounts(connection, hotel, shown).await?;
    Ok(amounts.and(history(connection, hotel, shown).await?, shown))
}

/// What a refund has come to stands in the history too, also of one that was made by hand at the provider.
async fn history(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query_as!(
        Broken,
        r#"-- store::verify::refunds::history
        SELECT r.refund_id AS "id!",
               'a refund SUCCEEDED exactly when its last movement says so' AS "rule!",
               r.state AS "expected!",
               coalesce(h.kind, 'no movement') AS "found!",
               count(*) OVER () AS "total!"
        FROM refunds r
        LEFT JOIN LATERAL (
            SELECT x.kind
            FROM payment_history x
            WHERE x.hotel_id = r.hotel_id
              AND x.attempt_id = r.attempt_id
              AND x.kind IN ('refund_succeeded', 'refund_failed')
              AND CASE WHEN r.by_hand THEN x.reference = r.provider_id
                       ELSE starts_with(x.reference, concat(
                           'att_', lpad(to_hex(r.hotel_id), 8, '0'), replace(r.attempt_id::text, '-', ''),
                           '-refund-', r.number, '-'))
                  END
            ORDER BY x.entry_id DESC
            LIMIT 1
        ) AS h ON true
        WHERE r.hotel_id = $1
          AND (r.state = 'SUCCEEDED') <> (coalesce(h.kind, 'none') = 'refund_succeeded')
        ORDER BY r.refund_id
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    Ok(Violations::of(rows, |id| Subject::Refund(RefundId::new(hotel, id))))
}

/// One refund above the capture is told as itself; the sum is told where each alone would fit.
async fn amounts(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Violations, DbError> {
    let rows = sqlx::query!(
        r#"-- store::verify::refunds::amounts
        SELECT p.attempt_id AS "attempt_id!",
               p.refund_id AS "refund_id?",
               concat('at most ', trim_scale(p.captured), ' ', p.currency) AS "expected!",
               concat(trim_scale(p.amount), ' ', p.currency) AS "found!",
               count(*) OVER () AS "total!"
        FROM (
            SELECT r.attempt_id, r.refund_id, r.amount, a.captured, a.currency
            FROM refunds r
            JOIN payment_attempts a ON a.hotel_id = r.hotel_id AND a.attempt_id = r.attempt_id
            WHERE r.hotel_id = $1
              AND r.amount > a.captured
            UNION ALL
            SELECT r.attempt_id, NULL, sum(r.amount), a.captured, a.currency
            FROM refunds r
            JOIN payment_attempts a ON a.hotel_id = r.hotel_id AND a.attempt_id = r.attempt_id
            WHERE r.hotel_id = $1
            GROUP BY r.attempt_id, a.captured, a.currency
            HAVING sum(r.amount) > a.captured
               AND max(r.amount) <= a.captured
        ) AS p
        ORDER BY p.attempt_id, p.refund_id
        LIMIT $2"#,
        hotel.0,
        shown
    )
    .fetch_all(connection)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let first = rows.into_iter().map(|row| {
        let (subject, rule) = match row.refund_id {
            Some(id) => (Subject::Refund(RefundId::new(hotel, id)), "a refund is within what was captured"),
            None => (
                Subject::Attempt(AttemptId::new(hotel, row.attempt_id)),
                "all refunds together are within what was captured",
            ),
        };
        Violation { subject, rule: rule.to_owned(), expected: row.expected, found: row.found }
    });
    Ok(Violations { total, first: first.collect() })
}
