//! Migrating while somebody is in the way, and from several places at once.

use std::time::{Duration, Instant};

use keyrack_db::{DbError, Schema, migrate};
use keyrack_testkit::TestDatabase;

const ONE_SHORT: &str = "DELETE FROM _sqlx_migrations WHERE version = 6;
                         DROP TABLE audit, outbox, idempotency_keys";

#[tokio::test]
async fn b116_a_migration_that_meets_a_lock_fails_within_its_bound_and_works_afterwards() {
    let database = TestDatabase::new().await;
    let product = database.database();
    database.execute(ONE_SHORT).await;
    let mut dump = database.connect().await;
    database.execute_on(&mut dump, "BEGIN; LOCK TABLE _sqlx_migrations IN ACCESS EXCLUSIVE MODE").await;
    let started = Instant::now();
    let refused = migrate(&product).await.expect_err("the table is locked");
    assert!(matches!(refused, DbError::LockTimeout(_)), "{refused:?}");
    let waited = started.elapsed();
    assert!(waited >= Duration::from_secs(3) && waited < Duration::from_secs(8), "{waited:?}");
    database.execute_on(&mut dump, "ROLLBACK").await;
    migrate(&product).await.expect("nobody is in the way");
    assert_eq!(product.schema().await.expect("the schema"), Schema::Current);
}

/// A table that a migration changes, locked by a reader: told as what it is, and nothing of it is left.
#[tokio::test]
async fn b116_a_migration_that_is_under_way_gives_up_on_a_locked_table_too() {
    let database = TestDatabase::new().await;
    let product = database.database();
    // The last migration refers to hotels, which takes a lock of it that an ACCESS EXCLUSIVE one refuses.
    database.execute(ONE_SHORT).await;
    let mut other = database.connect().await;
    database.execute_on(&mut other, "BEGIN; LOCK TABLE hotels IN ACCESS EXCLUSIVE MODE").await;
    let refused = migrate(&product).await.expect_err("the table is locked");
    assert!(matches!(refused, DbError::LockTimeout(_)), "{refused:?}");
    assert_eq!(product.schema().await.expect("the schema"), Schema::Behind { missing: 1 });
    database.execute_on(&mut other, "ROLLBACK").await;
    migrate(&product).await.expect("nobody is in the way");
}

#[tokio::test]
async fn b114_three_migrations_of_an_empty_database_at_once_all_succeed() {
    let database = TestDatabase::new().await;
    database.execute("DROP SCHEMA directory, public CASCADE; CREATE SCHEMA public").await;
    let [a, b, c] = [0; 3].map(|_| database.database());
    let (a, b, c) = tokio::join!(migrate(&a), migrate(&b), migrate(&c));
    for outcome in [a, b, c] {
        outcome.expect("it waits for its turn and finds nothing to do");
    }
    assert_eq!(database.database().schema().await.expect("the schema"), Schema::Current);
    assert_eq!(advisory_locks(&database).await, 0);
}

/// Whoever migrates may take longer than a table is waited for: the next one waits for its turn all the same.
#[tokio::test]
async fn b114_a_migration_waits_for_a_slow_one_longer_than_for_a_table() {
    let database = TestDatabase::new().await;
    let mut slow = database.connect().await;
    sqlx::migrate::Migrate::lock(&mut slow).await.expect("the first turn");
    let product = database.database();
    let waiting = migrate(&product);
    let ends = async {
        database.execute(UNTIL_IT_HAS_WAITED).await;
        sqlx::migrate::Migrate::unlock(&mut slow).await.expect("the turn ends");
    };
    let (waited, ()) = tokio::join!(waiting, ends);
    waited.expect("its turn has come");
}

/// Longer than the three seconds for a table. Whoever gave up by then is never seen, and this ends.
const UNTIL_IT_HAS_WAITED: &str = "
    SET statement_timeout = '20s';
    DO $$ BEGIN
        WHILE NOT EXISTS (
            SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'advisory'
              AND clock_timestamp() - query_start > interval '3200 ms')
        LOOP PERFORM pg_stat_clear_snapshot(); PERFORM pg_sleep(0.05); END LOOP;
    END $$";

async fn advisory_locks(database: &TestDatabase) -> i64 {
    let held = "SELECT count(*) FROM pg_locks
                WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    database.value(held).await.as_i64().expect("a count")
}
