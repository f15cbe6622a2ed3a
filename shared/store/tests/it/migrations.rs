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

/// What one name stood for is told apart by its own words, and each finding gets its number by its age.
#[tokio::test]
async fn the_books_of_before_belong_to_the_provider_whose_words_they_have() {
    for (position, provider) in [("412", "simulator"), ("txn_3Abc", "stripe")] {
        let database = TestDatabase::new().await;
        database.execute(BEFORE_FINDINGS_WERE_CLOSED).await;
        let finding = |entry: &str, age: u32| {
            format!(
                "INSERT INTO directory.settlement_findings (
                     provider, entry, kind, state, reference, amount, currency, happened_at, found_at)
                 VALUES ('default', '{entry}', 'unreadable', 'OPEN', 'x', 1, 'EUR', now(), now() - interval '{age} days');"
            )
        };
        let rows: Vec<_> =
            [("refund:x", 1), ("txn_9", 3), ("missing:x", 2)].map(|(e, age)| finding(e, age)).into();
        database.execute(&rows.concat()).await;
        let place =
            format!("INSERT INTO directory.settlement_positions VALUES ('default', '{position}', now())");
        database.execute(&place).await;
        migrate(&database.database()).await.expect("the migration");
        let places = database.rows("SELECT provider, position FROM directory.settlement_positions").await;
        assert_eq!(places, [serde_json::json!({"provider": provider, "position": position})]);
        let found = database
            .rows("SELECT provider, entry FROM directory.settlement_findings ORDER BY finding_id")
            .await;
        let row = |provider: &str, entry: &str| serde_json::json!({"provider": provider, "entry": entry});
        assert_eq!(found, [row("stripe", "txn_9"), row(provider, "missing:x"), row("simulator", "refund:x")]);
    }
}

/// The schema without migration 16.
const BEFORE_FINDINGS_WERE_CLOSED: &str = "
    DELETE FROM _sqlx_migrations WHERE version = 16;
    DROP TRIGGER settlement_findings_closed_ones_stay ON directory.settlement_findings;
    ALTER TABLE directory.settlement_positions DROP CONSTRAINT settlement_positions_provider;
    ALTER TABLE directory.settlement_findings
        DROP COLUMN finding_id,
        DROP COLUMN closed_by,
        DROP COLUMN closing_key,
        DROP COLUMN closing_request,
        DROP COLUMN note,
        DROP CONSTRAINT settlement_findings_state,
        DROP CONSTRAINT settlement_findings_settled_when_ended,
        ADD CONSTRAINT settlement_findings_state CHECK (state IN ('OPEN', 'RETURNING', 'RETURNED')),
        ADD CONSTRAINT settlement_findings_settled_when_returned CHECK (
            (state = 'RETURNED') = (settled_at IS NOT NULL));
    DROP INDEX directory.guest_sessions_by_end;
    DROP TRIGGER taxes_version_rises ON taxes;
    DROP TRIGGER rate_plans_version_rises ON rate_plans;
    DROP FUNCTION rise_version;
    ALTER TABLE taxes DROP COLUMN version;
    ALTER TABLE rate_plans DROP COLUMN version;";
