//! One place writes the counters, two call it, and nothing locks for a session.

use std::{collections::BTreeSet, path::Path};

use super::{root, sources::rust_files};

/// Product files that have the text on a line that is no comment.
fn with(text: &str) -> BTreeSet<String> {
    let inside = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    rust_files()
        .map(|(path, source)| (inside(&path), source))
        .filter(|(path, _)| !path.contains("/tests/") && !path.starts_with("shared/testkit/"))
        .filter(|(_, source)| {
            let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            code.collect::<Vec<_>>().join("\n").to_lowercase().contains(&text.to_lowercase())
        })
        .map(|(path, _)| path)
        .collect()
}

fn only(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn one_statement_changes_the_counters() {
    assert_eq!(with("UPDATE room_night_inventory"), only(&["shared/store/src/nights.rs"]));
    assert_eq!(with("DELETE FROM room_night_inventory"), only(&[]));
    // Nights are opened by the horizon, which never touches one that is there.
    assert_eq!(with("INSERT INTO room_night_inventory"), only(&["shared/store/src/horizon.rs"]));
}

#[test]
fn only_the_ledger_and_the_repair_call_it() {
    let callers = ["shared/booking/src/repair/apply.rs", "shared/ledger/src/write.rs"];
    assert_eq!(with("nights::apply("), only(&callers));
}

/// What a session locks outlives its transaction, and behind a pooler goes to somebody else.
#[test]
fn b114_no_lock_outlives_its_transaction() {
    for session_lock in ["pg_advisory_lock", "pg_try_advisory_lock", "pg_advisory_unlock"] {
        assert_eq!(with(session_lock), only(&[]), "{session_lock}");
    }
    assert_eq!(with("pg_try_advisory_xact_lock"), only(&["shared/store/src/locks.rs"]));
    // The migrator's own, on a connection of its own.
    assert_eq!(with(".lock().await"), only(&["shared/db/src/migrate.rs"]));
}
