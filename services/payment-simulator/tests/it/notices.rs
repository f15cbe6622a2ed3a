use serde_json::json;

use crate::{
    receiver::{Receiver, of},
    world::{World, assert_refused, assert_state},
};

async fn captured(receiver: &Receiver, method: &str) -> World {
    let world = World::start_with(receiver.settings());
    world.authorize("a", method).await;
    world.capture("a").await;
    world
}

async fn refund(world: &World, reference: &str, amount: u64) -> crate::world::Heard {
    let body = json!({"capture": "a-capture", "amount": amount, "currency": "INR"});
    world.put(&format!("/v1/refunds/{reference}"), &body).await
}

#[tokio::test]
async fn everything_that_happens_is_told_signed_with_its_amount() {
    let mut receiver = Receiver::start(0);
    let world = World::start_with(receiver.settings());
    world.authorize("a", "pm_ok").await;
    let notice = receiver.next().await;
    assert!(notice["id"].as_str().is_some_and(|id| id.starts_with("evt_")), "{notice}");
    assert!(notice["created_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{notice}");
    let told = (&notice["type"], &notice["reference"], &notice["amount"], &notice["currency"]);
    let expected = (&json!("authorization.succeeded"), &json!("a-auth"), &json!(1_456_000), &json!("INR"));
    assert_eq!(told, expected);
    world.capture("a").await;
    assert_eq!(receiver.told().await, of("capture.succeeded", "a-capture"));
    assert_state(refund(&world, "a-refund-1-1", 1).await, "REFUNDED");
    let notice = receiver.next().await;
    assert_eq!((&notice["type"], &notice["amount"]), (&json!("refund.succeeded"), &json!(1)));
    assert_eq!(notice["provider_id"], "re_a-refund-1-1");

    for (name, method, call, told) in [
        ("b", "pm_declined", "auth", "authorization.declined"),
        ("c", "pm_capture_fails", "capture", "capture.failed"),
    ] {
        world.authorize(name, method).await;
        world.capture(name).await;
        let mut notice = receiver.told().await;
        if name == "c" {
            assert_eq!(notice, of("authorization.succeeded", "c-auth"));
            notice = receiver.told().await;
        }
        assert_eq!(notice, of(told, &format!("{name}-{call}")));
    }
    world.void("c").await;
    assert_eq!(receiver.told().await, of("authorization.voided", "c-auth"));
    // A repeat is no new fact.
    world.capture("a").await;
    refund(&world, "a-refund-2-1", 2).await;
    assert_eq!(receiver.told().await, of("refund.succeeded", "a-refund-2-1"));
}

#[tokio::test]
async fn a_notice_is_sent_until_it_is_taken_and_kept_when_it_never_is() {
    let mut receiver = Receiver::start(2);
    let world = World::start_with(receiver.settings());
    world.authorize("a", "pm_ok").await;
    let first = receiver.next().await;
    assert_eq!((receiver.next().await, receiver.next().await), (first.clone(), first));
    world.running.stop().await;

    let mut receiver = Receiver::start(u32::MAX);
    let folder = tempfile::tempdir().expect("a folder");
    let mut settings = receiver.settings();
    settings.journal = Some(folder.path().join("charges.jsonl"));
    let world = World::start_with(settings.clone());
    world.authorize("a", "pm_ok").await;
    let first = receiver.next().await;
    for _ in 1..3 {
        assert_eq!(receiver.next().await, first);
    }
    // The stop waits for what is under way; the journal has what nobody took.
    world.running.stop().await;
    let world = World::start_with(settings);
    let (_, kept) = world.get("/simulator/notices").await.expect("an answer");
    assert_eq!(kept["items"], json!([first]));
}

#[tokio::test]
async fn a_method_that_sends_everything_twice_also_tells_it_under_another_event() {
    let mut receiver = Receiver::start(0);
    let _world = captured(&receiver, "pm_duplicate_webhooks").await;
    let mut of_captures = Vec::new();
    for _ in 0..6 {
        let notice = receiver.next().await;
        if notice["type"] == "capture.succeeded" {
            of_captures.push(notice);
        }
    }
    let [first, again, other] = of_captures.as_slice() else { panic!("{of_captures:?}") };
    assert_eq!(first, again);
    assert_ne!(first["id"], other["id"]);
    assert_eq!(first["reference"], other["reference"]);
}

#[tokio::test]
async fn a_method_that_reorders_tells_of_the_authorization_after_the_capture() {
    let mut receiver = Receiver::start(0);
    let _world = captured(&receiver, "pm_reordered_webhooks").await;
    assert_eq!(receiver.told().await, of("capture.succeeded", "a-capture"));
    assert_eq!(receiver.told().await, of("authorization.succeeded", "a-auth"));
}

#[tokio::test]
async fn another_amount_than_asked_is_captured_and_told_everywhere() {
    let mut receiver = Receiver::start(0);
    let world = World::start_with(receiver.settings());
    world.authorize("a", "pm_wrong_amount").await;
    receiver.next().await;
    let (_, said) = world.capture("a").await.expect("an answer");
    let notice = receiver.next().await;
    let (_, looked_up) = world.look_up("a-auth").await.expect("an answer");
    let (_, export) = world.get("/v1/settlement").await.expect("an answer");
    let listed = world.charge("a-capture").await;
    for amount in [&said, &notice, &looked_up, &export["items"][0], &listed].map(|told| &told["amount"]) {
        assert_eq!(amount, 1_455_999);
    }
    assert_refused(refund(&world, "a-refund-1-1", 1_456_000).await, 409, "exceeds_capture");
    assert_state(refund(&world, "a-refund-1-2", 1_455_999).await, "REFUNDED");
}

#[tokio::test]
async fn a_refund_fails_twice_for_good_and_the_third_try_succeeds() {
    let mut receiver = Receiver::start(0);
    let world = captured(&receiver, "pm_refund_fails_twice").await;
    receiver.next().await;
    receiver.next().await;
    for name in ["a-refund-1-1", "a-refund-1-2"] {
        for _ in 0..2 {
            assert_refused(refund(&world, name, 456_000).await, 409, "refund_failed");
            assert_eq!(receiver.told().await, of("refund.failed", name));
        }
    }
    assert_state(refund(&world, "a-refund-1-3", 456_000).await, "REFUNDED");
    assert_eq!(receiver.told().await, of("refund.succeeded", "a-refund-1-3"));
    assert_eq!(world.charge("a-capture").await["refunded"], 456_000);
}

#[tokio::test]
async fn b057_refunds_by_hand_and_refunds_that_fail_later_are_told_under_the_same_name() {
    let mut receiver = Receiver::start(0);
    let world = captured(&receiver, "pm_ok").await;
    receiver.next().await;
    receiver.next().await;
    let body = json!({"capture": "a-capture", "amount": 1_000_000, "currency": "INR"});
    assert_state(world.post("/simulator/refunds-by-hand", &body).await, "REFUNDED");
    let created = receiver.next().await;
    assert_eq!((&created["type"], &created["reference"]), (&json!("refund.created"), &json!("a-capture")));
    assert_refused(world.post("/simulator/refunds-by-hand", &body).await, 409, "exceeds_capture");
    assert_state(refund(&world, "a-refund-1-1", 456_000).await, "REFUNDED");
    let succeeded = receiver.next().await;
    for notice in [created, succeeded] {
        let id = notice["provider_id"].as_str().expect("an id").to_owned();
        let name = id.strip_prefix("re_a").map_or(id.clone(), |rest| format!("a{rest}"));
        let fails = json!({"reference": name});
        assert_state(world.post("/simulator/refunds-fail", &fails).await, "FAILED");
        let failed = receiver.next().await;
        assert_eq!((&failed["type"], &failed["provider_id"]), (&json!("refund.failed"), &json!(id)));
        assert_refused(world.post("/simulator/refunds-fail", &fails).await, 409, "not_refunded");
    }
    assert_eq!(world.charge("a-capture").await["refunded"], 0);
    assert_refused(refund(&world, "a-refund-1-1", 456_000).await, 409, "refund_failed");
}

#[tokio::test]
async fn what_is_lost_on_its_way_is_never_sent() {
    let mut receiver = Receiver::start(0);
    let world = World::start_with(receiver.settings());
    world.post("/simulator/notices", &json!({"lose": true})).await;
    world.authorize("a", "pm_ok").await;
    world.post("/simulator/notices", &json!({"lose": false})).await;
    world.capture("a").await;
    assert_eq!(receiver.told().await, of("capture.succeeded", "a-capture"));
    let (_, kept) = world.get("/simulator/notices").await.expect("an answer");
    assert_eq!(kept["items"], json!([]));
}
