//! The one authority for the time that decides: this database's clock plus the sandbox's offset.

use chrono::TimeDelta;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::clock::Moment;

/// Moves while locks are waited for: read it after them.
pub async fn now(connection: &mut PgConnection) -> Result<Moment, DbError> {
    let now = sqlx::query_scalar!(
        r#"-- store::clock::now
        SELECT keyrack_now() AS "now!""#
    )
    .fetch_one(connection)
    .await?;
    Ok(Moment(now))
}

/// How far the deciding clock is ahead of the real one.
pub async fn ahead(connection: &mut PgConnection) -> Result<TimeDelta, DbError> {
    let micros = sqlx::query_scalar!(
        r#"-- store::clock::ahead
        SELECT (extract(epoch FROM ahead) * 1000000)::bigint AS "micros!"
        FROM sandbox_clock"#
    )
    .fetch_one(connection)
    .await?;
    Ok(TimeDelta::microseconds(micros))
}

/// What must be added to the real clock for it to show `wanted` now. May be negative.
pub async fn ahead_for(connection: &mut PgConnection, wanted: Moment) -> Result<TimeDelta, DbError> {
    let micros = sqlx::query_scalar!(
        r#"-- store::clock::ahead_for
        SELECT (extract(epoch FROM $1 - clock_timestamp()) * 1000000)::bigint AS "micros!""#,
        wanted.0
    )
    .fetch_one(connection)
    .await?;
    Ok(TimeDelta::microseconds(micros))
}

/// Sets a sandbox's clock, which only ever moves forward: `false` when it is further ahead already.
pub async fn move_forward(connection: &mut PgConnection, ahead: TimeDelta) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::clock::move_forward
        UPDATE sandbox_clock
        SET ahead = $1::bigint * interval '1 microsecond'
        WHERE ahead <= $1::bigint * interval '1 microsecond'",
        ahead.num_microseconds().ok_or_else(|| DbError::unreadable("clock offset", &ahead))?
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Where a new sandbox's clock starts. Only before anything was decided by it: it may move back.
pub async fn start(connection: &mut PgConnection, ahead: TimeDelta) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::clock::start
        UPDATE sandbox_clock
        SET ahead = $1::bigint * interval '1 microsecond'",
        ahead.num_microseconds().ok_or_else(|| DbError::unreadable("clock offset", &ahead))?
    )
    .execute(connection)
    .await?
    .exactly(1, "store::clock::start")
}
