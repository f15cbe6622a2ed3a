//! The schema. Every database carries all of it; the directory's part is used only in the directory.

use sqlx::{Connection, PgConnection, migrate::Migrator};

use crate::{Database, DbError};

pub static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

/// Brings a database up to date, or fails within seconds when somebody holds a table that must change:
/// a waiting ALTER would make every reader wait behind it.
pub async fn migrate(database: &Database) -> Result<(), DbError> {
    // A connection of its own, closed afterwards: the settings below must not reach the pool.
    let mut connection: PgConnection = database.connection().await?.detach();
    sqlx::raw_sql("SET lock_timeout = '3s'").execute(&mut connection).await?;
    let outcome = MIGRATIONS.run(&mut connection).await;
    connection.close().await?;
    outcome.map_err(|error| match error {
        sqlx::migrate::MigrateError::Execute(source) => source.into(),
        other => DbError::Other(sqlx::Error::Migrate(Box::new(other))),
    })
}
