//! A connection for statements that each stand alone and only read.

use std::ops::{Deref, DerefMut};

use sqlx::{
    AssertSqlSafe, PgConnection, Postgres, Transaction, pool::PoolConnection, postgres::PgConnectOptions,
};

use crate::{Database, DbError};

/// Derefs to the connection on which statements run.
///
/// Behind a pooler that lends a server for one transaction, the steps of a single statement could meet two
/// servers: there all of them stand in a transaction that only reads and is never committed. What
/// writes is a transaction of [`Database::transaction`], with or without a pooler.
#[derive(Debug)]
pub enum Connection {
    Own(PoolConnection<Postgres>),
    Lent(Transaction<'static, Postgres>),
}

impl Deref for Connection {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Self::Own(connection) => connection,
            Self::Lent(transaction) => transaction,
        }
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Self::Own(connection) => connection,
            Self::Lent(transaction) => transaction,
        }
    }
}

/// What a session has from its start where it is one's own, and each transaction for itself where it is lent.
/// A backstop behind the runner: no session may hold locks while nobody drives it. And no statement of ours
/// is worth compiling: it takes longer than any of them runs.
const SESSION: [(&str, &str); 3] =
    [("idle_in_transaction_session_timeout", "10s"), ("timezone", "UTC"), ("jit", "off")];

/// Of an own session: set once, when it starts.
pub(crate) fn own(options: PgConnectOptions) -> PgConnectOptions {
    options.options(SESSION)
}

/// Of a lent one: nothing that the pooler would have to pass on or to keep.
pub(crate) fn lent(options: PgConnectOptions) -> PgConnectOptions {
    options.statement_cache_capacity(0).extra_float_digits(None)
}

/// What a transaction says at its begin on a lent session. The driver names its statements, by numbers that
/// begin anew with each of its connections: those of whoever had the server before are forgotten first.
pub(crate) fn at_begin() -> String {
    let settings = SESSION.map(|(name, value)| format!("; SET LOCAL {name} = '{value}'"));
    format!("; DEALLOCATE ALL{}", settings.concat())
}

impl Database {
    /// For statements that each stand alone and only read. Never for a transaction.
    pub async fn connection(&self) -> Result<Connection, DbError> {
        if !self.is_lent {
            return Ok(Connection::Own(self.pool.acquire().await?));
        }
        let begin = format!("BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY{}", at_begin());
        let pool = self.pool.clone();
        // A task of its own: a caller that goes away in the middle of a begin would leave it open.
        let begun = self.runtime.spawn(async move {
            // Only constants were written into the text.
            pool.begin_with(AssertSqlSafe(begin)).await
        });
        match begun.await {
            Ok(begun) => Ok(Connection::Lent(begun?)),
            Err(_panicked_or_stopped) => Err(DbError::Panicked),
        }
    }
}
