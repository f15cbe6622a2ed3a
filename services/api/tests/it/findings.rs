//! What the comparison with the provider's books has found: listed, looked at, closed.

use keyrack_domain::principal::Role;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{answer::Answer, world::World};

const LIST: &str = "/v1/ops/settlement-findings";

/// In the order of the numbers.
async fn found(world: &World, number: u32, provider: &str, state: &str) -> String {
    let id = format!("0197b3c0-a0de-7c3f-9b6a-{number:012}");
    let ended = if state == "RETURNED" { "now()" } else { "NULL" };
    let retry = if state == "RETURNING" { "now()" } else { "NULL" };
    world
        .database
        .execute(&format!(
            "INSERT INTO directory.settlement_findings (
                 provider, entry, kind, state, reference, amount, currency, happened_at, found_at, retry_at,
                 settled_at, finding_id)
             VALUES ('{provider}', 'line-{number}', 'unreadable', '{state}', 'ch_{number}', 12.5, 'EUR',
                     '2026-01-09T06:00:00Z', '2026-01-10T06:00:00Z', {retry}, {ended}, '{id}')"
        ))
        .await;
    format!("fnd_00000000{}", Uuid::parse_str(&id).expect("an id").simple())
}

async fn listed(world: &World, query: &str) -> Vec<String> {
    let page = world.get(&format!("{LIST}{query}")).token(&world.operator).send().await.expect(200);
    let items = page.at("/items").as_array().expect("items").clone();
    items.iter().map(|item| item["id"].as_str().expect("an id").to_owned()).collect()
}

async fn close(world: &World, id: &str, key: &str, note: &str) -> Answer {
    let call = world.post(&format!("{LIST}/{id}/close")).token(&world.operator).key(key);
    call.json(&json!({"note": note})).send().await
}

#[tokio::test]
async fn findings_are_listed_page_by_page_by_their_state_and_provider() {
    let world = World::new().await;
    let mut made = Vec::new();
    for (number, provider, state) in [
        (1, "simulator", "OPEN"),
        (2, "stripe", "RETURNING"),
        (3, "stripe", "RETURNED"),
        (4, "stripe", "OPEN"),
        (5, "simulator", "OPEN"),
    ] {
        made.push(found(&world, number, provider, state).await);
    }
    let of = |numbers: &[usize]| numbers.iter().map(|n| made[n - 1].clone()).collect::<Vec<_>>();
    assert_eq!(listed(&world, "").await, of(&[1, 2, 4, 5]));
    assert_eq!(listed(&world, "?state=closed").await, of(&[3]));
    assert_eq!(listed(&world, "?provider=stripe").await, of(&[2, 4]));
    assert_eq!(listed(&world, "?state=closed&provider=simulator").await, of(&[]));
    let first = world.get(&format!("{LIST}?limit=3")).token(&world.operator).send().await.expect(200);
    let cursor = first.text_at("/next_cursor");
    assert_eq!(listed(&world, &format!("?limit=3&cursor={cursor}")).await, of(&[5]));
    let line = json!({
        "id": made[0], "provider": "simulator", "entry": "line-1", "kind": "unreadable", "state": "OPEN",
        "attempt_id": null, "reference": "ch_1", "amount": {"amount": "12.50", "currency": "EUR"},
        "happened_at": "2026-01-09T06:00:00Z", "found_at": "2026-01-10T06:00:00Z", "settled_at": null,
        "closed": null,
    });
    assert_eq!(first.at("/items/0"), &line);
    for (query, pointer) in
        [("state=shut", "/state"), ("provider=Stripe", "/provider"), ("limit=101", "/limit")]
    {
        let answer = world.get(&format!("{LIST}?{query}")).token(&world.operator).send().await;
        let answer = answer.expect_problem(422, "INVALID");
        assert_eq!(answer.at("/errors/0/pointer"), pointer, "{}", answer.text);
    }
}

