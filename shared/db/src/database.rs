//! One PostgreSQL database behind a pool with bounds.

use std::{str::FromStr, time::Duration};

use secrecy::{ExposeSecret, SecretString};
use sqlx::{
    ConnectOptions, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::runtime::Handle;

use crate::{DbError, Points, connection};

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections of this process to this database.
    pub connections: u32,
    /// How long a caller waits for one of them.
    pub acquire_timeout: Duration,
    /// Bounds the wait for a single lock; a crowd on one row needs a deadline in front as well.
    pub lock_timeout: Duration,
    pub statement_timeout: Duration,
    /// The URL names a pooler that lends a server for one transaction at a time: nothing may live longer.
    pub behind_transaction_pooler: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 16,
            acquire_timeout: Duration::from_secs(2),
            lock_timeout: Duration::from_millis(500),
            statement_timeout: Duration::from_secs(5),
            behind_transaction_pooler: false,
        }
    }
}

/// Cheap to clone. Its transactions run on the runtime that it was given, which outlives the HTTP server.
#[derive(Clone, Debug)]
pub struct Database {
    pub(crate) pool: PgPool,
    pub(crate) runtime: Handle,
    pub(crate) begin: String,
    /// By a transaction pooler.
    pub(crate) is_lent: bool,
    pub(crate) points: Points,
}

impl Database {
    /// Does not wait for the database to be there: readiness asks for that.
    pub fn connect_lazily(url: &SecretString, limits: Limits, runtime: Handle) -> Result<Self, DbError> {
        let options = PgConnectOptions::from_str(url.expose_secret())?
            .application_name("keyrack")
            .log_slow_statements(tracing::log::LevelFilter::Warn, Duration::from_secs(1));
        let is_lent = limits.behind_transaction_pooler;
        let options = if is_lent { connection::lent(options) } else { connection::own(options) };
        let _entered = runtime.enter();
        let pool = PgPoolOptions::new()
            .max_connections(limits.connections)
            .acquire_timeout(limits.acquire_timeout)
            .after_release(|connection, _| Box::pin(is_outside_a_transaction(connection)))
            .connect_lazy_with(options);
        // Transactions reach their rows by keys. A plan made while a table was empty would prefer to scan
        // it, and be kept while the table grows.
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED{}; SET LOCAL enable_seqscan = off; \
             SET LOCAL lock_timeout = {}; SET LOCAL statement_timeout = {}",
            if is_lent { connection::at_begin() } else { String::new() },
            limits.lock_timeout.as_millis(),
            limits.statement_timeout.as_millis()
        );
        Ok(Self { pool, runtime, begin, is_lent, points: Points::default() })
    }

    /// The same database with a hook at the named points of its transactions.
    #[must_use]
    pub fn with_points(mut self, points: Points) -> Self {
        self.points = points;
        self
    }

    pub const fn points(&self) -> &Points {
        &self.points
    }

    /// The runtime on which this database's work may outlive its caller.
    pub const fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub async fn ping(&self) -> Result<(), DbError> {
        let mut connection = self.connection().await?;
        sqlx::raw_sql("SELECT 1").execute(&mut *connection).await?;
        Ok(())
    }

    /// Connections open, and of those idle.
    pub fn connections(&self) -> (u32, usize) {
        (self.pool.size(), self.pool.num_idle())
    }

    /// Waits for what is running, then closes every connection.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// sqlx 0.9.0 can hand back a connection inside a transaction when a `begin` is cancelled. The runner
/// makes that impossible; this check makes it harmless: such a connection is closed, not pooled.
/// Inside a transaction `now()` is its start and differs from the statement's own start.
async fn is_outside_a_transaction(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    use sqlx::Row;
    let row = sqlx::raw_sql("SELECT now() = statement_timestamp() AS outside").fetch_one(connection).await?;
    row.try_get("outside")
}
