use futures::future::join_all;
use serde_json::json;

use crate::world::{Heard, World, assert_refused, assert_state};

async fn refund(world: &World, reference: &str, amount: u64) -> Heard {
    let body = json!({"capture": "a-capture", "amount": amount, "currency": "INR"});
    world.put(&format!("/v1/refunds/{reference}"), &body).await
}

async fn captured() -> World {
    let world = World::start();
    world.authorize("a", "pm_ok").await;
    world.capture("a").await;
    world
}

#[tokio::test]
async fn refunds_together_never_exceed_the_capture() {
    let world = captured().await;
    assert_state(refund(&world, "a-refund-1-1", 1_000_000).await, "REFUNDED");
    assert_refused(refund(&world, "a-refund-2-1", 456_001).await, 409, "exceeds_capture");
    assert_refused(refund(&world, "a-refund-2-1", u64::MAX).await, 409, "exceeds_capture");
    assert_state(refund(&world, "a-refund-2-1", 456_000).await, "REFUNDED");
    assert_refused(refund(&world, "a-refund-3-1", 1).await, 409, "exceeds_capture");
    let (_, standing) = world.look_up("a-capture").await.expect("an answer");
    assert_eq!((&standing["state"], &standing["refunded"]), (&json!("CAPTURED"), &json!(1_456_000)));
    let (_, standing) = world.look_up("a-auth").await.expect("an answer");
    assert_eq!(standing["refunded"], 1_456_000);
}

#[tokio::test]
async fn a_repeated_refund_gives_back_once() {
    let world = captured().await;
    for heard in join_all((0..20).map(|_| refund(&world, "a-refund-1-1", 456_000))).await {
        assert_state(heard, "REFUNDED");
    }
    assert_refused(refund(&world, "a-refund-1-1", 456_001).await, 409, "reference_in_use");
    assert_eq!(world.charge("a-capture").await["refunded"], 456_000);
    assert_eq!(world.charge("a-refund-1-1").await["calls"], 21);
    let (_, standing) = world.look_up("a-refund-1-1").await.expect("an answer");
    assert_eq!(standing["amount"], 456_000);
}

#[tokio::test]
async fn refunds_racing_for_the_same_capture_share_it() {
    let world = captured().await;
    let names: Vec<_> = (1..=20).map(|n| format!("a-refund-{n}-1")).collect();
    let heard = join_all(names.iter().map(|name| refund(&world, name, 400_000))).await;
    let done = heard.into_iter().flatten().filter(|(status, _)| status.is_success()).count();
    assert_eq!(done, 3);
    assert_eq!(world.charge("a-capture").await["refunded"], 1_200_000);
}

#[tokio::test]
async fn only_what_was_captured_is_refunded_and_in_its_currency() {
    let world = World::start();
    assert_refused(refund(&world, "a-refund-1-1", 1).await, 409, "not_captured");
    world.authorize("a", "pm_ok").await;
    assert_refused(refund(&world, "a-refund-1-1", 1).await, 409, "not_captured");
    let of_the_authorization = json!({"capture": "a-auth", "amount": 1, "currency": "INR"});
    assert_refused(world.put("/v1/refunds/a-refund-1-1", &of_the_authorization).await, 409, "not_captured");
    world.capture("a").await;
    let in_yen = json!({"capture": "a-capture", "amount": 1, "currency": "JPY"});
    assert_refused(world.put("/v1/refunds/a-refund-1-1", &in_yen).await, 409, "exceeds_capture");
    assert_refused(world.look_up("a-refund-1-1").await, 404, "nothing");
    assert_state(refund(&world, "a-refund-1-1", 1).await, "REFUNDED");
}
