//! `refund_book_lines`: refunds that were looked for in the provider's books.

use std::time::Duration;

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, HotelId},
    money::Money,
};

use crate::read::money;

/// Once; again changes nothing.
pub async fn remember(
    connection: &mut PgConnection,
    attempt: AttemptId,
    number: i32,
    found: bool,
    now: Moment,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::book_lines::remember
        INSERT INTO refund_book_lines (hotel_id, attempt_id, number, found, looked_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (hotel_id, attempt_id, number) DO NOTHING",
        attempt.hotel().0,
        attempt.uuid(),
        number,
        found,
        now.0
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A refund that is called a success, and that the books do not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingRefund {
    pub attempt: AttemptId,
    pub number: i32,
    pub try_number: i32,
    pub amount: Money,
    pub settled_at: Moment,
}

/// Of those that were settled longer ago than the first of `ages` and not longer than the second.
pub async fn missing(
    connection: &mut PgConnection,
    now: Moment,
    ages: (Duration, Duration),
    limit: i64,
) -> Result<Vec<MissingRefund>, DbError> {
    let (youngest, oldest) = (now.0 - ages.0, now.0 - ages.1);
    let rows = sqlx::query!(
        r#"-- store::book_lines::missing
        SELECT r.hotel_id, r.attempt_id, r.number, r.try AS try_number, r.amount, r.currency,
               r.settled_at AS "settled_at!"
        FROM refunds r
        WHERE r.state = 'SUCCEEDED'
          AND NOT r.by_hand
          AND r.settled_at < $1
          AND r.settled_at >= $2
          AND NOT EXISTS (
              SELECT
              FROM refund_book_lines l
              WHERE l.hotel_id = r.hotel_id
                AND l.attempt_id = r.attempt_id
                AND l.number = r.number)
        ORDER BY r.settled_at
        LIMIT $3"#,
        youngest,
        oldest,
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(MissingRefund {
                attempt: AttemptId::new(HotelId(row.hotel_id), row.attempt_id),
                number: row.number,
                try_number: row.try_number,
                amount: money(row.amount, &row.currency)?,
                settled_at: Moment(row.settled_at),
            })
        })
        .collect()
}
