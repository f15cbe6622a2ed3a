//! `customer_actions`: attempts whose customer has to act first.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{clock::Moment, ids::AttemptId, page_url::PageUrl};

/// Waits for the customer until `deadline`. The attempt is locked by the caller, and PENDING_PAYMENT.
pub async fn insert(
    connection: &mut PgConnection,
    attempt: AttemptId,
    url: &PageUrl,
    now: Moment,
    deadline: Moment,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::customer_actions::insert
        INSERT INTO customer_actions (hotel_id, attempt_id, url, asked_at)
        VALUES ($1, $2, $3, $4)",
        attempt.hotel().0,
        attempt.uuid(),
        url.expose(),
        now.0
    )
    .execute(&mut *connection)
    .await?
    .exactly(1, "store::customer_actions::insert")?;
    sqlx::query!(
        "-- store::customer_actions::put_off
        UPDATE payment_attempts
        SET deadline_at = $3
        WHERE hotel_id = $1
          AND attempt_id = $2
          AND state = 'PENDING_PAYMENT'",
        attempt.hotel().0,
        attempt.uuid(),
        deadline.0
    )
    .execute(connection)
    .await?
    .exactly(1, "store::customer_actions::put_off")
}

/// Where the customer was sent, if anywhere.
pub async fn read(connection: &mut PgConnection, attempt: AttemptId) -> Result<Option<PageUrl>, DbError> {
    let url = sqlx::query_scalar!(
        "-- store::customer_actions::read
        SELECT url
        FROM customer_actions
        WHERE hotel_id = $1
          AND attempt_id = $2",
        attempt.hotel().0,
        attempt.uuid()
    )
    .fetch_optional(connection)
    .await?;
    url.map(|url| url.parse().map_err(|e| DbError::unreadable("page for a customer", &e))).transpose()
}
