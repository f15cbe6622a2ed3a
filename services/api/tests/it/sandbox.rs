use keyrack_api::sandbox::WaitFor;
use serde_json::{Value, json};

use crate::{answer::Answer, world::World};

async fn set(world: &World, body: &Value) -> Answer {
    world.post("/v1/sandbox/clock").token(&world.operator).json(body).send().await
}

#[tokio::test]
async fn the_clock_goes_forward_by_seconds_or_to_an_instant_and_needs_no_key() {
    let world = World::new().await;
    let now = |answer: &Answer| -> chrono::DateTime<chrono::Utc> {
        answer.text_at("/now").parse().expect("an instant")
    };
    let first = set(&world, &json!({"advance_s": 0})).await.expect(200);
    let second = set(&world, &json!({"advance_s": 600})).await.expect(200);
    assert!((600..700).contains(&(now(&second) - now(&first)).num_seconds()));
    let third = set(&world, &json!({"now": "2026-03-01T12:00:00+05:30"})).await.expect(200);
    assert!(third.text_at("/now").starts_with("2026-03-01T06:30:"), "{}", third.text);
    assert_eq!(*world.waits.lock().expect("not poisoned"), [WaitFor::Seen; 3]);
    let call = world.post("/v1/sandbox/clock").token(&world.operator).header("prefer", "wait-for=drained");
    call.json(&json!({"advance_s": 1})).send().await.expect(200);
    assert_eq!(world.waits.lock().expect("not poisoned").last(), Some(&WaitFor::Drained));
}

#[tokio::test]
async fn it_never_goes_back_and_never_out_of_the_calendar() {
    let world = World::new().await;
    set(&world, &json!({"now": "2026-01-01T00:00:00Z"})).await.expect_invalid("/now", "NOT_FORWARD");
    set(&world, &json!({"now": "9999-12-31T00:00:00Z"})).await.expect_invalid("/now", "OUT_OF_RANGE");
    set(&world, &json!({"now": "tomorrow"})).await.expect_invalid("/now", "INVALID_VALUE");
    set(&world, &json!({"advance_s": -1})).await.expect_invalid("/advance_s", "INVALID_VALUE");
    set(&world, &json!({})).await.expect_invalid("/advance_s", "MISSING");
    let both = json!({"advance_s": 1, "now": "2026-03-01T12:00:00Z"});
    set(&world, &both).await.expect_invalid("/now", "NOT_ALLOWED");
}

#[tokio::test]
async fn it_is_the_operators_and_the_sandboxs_alone() {
    let world = World::new().await;
    let guest = world.guest().await;
    let call = world.post("/v1/sandbox/clock").token(&guest.token);
    call.json(&json!({"advance_s": 1})).send().await.expect_problem(404, "NOT_FOUND");
    world.post("/v1/sandbox/clock").send().await.expect_problem(401, "UNAUTHENTICATED");
    let real = World::outside_the_sandbox().await;
    set(&real, &json!({"advance_s": 1})).await.expect_problem(404, "NOT_FOUND");
}
