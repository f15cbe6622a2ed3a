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
