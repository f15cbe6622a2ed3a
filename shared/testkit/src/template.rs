//! The migrated database from which every test's own is copied: migrating once is slow, copying is not.

use keyrack_db::MIGRATIONS;
use keyrack_runtime::private_postgres::scratch::TEST_DATABASE_PREFIX;
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::server;

/// Tests of one run are many processes; one of them makes the template while the others wait.
const LOCK: &str = "SELECT pg_advisory_lock(7311)";

/// Carries what the migrations are, so that changed migrations never meet an old template.
pub(crate) fn name() -> String {
    let mut hash = Sha256::new();
    for migration in MIGRATIONS.iter() {
        hash.update(migration.version.to_be_bytes());
        hash.update(&migration.checksum);
    }
    format!("{TEST_DATABASE_PREFIX}template_{}", hex::encode(&hash.finalize()[..8]))
}

/// The connection keeps the lock until it is closed.
pub(crate) async fn ensure(connection: &mut PgConnection) -> String {
    let name = name();
    if !exists(connection, &name).await {
        sqlx::raw_sql(LOCK).execute(&mut *connection).await.expect("the lock of the template");
        if !exists(connection, &name).await {
            make(connection, &name).await;
        }
    }
    name
}

async fn exists(connection: &mut PgConnection, name: &str) -> bool {
    sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
        .bind(name)
        .fetch_one(connection)
        .await
        .expect("the databases of the test server")
}

/// It gets its name when it is complete, so that a killed test leaves no half-migrated template.
async fn make(connection: &mut PgConnection, name: &str) {
    let half = format!("{name}_half");
    let run = async |connection: &mut PgConnection, sql: String| {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.expect("the template database");
    };
    run(connection, format!("DROP DATABASE IF EXISTS \"{half}\" WITH (FORCE)")).await;
    run(connection, format!("CREATE DATABASE \"{half}\"")).await;
    let mut inside = PgConnection::connect_with(&server::options(&half).await).await.expect("the template");
    MIGRATIONS.run(&mut inside).await.expect("the migrations apply to an empty database");
    // Statistics and visibility as a grown database has them.
    sqlx::raw_sql("VACUUM ANALYZE").execute(&mut inside).await.expect("the template can be vacuumed");
    inside.close().await.expect("the template is left");
    run(connection, format!("ALTER DATABASE \"{half}\" RENAME TO \"{name}\"")).await;
    // Nobody may sit in it: a database that is in use cannot be copied.
    run(connection, format!("ALTER DATABASE \"{name}\" ALLOW_CONNECTIONS false")).await;
}
