//! Roles in processes of their own, on one database.

use keyrack_domain::clock::Moment;
use keyrack_payment_simulator::Settings as Simulator;
use keyrack_store::clock;
use keyrack_testkit::TestDatabase;
use secrecy::ExposeSecret;
use tokio::runtime::Handle;

use crate::{
    booking::Guest,
    process::{Process, run, stderr, stdout},
};

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
    let (first, _) = Process::start(&["work"], &environment).await;
    let (second, _) = Process::start(&["work"], &environment).await;
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

    let verified = run(&["verify"], &environment).await;
    assert_eq!(verified.status.code(), Some(0), "{}", stdout(&verified));
    let shown = run(&["repair", "--hotel", "HTL-204"], &environment).await;
    assert_eq!(shown.status.code(), Some(0), "{}", stdout(&shown));
    for process in [first, second, api] {
        process.stop_cleanly().await;
    }
    provider.stop().await;
}
