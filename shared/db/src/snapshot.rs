//! Reading one instant of a database, however many statements it takes.

use std::time::Duration;

use keyrack_telemetry::names;
use sqlx::AssertSqlSafe;

use crate::{Database, DbError, RetriedAs, Work, connection};

impl Database {
    /// Runs `work` in a REPEATABLE READ, READ ONLY transaction: all its statements see the same instant, none
    /// waits for a writer or makes one wait, and the database refuses every write.
    ///
    /// `statement_timeout` is the caller's, since who looks at a whole hotel reads longer than who sells a
    /// night. Keep the whole short all the same: no row that it can still see is cleaned up meanwhile.
    ///
    /// A task of its own and never retried: what only reads cannot fail to serialize.
    pub async fn snapshot<T, E>(
        &self,
        name: &'static str,
        statement_timeout: Duration,
        work: impl Work<T, E>,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + RetriedAs + Send + 'static,
    {
        let database = self.clone();
        let task = self.runtime.spawn(async move {
            let outcome = database.read_instant(name, statement_timeout, &work).await;
            let label = match &outcome {
                Ok(_) => "committed",
                Err(error) => error.database_error().map_or("rolled_back", DbError::outcome),
            };
            metrics::counter!(names::TRANSACTIONS, "name" => name, "outcome" => label).increment(1);
            outcome
        });
        match task.await {
            Ok(outcome) => outcome,
            Err(_panicked_or_stopped) => Err(DbError::Panicked.into()),
        }
    }

    async fn read_instant<T, E>(
        &self,
        name: &'static str,
        statement_timeout: Duration,
        work: &impl Work<T, E>,
    ) -> Result<T, E>
    where
        E: From<DbError>,
    {
        // Zero would mean no bound at all.
        let millis = statement_timeout.as_millis().max(1);
        let session = if self.is_lent { connection::at_begin() } else { String::new() };
        // Only a whole number of milliseconds was written into the text.
        let begin = AssertSqlSafe(format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY{session}; SET LOCAL statement_timeout = {millis}"
        ));
        let mut transaction = self.pool.begin_with(begin).await.map_err(DbError::from)?;
        let answer = work(&mut transaction).await?;
        self.points.reach(name, "before_commit").await;
        transaction.commit().await.map_err(DbError::from)?;
        self.points.reach(name, "after_commit").await;
        Ok(answer)
    }
}
