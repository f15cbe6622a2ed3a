//! The statements of T1 on a grown database: a million room-nights, and generic plans, as a long-lived
//! connection comes to use. Each must reach its rows by a key.

use std::{fs, path::Path};

use keyrack_testkit::TestDatabase;
use serde_json::Value;

/// What T1 sends, and the tables of which it may read no more than the rows it names.
const HOT: [&str; 10] = [
    "store::nights::read",
    "store::nights::lock",
    "store::nights::apply",
    "store::keys::look_up",
    "store::quotes::read",
    "store::facts::restrictions",
    "store::facts::own_holds",
    "store::holds::lock",
    "store::holds::close",
    "store::attempts::look_up",
];

#[tokio::test]
async fn the_statements_of_t1_use_their_keys_on_a_million_room_nights() {
    let database = TestDatabase::new().await;
    database.execute(GROWN).await;
    let nights = database.value("SELECT count(*) FROM room_night_inventory").await;
    assert!(nights.as_i64().is_some_and(|count| count >= 1_000_000), "{nights}");
    for name in HOT {
        let plan = plan(&database, name).await;
        assert!(!plan.contains("Seq Scan"), "{name}:\n{plan}");
        assert!(plan.contains("Index Cond"), "{name} reads no table by a key:\n{plan}");
    }
}

/// Emptied and vacuumed tables are where a plan that scans is made, and kept.
#[tokio::test]
async fn the_key_is_looked_up_by_its_index_also_while_the_table_is_empty() {
    let database = TestDatabase::new().await;
    database.execute("VACUUM ANALYZE idempotency_keys").await;
    database.execute("VACUUM ANALYZE payment_attempts").await;
    for name in ["store::keys::look_up", "store::attempts::look_up"] {
        let plan = plan(&database, name).await;
        assert!(plan.contains("Index Cond"), "{name}:\n{plan}");
    }
}

/// The generic plan, under the setting that every transaction begins with.
async fn plan(database: &TestDatabase, name: &str) -> String {
    let query = text(name);
    let parameters = (1..=30).take_while(|n| query.contains(&format!("${n}"))).count();
    let nulls = vec!["NULL"; parameters].join(", ");
    let mut session = database.connect().await;
    let prepare =
        format!("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; PREPARE hot AS {query}");
    database.execute_on(&mut session, &prepare).await;
    database.rows_on(&mut session, &format!("EXPLAIN EXECUTE hot({nulls})")).await.join("\n")
}

/// As committed for the checked macros: what the product really sends.
fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.sqlx");
    let files = fs::read_dir(folder).expect("the committed queries");
    let queries = files.map(|file| {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a file");
        let described: Value = serde_json::from_str(&text).expect("JSON");
        described["query"].as_str().expect("a query").to_owned()
    });
    let first_line = format!("-- {name}\n");
    queries
        .into_iter()
        .find(|query| query.starts_with(&first_line))
        .unwrap_or_else(|| panic!("no query {name}"))
}

const GROWN: &str = "
    SET session_replication_role = replica;
    INSERT INTO hotels (hotel_id, code, name, time_zone, currency, city)
        SELECT h, 'HTL-' || h, 'A hotel', 'UTC', 'EUR', 'A city' FROM generate_series(1, 200) h;
    INSERT INTO room_night_inventory (hotel_id, room_type_id, stay_date, sellable)
        SELECT h, r, date '2026-01-10' + n, 5
        FROM generate_series(1, 200) h, generate_series(1, 7) r, generate_series(0, 749) n;
    INSERT INTO restrictions (hotel_id, room_type_id, stay_date, min_stay_through)
        SELECT h, r, date '2026-01-10' + n, 2
        FROM generate_series(1, 200) h, generate_series(1, 7) r, generate_series(0, 40) n;
    INSERT INTO quotes (hotel_id, quote_id, principal_id, document, created_at, expires_at)
        SELECT 1 + n % 200, gen_random_uuid(), gen_random_uuid(), '{}', now(), now() + interval '600 s'
        FROM generate_series(1, 60000) n;
    INSERT INTO holds (hotel_id, hold_id, principal_id, quote_id, state, check_in, check_out, total, currency,
                       created_at, expires_at, closed_at)
        SELECT 1 + n % 200, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
               CASE WHEN n % 10 = 0 THEN 'ACTIVE' ELSE 'EXPIRED' END, date '2026-02-01', date '2026-02-03', 1, 'EUR',
               now(), now() + interval '600 s', CASE WHEN n % 10 = 0 THEN NULL ELSE now() END
        FROM generate_series(1, 60000) n;
    INSERT INTO hold_nights (hotel_id, hold_id, room, stay_date, room_type_id, rate_plan_id, amount, price_version)
        SELECT hotel_id, hold_id, 1, check_in, 1, 1, 1, 1 FROM holds;
    INSERT INTO idempotency_keys (hotel_id, principal_id, endpoint, idempotency_key, try_id, fingerprint,
                                  contract_version, answer, created_at)
        SELECT hotel_id, principal_id, 'POST /v1/holds', 'K', gen_random_uuid(), decode(repeat('00', 32), 'hex'), 1,
               '{}', created_at FROM holds;
    ANALYZE;
";
