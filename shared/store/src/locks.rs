//! Advisory transaction locks: on operation keys and on caps. Taken by try-lock, never by waiting.

use std::collections::HashSet;

use keyrack_db::{DbError, PgConnection};

/// Those of `locks` that were had. They last until the transaction ends.
pub async fn try_all(connection: &mut PgConnection, locks: &[i64]) -> Result<HashSet<i64>, DbError> {
    if locks.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = sqlx::query!(
        r#"-- store::locks::try_all
        SELECT w.lock AS "lock!", pg_try_advisory_xact_lock(w.lock) AS "had!"
        FROM unnest($1::bigint[]) AS w (lock)"#,
        locks
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().filter(|row| row.had).map(|row| row.lock).collect())
}
