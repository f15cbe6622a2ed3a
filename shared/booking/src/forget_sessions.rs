//! Forgetting guest sessions that have ended. Nobody can come back with one; what was booked with it stays.

use std::time::Duration;

use keyrack_db::{DbError, Shards};
use keyrack_store::guest_sessions;

use crate::Fault;

/// Sessions of one run: a small batch holds no lock for long.
pub const MAX_REMOVED: u16 = 500;

/// One bounded run over the directory: how many sessions it removed. Several at once are normal.
pub async fn run_once(shards: &Shards, ended_for: Duration) -> Result<usize, Fault> {
    let removed: Result<u64, DbError> = shards
        .directory()
        .transaction("forget_sessions", move |connection| {
            Box::pin(async move {
                guest_sessions::remove_ended(connection, ended_for, i64::from(MAX_REMOVED)).await
            })
        })
        .await;
    usize::try_from(removed?).map_err(Fault::internal)
}
