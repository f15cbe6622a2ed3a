//! `directory.guest_sessions`: travelers without an account. Sessions end in real time, not in the
//! sandbox's: signing in is no decision about a booking.

use std::time::Duration;

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{clock::Moment, ids::PrincipalId, token::TokenHash};

/// Answers with the session's end.
pub async fn insert(
    connection: &mut PgConnection,
    token: TokenHash,
    principal: PrincipalId,
    lasts: Duration,
) -> Result<Moment, DbError> {
    let seconds = i64::try_from(lasts.as_secs()).unwrap_or(i64::MAX);
    let expires_at = sqlx::query_scalar!(
        "-- store::guest_sessions::insert
        INSERT INTO directory.guest_sessions (token_hash, principal_id, created_at, expires_at)
        VALUES ($1, $2, now(), now() + $3::bigint * interval '1 second')
        RETURNING expires_at",
        token.0.as_slice(),
        principal.0,
        seconds
    )
    .fetch_one(connection)
    .await?;
    Ok(Moment(expires_at))
}

/// Removes sessions that had ended before so long ago, oldest first: how many.
pub async fn remove_ended(
    connection: &mut PgConnection,
    ended_for: Duration,
    limit: i64,
) -> Result<u64, DbError> {
    let seconds = i64::try_from(ended_for.as_secs()).unwrap_or(i64::MAX);
    let done = sqlx::query!(
        "-- store::guest_sessions::remove_ended
        DELETE FROM directory.guest_sessions
        WHERE token_hash IN (
            SELECT s.token_hash
            FROM directory.guest_sessions s
            WHERE s.expires_at < now() - $1::bigint * interval '1 second'
            ORDER BY s.expires_at
            LIMIT $2
            FOR UPDATE SKIP LOCKED)",
        seconds,
        limit
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
