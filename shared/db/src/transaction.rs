//! The one way to run a transaction: named, bounded, on a runtime of its own, retried as a whole.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use backon::{ExponentialBuilder, Retryable};
use futures::future::BoxFuture;
use keyrack_telemetry::names;
use sqlx::{AssertSqlSafe, PgConnection};

use crate::{Database, DbError, error::is_deadlock};

/// Work of one transaction. It awaits nothing but SQL, and may be run again from the start.
pub trait Work<T, E>:
    for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, E>> + Send + Sync + 'static
{
}
impl<T, E, F> Work<T, E> for F where
    F: for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, E>> + Send + Sync + 'static
{
}

/// Serialization failures and deadlocks: so many new tries, then the caller hears of it.
const RETRIES: usize = 4;

impl Database {
    /// Runs `work` in a READ COMMITTED transaction and commits it. An error rolls everything back.
    ///
    /// The transaction is a task of its own: a caller that goes away drops the handle and never the
    /// transaction, so no connection comes back to the pool in the middle of one.
    pub async fn transaction<T, E>(&self, name: &'static str, work: impl Work<T, E>) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + RetriedAs + Send + 'static,
    {
        let database = self.clone();
        let work = Arc::new(work);
        let task = self.runtime.spawn(async move {
            let retries = AtomicU32::new(0);
            let backoff = ExponentialBuilder::default()
                .with_min_delay(Duration::from_millis(5))
                .with_max_delay(Duration::from_millis(100))
                .with_max_times(RETRIES)
                .with_jitter();
            (|| database.run_once(name, work.as_ref()))
                .retry(backoff)
                .when(|error: &E| match error.contention() {
                    Some(database_error) => {
                        retries.fetch_add(1, Ordering::Relaxed);
                        let kind = if is_deadlock(database_error) { "deadlock" } else { "serialization" };
                        metrics::counter!(names::TRANSACTION_CONFLICTS, "name" => name, "kind" => kind)
                            .increment(1);
                        if kind == "deadlock" {
                            tracing::error!(transaction = name, "deadlock: the lock order was broken");
                        }
                        true
                    }
                    None => false,
                })
                .await
        });
        match task.await {
            Ok(outcome) => outcome,
            Err(_panicked_or_stopped) => Err(DbError::Panicked.into()),
        }
    }

    async fn run_once<T, E>(&self, name: &'static str, work: &impl Work<T, E>) -> Result<T, E>
    where
        E: From<DbError> + RetriedAs,
    {
        let outcome = self.attempt(name, work).await;
        let label = match &outcome {
            Ok(_) => "committed",
            Err(error) => error.database_error().map_or("rolled_back", DbError::outcome),
        };
        metrics::counter!(names::TRANSACTIONS, "name" => name, "outcome" => label).increment(1);
        outcome
    }

    async fn attempt<T, E>(&self, name: &'static str, work: &impl Work<T, E>) -> Result<T, E>
    where
        E: From<DbError>,
    {
        // Only whole numbers of milliseconds were written into the text.
        let begin = AssertSqlSafe(self.begin.clone());
        let mut transaction = self.pool.begin_with(begin).await.map_err(DbError::from)?;
        let answer = work(&mut transaction).await?;
        self.points.reach(name, "before_commit").await;
        transaction.commit().await.map_err(|error| match DbError::from(error) {
            DbError::Unavailable(source) => DbError::CommitUnknown(source),
            refused => refused,
        })?;
        self.points.reach(name, "after_commit").await;
        Ok(answer)
    }
}

/// Lets the runner look through a use case's own error for the database's.
pub trait RetriedAs {
    fn database_error(&self) -> Option<&DbError>;

    fn contention(&self) -> Option<&DbError> {
        self.database_error().filter(|error| matches!(error, DbError::Contended(_)))
    }
}

impl RetriedAs for DbError {
    fn database_error(&self) -> Option<&DbError> {
        Some(self)
    }
}
