//! Who may depend on whom. Read from top to bottom: a crate knows only what stands above it.

use cargo_metadata::{DependencyKind, Package};

use super::metadata;

/// Each crate and the workspace crates that it may know. Where an edge is missing, that is the point:
/// domain does no IO, booking sees the provider through its port, the wire types see no database.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("telemetry", &[]),
    ("model", &["domain"]),
    ("db", &["domain", "telemetry"]),
    ("store", &["domain", "telemetry", "db"]),
    ("ledger", &["domain", "telemetry", "db", "store"]),
    ("payments", &["domain", "telemetry"]),
    ("messaging", &["domain", "telemetry"]),
    ("booking", &["domain", "telemetry", "db", "store", "ledger", "payments", "messaging"]),
    ("api-types", &["domain"]),
    ("http", &["domain", "telemetry", "api-types"]),
    ("runtime", &["domain", "telemetry"]),
    ("testkit", &["domain", "telemetry", "db", "store", "runtime"]),
    ("api", &["domain", "telemetry", "db", "booking", "payments", "api-types", "http", "runtime"]),
    ("workers", &["domain", "telemetry", "db", "booking", "payments", "messaging", "runtime"]),
    ("payment-simulator", &["domain", "telemetry", "runtime"]),
    (
        "keyrack",
        &[
            "domain",
            "telemetry",
            "db",
            "store",
            "booking",
            "payments",
            "messaging",
            "api-types",
            "http",
            "runtime",
            "api",
            "workers",
            "payment-simulator",
        ],
    ),
    ("load-tests", &["domain", "api-types", "model"]),
];

/// Libraries that only some crates may use, in their tests too.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("sqlx", &["db", "store", "testkit"]),
    ("actix-web", &["http", "runtime", "api", "workers", "payment-simulator", "keyrack"]),
];

fn short(name: &str) -> &str {
    name.strip_prefix("keyrack-").unwrap_or(name)
}

fn workspace_edges(package: &Package) -> impl Iterator<Item = (&str, DependencyKind)> {
    let edges = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    edges.map(|dependency| (short(&dependency.name), dependency.kind))
}

#[test]
fn crates_know_only_what_stands_below_them() {
    let mut wrong = Vec::new();
    for package in metadata().workspace_packages() {
        let name = short(&package.name);
        let Some((_, known)) = MAY_KNOW.iter().find(|(crate_name, _)| *crate_name == name) else {
            wrong.push(format!("{name} is not in the list"));
            continue;
        };
        for (dependency, kind) in workspace_edges(package) {
            if kind != DependencyKind::Development && !known.contains(&dependency) {
                wrong.push(format!("{name} -> {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not allowed: {wrong:#?}");
}

#[test]
fn the_testkit_is_for_tests_only() {
    for package in metadata().workspace_packages() {
        let shipped = workspace_edges(package)
            .any(|(dependency, kind)| dependency == "testkit" && kind != DependencyKind::Development);
        assert!(!shipped, "{} ships the testkit", package.name);
    }
}

#[test]
fn sqlx_and_actix_stay_in_their_places() {
    let mut wrong = Vec::new();
    for package in metadata().workspace_packages() {
        let name = short(&package.name);
        for (library, allowed) in ONLY_IN {
            if package.dependencies.iter().any(|d| d.name == *library) && !allowed.contains(&name) {
                wrong.push(format!("{name} uses {library}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not allowed: {wrong:#?}");
}

#[test]
fn the_list_allows_no_circle() {
    for (place, (name, known)) in MAY_KNOW.iter().enumerate() {
        for other in *known {
            assert!(MAY_KNOW[..place].iter().any(|(above, _)| above == other), "{name} -> {other}");
        }
    }
}
