//! The statements that run often, on a grown database: a million room-nights, and generic plans, as a
//! long-lived connection comes to use. Each must reach its rows by its key, the whole of it.

mod grown;

use std::{collections::BTreeSet, fs, path::Path};

use keyrack_testkit::TestDatabase;
use serde_json::Value;

/// Statements of transactions, which begin with `enable_seqscan = off`; and the key by which each reads
/// each of its tables.
const INSIDE: [(&str, &[&str]); 18] = [
    ("store::nights::read", &["room_night_inventory_pkey(hotel_id, room_type_id, stay_date)"]),
    ("store::nights::lock", &["room_night_inventory_pkey(hotel_id, room_type_id, stay_date)"]),
    ("store::nights::apply", &["room_night_inventory_pkey(hotel_id, room_type_id, stay_date)"]),
    (
        "store::keys::look_up",
        &["idempotency_keys_of_principal(principal_id, idempotency_key, hotel_id, endpoint)"],
    ),
    ("store::quotes::read", &["quotes_pkey(hotel_id, quote_id)"]),
    // Every plan's rule of a night is wanted: the plan stands in the key between room type and date.
    ("store::facts::restrictions", &["restrictions_pkey(hotel_id, room_type_id, stay_date)"]),
    (
        "store::facts::own_holds",
        &["hold_nights_pkey(hotel_id, hold_id)", "holds_active_of_principal(hotel_id, principal_id)"],
    ),
    ("store::holds::read", &["holds_pkey(hotel_id, hold_id)"]),
    ("store::holds::units", &["hold_nights_pkey(hotel_id, hold_id)", "holds_pkey(hotel_id, hold_id)"]),
    ("store::holds::open_attempts", &["attempts_one_open_per_hold(hotel_id, hold_id)"]),
    ("store::holds::lock", &["holds_pkey(hotel_id, hold_id)"]),
    ("store::holds::lock_free", &["holds_pkey(hotel_id, hold_id)"]),
    ("store::holds::close", &["holds_pkey(hotel_id, hold_id)"]),
    ("store::attempts::look_up", &["attempts_key_once(principal_id, idempotency_key, hotel_id, endpoint)"]),
    ("store::attempts::lock", &["payment_attempts_pkey(hotel_id, attempt_id)"]),
    // The index has no others than the open ones, in the order of their deadlines.
    (
        "store::attempts::lease_unknown",
        &["attempts_to_reconcile()", "payment_attempts_pkey(hotel_id, attempt_id)"],
    ),
    ("store::holds::insert", &[]),
    ("store::holds::insert_units", &[]),
];

/// What PostgreSQL looks up for the foreign keys of T1's inserts.
const REFERRED_TO: [(&str, &[&str]); 3] = [
    ("SELECT 1 FROM ONLY hotels x WHERE hotel_id = $1 FOR KEY SHARE OF x", &["hotels_pkey(hotel_id)"]),
    (
        "SELECT 1 FROM ONLY quotes x WHERE hotel_id = $1 AND quote_id = $2 FOR KEY SHARE OF x",
        &["quotes_pkey(hotel_id, quote_id)"],
    ),
    (
        "SELECT 1 FROM ONLY holds x WHERE hotel_id = $1 AND hold_id = $2 FOR KEY SHARE OF x",
        &["holds_pkey(hotel_id, hold_id)"],
    ),
];

/// Statements that each stand alone: nothing keeps them from a scan but their keys.
const ALONE: [(&str, &[&str]); 12] = [
    ("store::holds::read", &["holds_pkey(hotel_id, hold_id)"]),
    ("store::holds::due", &["holds_to_expire(expires_at)"]),
    ("store::holds::oldest_due", &["holds_to_expire(expires_at)"]),
    ("store::attempts::read", &["payment_attempts_pkey(hotel_id, attempt_id)"]),
    ("store::attempts::open_count", &["attempts_to_reconcile()"]),
    ("store::attempts::of_principal", &["attempts_key_once(principal_id, idempotency_key)"]),
    ("store::keys::of_principal", &["idempotency_keys_of_principal(principal_id, idempotency_key)"]),
    (
        "store::reservations::of_principal",
        &["reservations_of_principal(principal_id, reservation_id, hotel_id)"],
    ),
    ("store::nights::read", &["room_night_inventory_pkey(hotel_id, room_type_id, stay_date)"]),
    ("store::outbox::pending", &["outbox_pending()", "all of relay_parts"]),
    ("store::relay::waiting", &["outbox_pending()"]),
    ("store::relay::lease_part", &["outbox_pending()", "all of relay_parts"]),
];

