//! Roles in processes of their own, on one database.

use keyrack_domain::clock::Moment;
use keyrack_payment_simulator::Settings as Simulator;
use keyrack_store::clock;
use keyrack_testkit::TestDatabase;
use reqwest::StatusCode;
use secrecy::ExposeSecret;
use tokio::runtime::Handle;

use crate::{
    booking::Guest,
    process::{Process, run, stderr, stdout},
};

/// The setting of the port, here a free one.
const OWN_PORT: (&str, &str) = ("KEYRACK_WORKERS__PORT", "0");

async fn told(base_url: &str, path: &str) -> (StatusCode, String) {
    let answer = reqwest::get(format!("{base_url}/{path}")).await.expect("an answer");
    (answer.status(), answer.text().await.expect("a body"))
}

/// Waits until a worker has shown everything that one watches it for; the holds that it has ended.
async fn watched(base_url: &str) -> f64 {
    loop {
        let (status, metrics) = told(base_url, "metrics").await;
        assert_eq!(status, StatusCode::OK);
        let shows = |name: &str| metrics.lines().any(|line| line.starts_with(&format!("{name}{{")));
        if ["keyrack_expiry_lag_seconds", "keyrack_reconciliation_open", "keyrack_outbox_age_seconds"]
            .iter()
            .all(|n| shows(n))
        {
            let count = metrics.lines().find_map(|line| line.strip_prefix("keyrack_expired_holds_total "));
            return count.map_or(0.0, |count| count.parse().expect("a number"));
        }
    }
}

#[tokio::test]
async fn two_processes_of_workers_and_one_api_share_a_database() {
    let database = TestDatabase::new().await;
    let provider = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let provider = keyrack_payment_simulator::run(provider, Simulator::default(), &Handle::current());
    let provider = provider.expect("a provider");
    let (url, provider_url) = (database.url(), provider.base_url());
    let environment = [
        ("DATABASE_URL", url.expose_secret()),
        ("KEYRACK_PROVIDER__BASE_URL", provider_url.as_str()),
        ("KEYRACK_WORKERS__EXPIRY_INTERVAL_MS", "20"),
    ];
    let mut connection = database.database().connection().await.expect("a connection");
    let example = Moment("2026-01-10T06:00:00Z".parse().expect("an instant"));
    let ahead = clock::ahead_for(&mut connection, example).await.expect("the clock");
    clock::start(&mut connection, ahead).await.expect("the clock");
    let folder = tempfile::tempdir().expect("a folder");
    let tokens = folder.path().join("credentials.json");
    for command in [&["migrate"][..], &["seed", "--credentials", tokens.to_str().expect("a path")]] {
        let done = run(command, &environment).await;
        assert!(done.status.success(), "{command:?}: {}", stderr(&done));
    }
    let (first, line) = Process::start(&["work", "--port", "0"], &environment).await;
    let first_url = line.strip_prefix("keyrack work is ready at ").expect("the ready line").to_owned();
    let (second, line) = Process::start(&["work"], &[&environment[..], &[OWN_PORT]].concat()).await;
    let second_url = line.strip_prefix("keyrack work is ready at ").expect("the ready line").to_owned();
    let (api, line) = Process::start(&["serve", "--port", "0"], &environment).await;
    let base_url = line.strip_prefix("keyrack serve is ready at ").expect("the ready line");

    let guest = Guest::new(base_url).await;
    let reservation = guest.books().await;
    assert!(reservation.starts_with("res_"));
    let other = Guest::new(base_url).await;
    let quote = other.quote().await;
    let hold = other.hold(&quote).await;
    let later = ahead + chrono::TimeDelta::seconds(601);
    assert!(clock::move_forward(&mut connection, later).await.expect("the clock"));
    // One of the two gives the unit back. There is no signal from one process to another.
    while other.get(&format!("/v1/holds/{hold}")).await["state"] != "EXPIRED" {}

    let mut expired = 0.0;
    for worker in [&first_url, &second_url] {
        for check in ["healthz", "readyz"] {
            assert_eq!(told(worker, check).await.0, StatusCode::OK, "{check}");
        }
        expired += watched(worker).await;
    }
    assert!((expired - 1.0).abs() < f64::EPSILON, "one of them has counted the hold: {expired}");

    let verified = run(&["verify"], &environment).await;
    assert_eq!(verified.status.code(), Some(0), "{}", stdout(&verified));
    let shown = run(&["repair", "--hotel", "HTL-204"], &environment).await;
    assert_eq!(shown.status.code(), Some(0), "{}", stdout(&shown));
    for process in [first, second, api] {
        process.stop_cleanly().await;
    }
    provider.stop().await;
}
