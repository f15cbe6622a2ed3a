//! Forgetting what became of old batches of hotels' systems: a repeat of one is then superseded like any that the
//! cursor has passed. Conflicts are kept.

use std::time::Duration;

use keyrack_db::{Database, DbError};
use keyrack_store::{clock, pms_batches};

use crate::Fault;

/// Records of one run: a small batch holds no lock for long.
pub const MAX_REMOVED: u16 = 100;

/// One bounded run over one shard: how many records it removed. Several at once are normal.
pub async fn run_once(shard: &Database, keep: Duration) -> Result<usize, Fault> {
    let removed: Result<u64, DbError> = shard
        .transaction("forget_batches", move |connection| {
            Box::pin(async move {
                let before = clock::now(connection).await?.minus(keep);
                pms_batches::remove_older(connection, before, i64::from(MAX_REMOVED)).await
            })
        })
        .await;
    usize::try_from(removed?).map_err(Fault::internal)
}
