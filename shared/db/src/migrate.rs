//! The schema. Every database carries all of it; the directory's part is used only in the directory.

use sqlx::{
    Connection, PgConnection,
    migrate::{Migrate, MigrateError, Migrator},
};

use crate::{Database, DbError};

pub static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// Brings a database up to date, or fails within seconds when somebody holds a table that must change:
/// a waiting ALTER would make every reader wait behind it. Several at once take turns, by a lock of their
/// session: never through a transaction pooler.
pub async fn migrate(database: &Database) -> Result<(), DbError> {
    // A connection of its own, closed afterwards: the settings below must not reach the pool, and the
    // close ends the migrator's lock.
    let mut connection: PgConnection = database.pool.acquire().await?.detach();
    let outcome = take_turns(&mut connection).await;
    connection.close().await?;
    outcome.map_err(|error| match error {
        MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => source.into(),
        other => DbError::Other(sqlx::Error::Migrate(Box::new(other))),
    })
}

/// The migrator's lock is waited for longer than a table: whoever has it is making the same schema.
async fn take_turns(connection: &mut PgConnection) -> Result<(), MigrateError> {
    sqlx::raw_sql("SET lock_timeout = '60s'").execute(&mut *connection).await?;
    connection.lock().await?;
    sqlx::raw_sql("SET lock_timeout = '3s'").execute(&mut *connection).await?;
    MIGRATIONS.run(&mut *connection).await?;
    connection.unlock().await
}
