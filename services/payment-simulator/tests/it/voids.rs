use std::time::Duration;

use keyrack_payment_simulator::Settings;
use serde_json::json;

use crate::world::{World, assert_refused, assert_state};

#[tokio::test]
async fn a_voided_authorization_takes_nothing() {
    let world = World::start();
    world.authorize("a", "pm_ok").await;
    for _ in 0..2 {
        assert_state(world.void("a").await, "VOIDED");
    }
    assert_state(world.look_up("a-auth").await, "VOIDED");
    assert_refused(world.capture("a").await, 409, "authorization_voided");
    assert_refused(world.authorize("a", "pm_ok").await, 409, "authorization_voided");
    assert_eq!(world.captures("a").await, 0);
}

#[tokio::test]
async fn a_cancel_that_overtakes_its_authorization_wins() {
    let world = World::start();
    assert_state(world.void("a").await, "VOIDED");
    assert_refused(world.authorize("a", "pm_ok").await, 409, "authorization_voided");
    assert_state(world.look_up("a-auth").await, "VOIDED");
    assert_refused(world.capture("a").await, 409, "authorization_voided");
}

#[tokio::test]
async fn a_cancel_ends_an_authorization_that_waits() {
    let world = World::start();
    let cancel = async {
        world.get("/simulator/charges/a-auth?wait_for=WAITING").await;
        world.void("a").await
    };
    let (heard, voided) = futures::join!(world.authorize("a", "pm_timeout"), cancel);
    assert_state(voided, "VOIDED");
    assert_refused(heard, 409, "authorization_voided");
    assert_refused(
        world.post("/simulator/release", &json!({"reference": "a-auth"})).await,
        409,
        "not_waiting",
    );
    assert_state(world.look_up("a-auth").await, "VOIDED");
}

#[tokio::test]
async fn what_is_captured_or_being_captured_cannot_be_voided() {
    let world =
        World::start_with(Settings { slow_capture: Duration::from_secs(3600), ..Settings::default() });
    world.authorize("a", "pm_ok").await;
    world.capture("a").await;
    assert_refused(world.void("a").await, 409, "already_captured");
    assert_state(world.look_up("a-capture").await, "CAPTURED");

    world.authorize("b", "pm_slow").await;
    let late = async {
        world.get("/simulator/charges/b-capture?wait_for=WAITING").await;
        let refused = world.void("b").await;
        world.post("/simulator/release", &json!({"reference": "b-capture"})).await;
        refused
    };
    let (captured, refused) = futures::join!(world.capture("b"), late);
    assert_refused(refused, 409, "capture_pending");
    assert_state(captured, "CAPTURED");
    assert_refused(world.void("b").await, 409, "already_captured");
}

#[tokio::test]
async fn only_authorizations_are_voided() {
    let world = World::start();
    world.authorize("a", "pm_ok").await;
    world.capture("a").await;
    let body = json!({"authorization": "a-capture"});
    assert_refused(world.put("/v1/voids/x-void", &body).await, 409, "not_authorized");
}
