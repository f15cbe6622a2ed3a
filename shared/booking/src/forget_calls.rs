//! Forgetting what the provider was asked: the timeline of an old booking tells its transactions alone.

use std::time::Duration;

use keyrack_db::{Database, DbError};
use keyrack_store::{clock, provider_calls};

use crate::Fault;

/// Records of one run: a small batch holds no lock for long.
pub const MAX_REMOVED: u16 = 500;

/// One bounded run over one shard: how many records it removed. Several at once are normal.
pub async fn run_once(shard: &Database, keep: Duration) -> Result<usize, Fault> {
    let removed: Result<u64, DbError> = shard
        .transaction("forget_calls", move |connection| {
            Box::pin(async move {
                let before = clock::now(connection).await?.minus(keep);
                provider_calls::remove_older(connection, before, i64::from(MAX_REMOVED)).await
            })
        })
        .await;
    usize::try_from(removed?).map_err(Fault::internal)
}
