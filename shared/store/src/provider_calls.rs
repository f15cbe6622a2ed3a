//! `provider_calls`: what the payment provider was asked and what it answered. For people; nothing is decided by
//! it. Written beside every transaction that decides.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{clock::Moment, ids::AttemptId};
use uuid::Uuid;

/// Of the same call of an attempt by the same reference, the latest are kept: a provider that is away is asked
/// again and again.
pub const KEPT: i64 = 50;

/// A call that is about to be sent, or was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallRow {
    /// Rises with time.
    pub id: Uuid,
    pub attempt: AttemptId,
    pub call: &'static str,
    /// Our name for it.
    pub reference: String,
}

/// How it ended, in words of ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallEnd {
    pub outcome: &'static str,
    pub detail: Option<String>,
}

/// Before the call is sent. Where its end is written already, nothing is left to write.
pub async fn asked(connection: &mut PgConnection, row: &CallRow) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::provider_calls::asked
        WITH too_many AS (
            DELETE FROM provider_calls
            WHERE (hotel_id, call_id) IN (
                SELECT c.hotel_id, c.call_id
                FROM provider_calls c
                WHERE c.hotel_id = $1
                  AND c.attempt_id = $3
                  AND c.reference = $5
                  AND c.call = $4
                ORDER BY c.call_id DESC
                OFFSET $6
                LIMIT 10)
        )
        INSERT INTO provider_calls (hotel_id, call_id, attempt_id, call, reference, asked_at)
        VALUES ($1, $2, $3, $4, $5, keyrack_now())
        ON CONFLICT (hotel_id, call_id) DO NOTHING",
        row.attempt.hotel().0,
        row.id,
        row.attempt.uuid(),
        row.call,
        row.reference,
        KEPT - 1
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// After it. The row may not be there: the note before the call was given up, or is still on its way.
pub async fn answered(connection: &mut PgConnection, row: &CallRow, end: &CallEnd) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::provider_calls::answered
        INSERT INTO provider_calls (
            hotel_id, call_id, attempt_id, call, reference, asked_at, answered_at, outcome, detail)
        SELECT $1, $2, $3, $4, $5, n.at, n.at, $6, $7
        FROM (SELECT keyrack_now() AS at) AS n
        ON CONFLICT (hotel_id, call_id) DO UPDATE
        SET answered_at = excluded.answered_at,
            outcome = excluded.outcome,
            detail = excluded.detail",
        row.attempt.hotel().0,
        row.id,
        row.attempt.uuid(),
        row.call,
        row.reference,
        end.outcome,
        end.detail
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Removes calls that were asked before `before`, at most `limit` at once, and says how many.
pub async fn remove_older(connection: &mut PgConnection, before: Moment, limit: i64) -> Result<u64, DbError> {
    let done = sqlx::query!(
        "-- store::provider_calls::remove_older
        DELETE FROM provider_calls
        WHERE (hotel_id, call_id) IN (
            SELECT c.hotel_id, c.call_id
            FROM provider_calls c
            WHERE c.asked_at < $1
            ORDER BY c.asked_at
            LIMIT $2
            FOR UPDATE SKIP LOCKED)",
        before.0,
        limit
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
