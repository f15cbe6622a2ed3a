//! A database of a test's own, migrated and empty, gone when the test's thread ends.

mod leaving;

use keyrack_db::{Database, Limits};
use keyrack_runtime::private_postgres::scratch::TEST_DATABASE_PREFIX;
use secrecy::SecretString;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::{server, template};

#[derive(Debug)]
pub struct TestDatabase {
    name: String,
    options: PgConnectOptions,
}

impl TestDatabase {
    /// Tests with two shards make two of them.
    pub async fn new() -> Self {
        let name = format!("{TEST_DATABASE_PREFIX}{}", Uuid::new_v4().simple());
        let mut connection = server::maintenance().await;
        let template = template::ensure(&mut connection).await;
        let create = AssertSqlSafe(format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\""));
        sqlx::raw_sql(create).execute(&mut connection).await.expect("a database for this test");
        connection.close().await.expect("the test server is left");
        Self { options: server::options(&name).await, name }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) const fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    pub fn url(&self) -> SecretString {
        self.options.to_url_lossy().to_string().into()
    }

    /// With the limits of production and its transactions on the test's runtime.
    pub fn database(&self) -> Database {
        self.database_with(Limits::default())
    }

    pub fn database_with(&self, limits: Limits) -> Database {
        Database::connect_lazily(&self.url(), limits, Handle::current()).expect("the database of this test")
    }

    /// A connection beside the application's, for watching it and for standing in its way.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect_with(&self.options).await.expect("the database of this test answers")
    }

    /// Sessions that sit in a transaction which nobody drives: none may be left by a client that went away.
    pub async fn idle_in_transaction(&self) -> i64 {
        let mut connection = self.connect().await;
        sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
        )
        .fetch_one(&mut connection)
        .await
        .expect("the sessions of this database")
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        leaving::leave(self.name.clone(), self.options.clone().database("postgres"));
    }
}
