//! A provider that is stopped or killed remembers what it has said.

use std::{net::TcpListener, path::Path, process::Stdio, time::Duration};

use futures::{StreamExt as _, stream::iter};
use keyrack_payment_simulator::{Settings, StartError, run};
use reqwest::Client;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    runtime::Handle,
};

use crate::world::{World, assert_refused, assert_state, capture_body, client, hear};

fn with_journal(folder: &Path) -> Settings {
    Settings { journal: Some(folder.join("charges.jsonl")), ..Settings::default() }
}

#[tokio::test]
async fn a_restart_remembers_charges_and_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::start_with(with_journal(folder.path()));
    world.authorize("a", "pm_ok").await;
    world.capture("a").await;
    world.capture("a").await;
    world.authorize("b", "pm_declined").await;
    world.void("c").await;
    let refund = json!({"capture": "a-capture", "amount": 1_000_000, "currency": "INR"});
    world.put("/v1/refunds/a-refund-1-1", &refund).await;
    let before = world.get("/simulator/charges").await;
    world.running.stop().await;

    let world = World::start_with(with_journal(folder.path()));
    assert_eq!(world.get("/simulator/charges").await, before);
    assert_state(world.capture("a").await, "CAPTURED");
    assert_state(world.put("/v1/refunds/a-refund-1-1", &refund).await, "REFUNDED");
    assert_refused(world.put("/v1/refunds/a-refund-2-1", &refund).await, 409, "exceeds_capture");
    assert_refused(world.authorize("b", "pm_declined").await, 402, "declined");
    assert_refused(world.authorize("c", "pm_ok").await, 409, "authorization_voided");
    assert_eq!(world.captures("a").await, 1);
    assert_eq!(world.charge("a-capture").await["calls"], 3);
}

#[tokio::test]
async fn a_slow_capture_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let slow = Settings { slow_capture: Duration::from_secs(3600), ..with_journal(folder.path()) };
    let world = World::start_with(slow);
    world.authorize("a", "pm_slow").await;
    tokio::select! {
        _ = world.capture("a") => panic!("it waits"),
        _ = world.get("/simulator/charges/a-capture?wait_for=WAITING") => {}
    }
    world.running.stop().await;

    let quick = Settings { slow_capture: Duration::from_millis(20), ..with_journal(folder.path()) };
    let world = World::start_with(quick);
    assert_state(world.get("/simulator/charges/a-capture?wait_for=CAPTURED").await, "CAPTURED");
}

#[tokio::test]
async fn two_simulators_do_not_share_a_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let _world = World::start_with(with_journal(folder.path()));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let second = run(listener, with_journal(folder.path()), &Handle::current());
    assert!(matches!(second, Err(StartError::Journal(_))));
}

#[tokio::test]
async fn a_full_journal_takes_nothing_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::start_with(Settings { max_journal_bytes: 300, ..with_journal(folder.path()) });
    world.authorize("a", "pm_ok").await;
    world.capture("a").await;
    let (status, _) = world.authorize("b", "pm_ok").await.expect("an answer");
    assert_eq!(status.as_u16(), 503);
    assert_state(world.look_up("a-auth").await, "CAPTURED");
}

const JOURNAL_OF_THE_CHILD: &str = "KEYRACK_TEST_SIMULATOR_JOURNAL";

/// Not a test: the process that the next one kills.
#[tokio::test]
#[ignore = "the child process of the test below"]
async fn serves_until_it_is_killed() {
    let Ok(journal) = std::env::var(JOURNAL_OF_THE_CHILD) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let settings = Settings { journal: Some(journal.into()), ..Settings::default() };
    let running = run(listener, settings, &Handle::current()).expect("starts");
    println!("\nserving {}", running.base_url());
    std::future::pending::<()>().await;
}

async fn child(journal: &Path) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "restart::serves_until_it_is_killed", "--ignored", "--nocapture"])
        .env(JOURNAL_OF_THE_CHILD, journal)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    loop {
        let line = lines.next_line().await.expect("a line").expect("it serves");
        if let Some(url) = line.strip_prefix("serving ") {
            return (child, url.to_owned());
        }
    }
}

async fn pay(client: &Client, base: &str, name: usize) -> Option<usize> {
    let name_of = format!("n{name}");
    let body = json!({"amount": 1_456_000, "currency": "INR", "method": "pm_ok"});
    hear(client.put(format!("{base}/v1/authorizations/{name_of}-auth")).json(&body)).await?;
    let call = client.put(format!("{base}/v1/captures/{name_of}-capture")).json(&capture_body(&name_of));
    let (status, _) = hear(call).await?;
    status.is_success().then_some(name)
}

#[tokio::test]
async fn a_killed_provider_never_takes_an_answer_back_and_charges_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("charges.jsonl");
    let client = client();
    let (mut first, base) = child(&journal).await;
    // A few at a time, so that the kill finds most of them still to come.
    let mut calls = iter((0..400).map(|name| pay(&client, &base, name))).buffer_unordered(16);
    let mut answered = Vec::new();
    while let Some(paid) = calls.next().await {
        answered.extend(paid);
        if answered.len() == 50 {
            first.kill().await.expect("killed");
        }
    }
    drop(calls);
    assert!((50..400).contains(&answered.len()), "killed in the middle: {}", answered.len());

    let (_second, base) = child(&journal).await;
    for name in &answered {
        let known = hear(client.get(format!("{base}/v1/payments/n{name}-capture"))).await;
        assert_state(known, "CAPTURED");
    }
    // Everyone asks again under the same references, as a resolver would.
    for name in 0..400 {
        assert_eq!(pay(&client, &base, name).await, Some(name));
    }
    let (_, page) = hear(client.get(format!("{base}/simulator/charges"))).await.expect("an answer");
    let items = page["items"].as_array().expect("items");
    let captured = items.iter().filter(|item| item["kind"] == "capture" && item["state"] == "CAPTURED");
    assert_eq!((captured.count(), items.len()), (400, 800));
}
