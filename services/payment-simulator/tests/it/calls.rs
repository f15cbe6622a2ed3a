use futures::future::join_all;
use serde_json::json;

use crate::world::{World, assert_refused, assert_state};

#[tokio::test]
async fn an_authorization_and_its_capture_are_one_charge() {
    let world = World::start();
    assert_state(world.authorize("a", "pm_ok").await, "AUTHORIZED");
    assert_state(world.look_up("a-auth").await, "AUTHORIZED");
    assert_refused(world.look_up("a-capture").await, 404, "nothing");

    let (_, captured) = world.capture("a").await.expect("an answer");
    let charge = json!({
        "reference": "a-capture", "state": "CAPTURED", "amount": 1_456_000, "currency": "INR", "refunded": 0,
    });
    assert_eq!(captured, charge);
    assert_state(world.look_up("a-capture").await, "CAPTURED");
    assert_state(world.look_up("a-auth").await, "CAPTURED");
    assert_eq!(world.captures("a").await, 1);
}

#[tokio::test]
async fn twenty_identical_calls_at_once_are_one_charge() {
    let world = World::start();
    for heard in join_all((0..20).map(|_| world.authorize("a", "pm_ok"))).await {
        assert_state(heard, "AUTHORIZED");
    }
    for heard in join_all((0..20).map(|_| world.capture("a"))).await {
        assert_state(heard, "CAPTURED");
    }
    assert_eq!(world.captures("a").await, 1);
    assert_eq!(world.charge("a-auth").await["calls"], 20);
    assert_eq!(world.charge("a-capture").await["calls"], 20);
}

#[tokio::test]
async fn a_second_capture_under_another_name_is_no_second_charge() {
    let world = World::start();
    world.authorize("a", "pm_ok").await;
    world.capture("a").await;
    let body = json!({"authorization": "a-auth", "amount": 1, "currency": "INR"});
    assert_refused(world.put("/v1/captures/a-capture2", &body).await, 409, "already_captured");
    assert_eq!(world.captures("a").await, 1);
}

#[tokio::test]
async fn a_reference_stands_for_one_input() {
    let world = World::start();
    world.authorize("a", "pm_ok").await;
    for other in [
        json!({"amount": 1_456_001, "currency": "INR", "method": "pm_ok"}),
        json!({"amount": 1_456_000, "currency": "JPY", "method": "pm_ok"}),
        json!({"amount": 1_456_000, "currency": "INR", "method": "pm_slow"}),
    ] {
        assert_refused(world.put("/v1/authorizations/a-auth", &other).await, 409, "reference_in_use");
    }
    let capture = json!({"authorization": "a-auth", "amount": 1_456_000, "currency": "INR"});
    assert_refused(world.put("/v1/captures/a-auth", &capture).await, 409, "reference_in_use");
    let (_, standing) = world.look_up("a-auth").await.expect("an answer");
    assert_eq!((&standing["state"], &standing["amount"]), (&json!("AUTHORIZED"), &json!(1_456_000)));
    assert_eq!(world.charge("a-auth").await["calls"], 5);
}

#[tokio::test]
async fn a_decline_is_final_and_takes_nothing() {
    let world = World::start();
    for _ in 0..2 {
        assert_refused(world.authorize("a", "pm_declined").await, 402, "declined");
    }
    assert_state(world.look_up("a-auth").await, "DECLINED");
    assert_refused(world.capture("a").await, 409, "not_authorized");
    assert_refused(world.look_up("a-capture").await, 404, "nothing");
    assert_eq!(world.captures("a").await, 0);
}

#[tokio::test]
async fn a_method_that_only_authorizes_refuses_every_capture() {
    let world = World::start();
    assert_state(world.authorize("a", "pm_capture_fails").await, "AUTHORIZED");
    for _ in 0..2 {
        assert_refused(world.capture("a").await, 402, "capture_failed");
    }
    assert_state(world.look_up("a-auth").await, "AUTHORIZED");
    assert_refused(world.look_up("a-capture").await, 404, "nothing");
    assert_eq!(world.captures("a").await, 0);
    assert_state(world.void("a").await, "VOIDED");
}