#[tokio::test]
async fn a_finding_is_closed_once_with_who_when_and_why() {
    let world = World::new().await;
    let id = found(&world, 1, "stripe", "OPEN").await;
    let note = "A dispute; the bank\u{2019}s letter is with accounts.\nNothing to do.";
    let first = close(&world, &id, "k1", note).await.expect(200);
    assert!(!first.is_replay());
    assert_eq!((first.at("/state"), first.at("/closed/note")), (&json!("CLOSED"), &json!(note)));
    assert!(first.text_at("/closed/by").starts_with("prn_") && first.text_at("/settled_at").ends_with('Z'));
    assert_eq!(first.at("/closed/request_id").as_str(), first.header("x-request-id"));
    let repeat = close(&world, &id, "k1", note).await.expect(200);
    assert!(repeat.is_replay());
    assert_eq!(repeat.body, first.body);
    close(&world, &id, "k1", "another note").await.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    let other = close(&world, &id, "k2", note).await.expect_problem(409, "CONFLICT");
    assert_eq!(other.at("/state"), "CLOSED");
    assert!(listed(&world, "").await.is_empty());
    assert_eq!(listed(&world, "?state=closed").await, [id]);
    // A key is one intention: it closes no second finding.
    let second = found(&world, 2, "stripe", "OPEN").await;
    close(&world, &second, "k1", note).await.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(listed(&world, "").await, std::slice::from_ref(&second));
    close(&world, &second, "k3", note).await.expect(200);
}

#[tokio::test]
async fn ten_that_close_one_finding_at_once_close_it_once() {
    let world = World::new().await;
    let id = found(&world, 1, "stripe", "OPEN").await;
    let keys: Vec<String> = (0..10).map(|n| format!("k{}", n % 5)).collect();
    let calls = keys.iter().map(|key| close(&world, &id, key, "seen"));
    let answers = futures::future::join_all(calls).await;
    let count = |status: u16, replay: bool| {
        answers.iter().filter(|a| a.status == status && a.is_replay() == replay).count()
    };
    assert_eq!((count(200, false), count(200, true), count(409, false)), (1, 1, 8));
    let notes =
        world.database.rows("SELECT note FROM directory.settlement_findings WHERE state = 'CLOSED'").await;
    assert_eq!(notes, [json!({"note": "seen"})]);
}

#[tokio::test]
async fn what_is_not_open_or_not_there_or_not_yours_is_not_closed() {
    let world = World::new().await;
    let id = found(&world, 1, "stripe", "OPEN").await;
    for (number, state) in [(2, "RETURNING"), (3, "RETURNED")] {
        let other = found(&world, number, "stripe", state).await;
        let refused =
            close(&world, &other, &format!("k{number}"), "seen").await.expect_problem(409, "CONFLICT");
        assert_eq!(refused.at("/state"), state);
    }
    for unknown in ["x".to_owned(), id.replace("fnd_00000000", "fnd_00000001"), id.replace("0197", "0198")] {
        close(&world, &unknown, "k4", "seen").await.expect_problem(404, "NOT_FOUND");
    }
    for (note, code) in [("", "BLANK"), (" \n ", "BLANK"), (&*"x".repeat(2_001), "TOO_LONG")] {
        close(&world, &id, "k5", note).await.expect_invalid("/note", code);
    }
    let without: Value = json!({});
    let call = world.post(&format!("{LIST}/{id}/close")).token(&world.operator).fresh_key();
    call.json(&without).send().await.expect_problem(422, "INVALID");
    let staff = world.credential("HTL-204", Role::Staff).await;
    for token in [&staff, &world.guest().await.token] {
        world.get(LIST).token(token).send().await.expect_problem(404, "NOT_FOUND");
        let call = world.post(&format!("{LIST}/{id}/close")).token(token).fresh_key();
        call.json(&json!({"note": "seen"})).send().await.expect_problem(404, "NOT_FOUND");
    }
    assert_eq!(listed(&world, "").await.len(), 2);
}