#[tokio::test]
async fn the_statements_that_run_often_use_their_whole_keys_on_a_million_room_nights() {
    let database = grown::database().await;
    let nights = database.value("SELECT count(*) FROM room_night_inventory").await;
    assert!(nights.as_i64().is_some_and(|count| count >= 1_000_000), "{nights}");
    let mut wrong = Vec::new();
    for (name, keys) in INSIDE {
        wrong.extend(differs(&database, name, &text(name), "off", keys).await);
    }
    for (query, keys) in REFERRED_TO {
        wrong.extend(differs(&database, query, query, "off", keys).await);
    }
    for (name, keys) in ALONE {
        wrong.extend(differs(&database, name, &text(name), "on", keys).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Emptied and vacuumed tables are where a plan that scans is made, and kept.
#[tokio::test]
async fn the_key_is_looked_up_by_its_index_also_while_the_table_is_empty() {
    let database = TestDatabase::new().await;
    database.execute("VACUUM ANALYZE idempotency_keys").await;
    database.execute("VACUUM ANALYZE payment_attempts").await;
    for name in ["store::keys::look_up", "store::attempts::look_up"] {
        let (_, keys) = INSIDE.into_iter().find(|(of, _)| *of == name).expect("one of them");
        assert_eq!(differs(&database, name, &text(name), "off", keys).await, None);
    }
}

/// The generic plan, where it reads its tables in another way.
async fn differs(
    database: &TestDatabase,
    name: &str,
    query: &str,
    seqscan: &str,
    keys: &[&str],
) -> Option<String> {
    let parameters = (1..=30).take_while(|n| query.contains(&format!("${n}"))).count();
    let nulls = vec!["NULL"; parameters].join(", ");
    let mut session = database.connect().await;
    let prepare = format!(
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = {seqscan}; PREPARE often AS {query}"
    );
    database.execute_on(&mut session, &prepare).await;
    let explain = if parameters == 0 {
        "EXPLAIN EXECUTE often".to_owned()
    } else {
        format!("EXPLAIN EXECUTE often({nulls})")
    };
    let plan = database.rows_on(&mut session, &explain).await;
    let mut used = BTreeSet::new();
    for scan in scans(&plan) {
        used.insert(match scan {
            Scan::ByIndex { index, condition } => by_key(database, &index, &condition).await,
            Scan::Whole(table) => format!("all of {table}"),
        });
    }
    let expected: BTreeSet<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    (used != expected).then(|| format!("{name}: {used:?}\n{}", plan.join("\n")))
}

enum Scan {
    ByIndex { index: String, condition: String },
    Whole(String),
}

/// How a plan reads its tables.
fn scans(plan: &[String]) -> Vec<Scan> {
    let mut found = Vec::new();
    for line in plan {
        let word_after = |text: &str| {
            line.split_once(text).and_then(|(_, rest)| rest.split_whitespace().next()).map(str::to_owned)
        };
        let by_index = word_after("Index Scan using ")
            .or_else(|| word_after("Index Only Scan using "))
            .or_else(|| word_after("Bitmap Index Scan on "));
        if let Some(index) = by_index {
            found.push(Scan::ByIndex { index, condition: String::new() });
        } else if let Some(table) = word_after("Seq Scan on ") {
            found.push(Scan::Whole(table));
        } else if let (Some((_, told)), Some(Scan::ByIndex { condition, .. })) =
            (line.split_once("Index Cond: "), found.last_mut())
        {
            told.clone_into(condition);
        }
    }
    found
}

/// `index(column, column)`: those of its columns that the condition names.
async fn by_key(database: &TestDatabase, index: &str, condition: &str) -> String {
    let columns = format!(
        "SELECT attname FROM pg_attribute WHERE attrelid = '{index}'::regclass AND attnum > 0 ORDER BY attnum"
    );
    let names = database.rows(&columns).await;
    let bare = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
    let words: BTreeSet<&str> = condition.split(bare).collect();
    let named = names.iter().filter_map(|row| row["attname"].as_str()).filter(|name| words.contains(name));
    format!("{index}({})", named.collect::<Vec<_>>().join(", "))
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

/// The clock is asked many times in every transaction. A scan of its one row, where scans are made dear, once
/// looked so dear that the server compiled the statement each time: a thousand times slower than running it.
#[tokio::test]
async fn the_clock_is_a_probe_of_an_index_and_nothing_of_ours_is_compiled() {
    let database = TestDatabase::new().await;
    let mut session = database.database().connection().await.expect("a session of the product");
    assert_eq!(database.rows_on(&mut session, "SHOW jit").await, ["off"]);
    database.execute_on(&mut session, "SET enable_seqscan = off").await;
    // What stands in keyrack_now().
    let asked = "EXPLAIN SELECT ahead FROM sandbox_clock WHERE singleton";
    let plan = database.rows_on(&mut session, asked).await.join("\n");
    let body = database.value("SELECT prosrc FROM pg_proc WHERE proname = 'keyrack_now'").await;
    assert!(body.as_str().is_some_and(|body| body.contains(&asked["EXPLAIN ".len()..])), "{body}");
    assert!(plan.contains("using sandbox_clock_pkey") && !plan.contains("Seq Scan"), "{plan}");
}