#[tokio::test]
async fn a_method_that_nobody_issued_is_refused_and_not_repeated_in_the_list() {
    let world = World::start();
    for method in ["pm_4ds", "pm_", "unknown", "4111111111111111", ""] {
        assert_refused(world.authorize("a", method).await, 422, "unknown_method");
    }
    assert_refused(world.look_up("a-auth").await, 404, "nothing");
    let charge = world.charge("a-auth").await;
    assert_eq!((&charge["state"], &charge["method"]), (&json!("REFUSED"), &json!("unknown")));
    // What was refused stands for nothing: the reference is free.
    assert_state(world.authorize("a", "pm_ok").await, "AUTHORIZED");
}

#[tokio::test]
async fn nothing_is_captured_that_was_not_authorized_or_more_than_that() {
    let world = World::start();
    assert_refused(world.capture("a").await, 409, "not_authorized");
    // A refusal is not remembered: the same call is right once there is an authorization.
    world.authorize("a", "pm_ok").await;
    for (amount, currency) in [(1_456_001, "INR"), (1_456_000, "EUR")] {
        let body = json!({"authorization": "a-auth", "amount": amount, "currency": currency});
        assert_refused(world.put("/v1/captures/a-capture", &body).await, 409, "exceeds_authorization");
    }
    assert_state(world.capture("a").await, "CAPTURED");
    let of_a_capture = json!({"authorization": "a-capture", "amount": 1, "currency": "INR"});
    assert_refused(world.put("/v1/captures/b-capture", &of_a_capture).await, 409, "not_authorized");
}

#[tokio::test]
async fn b099_b105_amounts_are_whole_minor_units_and_exact() {
    let world = World::start();
    // 26,400 JPY have no decimals; 90071992547409.93 EUR are one more than a double can count to.
    for (name, amount, currency) in
        [("jpy", 26_400_u64, "JPY"), ("eur", 9_007_199_254_740_993, "EUR"), ("kwd", 1_500, "KWD")]
    {
        let body = json!({"amount": amount, "currency": currency, "method": "pm_ok"});
        assert_state(world.put(&format!("/v1/authorizations/{name}-auth"), &body).await, "AUTHORIZED");
        let body = json!({"authorization": format!("{name}-auth"), "amount": amount, "currency": currency});
        assert_state(world.put(&format!("/v1/captures/{name}-capture"), &body).await, "CAPTURED");
        let (_, standing) = world.look_up(&format!("{name}-capture")).await.expect("an answer");
        assert_eq!(standing["amount"].as_u64(), Some(amount));
        assert_eq!(world.charge(&format!("{name}-capture")).await["amount"].as_u64(), Some(amount));
    }
}

#[tokio::test]
async fn what_is_not_a_call_is_refused_and_leaves_nothing() {
    let world = World::start();
    for body in [
        json!({"amount": 26_400.5, "currency": "JPY", "method": "pm_ok"}),
        json!({"amount": "26400", "currency": "JPY", "method": "pm_ok"}),
        json!({"amount": -1, "currency": "JPY", "method": "pm_ok"}),
        json!({"amount": 0, "currency": "JPY", "method": "pm_ok"}),
        json!({"amount": 1, "currency": "jpy", "method": "pm_ok"}),
        json!({"amount": 1, "currency": "JPY"}),
        json!({"amount": 1, "currency": "JPY", "method": "pm_ok", "extra": 1}),
        json!({"amount": 1, "currency": "JPY", "method": "x".repeat(20_000)}),
    ] {
        assert_refused(world.put("/v1/authorizations/a-auth", &body).await, 422, "invalid");
    }
    assert_refused(world.authorize(&"x".repeat(200), "pm_ok").await, 422, "invalid");
    assert_refused(world.authorize("a%20b", "pm_ok").await, 422, "invalid");
    assert_refused(world.get("/v1/elsewhere").await, 404, "no_such_path");
    let (_, page) = world.get("/simulator/charges").await.expect("an answer");
    assert_eq!(page, json!({"items": [], "next_cursor": null}));
}
