use std::{collections::BTreeSet, env, fs};

use keyrack_telemetry::{Metrics, names};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");

fn page() -> String {
    let mut page = String::from(
        "# Metrics\n\n\
         What `GET /metrics` shows. Written from `shared/telemetry/src/names.rs` by `make docs-tables`; \
         a test fails when the two differ.\n\n\
         | name | kind | unit | labels | meaning |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for metric in names::ALL {
        page.push_str(&metric.row());
    }
    page
}

#[test]
fn the_page_of_metrics_says_what_the_code_says() {
    if env::var_os("KEYRACK_WRITE_DOCS").is_some() {
        fs::write(DOCS, page()).unwrap();
    }
    let docs = fs::read_to_string(DOCS).unwrap();
    assert!(docs == page(), "docs/metrics.md is out of date: make docs-tables");
}

#[test]
fn names_are_of_one_kind_and_one_form() {
    let mut seen = BTreeSet::new();
    for metric in names::ALL {
        assert!(seen.insert(metric.name), "{} stands there twice", metric.name);
        let fine = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(metric.name.starts_with("keyrack_") && metric.name.chars().all(fine), "{}", metric.name);
        let counts = metric.kind == names::MetricKind::Counter;
        assert_eq!(metric.name.ends_with("_total"), counts, "{}", metric.name);
    }
}

#[test]
fn what_is_recorded_is_shown_with_its_description() {
    let shown = Metrics::install().unwrap();
    metrics::counter!(names::KEYS_REMOVED).increment(3);
    metrics::histogram!(names::LEDGER_BATCH_SECONDS).record(0.003);
    let text = Metrics::install().unwrap().render();
    assert!(text.contains("\nkeyrack_keys_removed_total 3\n"), "{text}");
    assert!(text.contains("# HELP keyrack_keys_removed_total Idempotency records removed"), "{text}");
    assert!(text.contains("keyrack_ledger_batch_seconds_bucket{le=\"0.004\"} 1"), "{text}");
    shown.upkeep();
}
