//! The process is killed while the provider has its question: an operator sees the question without an answer, and
//! where the retry picked up.

use reqwest::StatusCode;
use serde_json::Value;
use tokio::runtime::Handle;

use crate::{
    booking::{Guest, body, id},
    crashes::release_capture,
    sandbox::Sandbox,
};

async fn items(operator: &Guest, id: &str) -> Vec<Value> {
    let timeline = operator.get(&format!("/v1/ops/bookings/{id}/timeline?limit=100")).await;
    timeline["items"].as_array().expect("items").clone()
}

fn word(item: &Value) -> String {
    let text = |field: &str| item[field].as_str().unwrap_or("-").to_owned();
    match item["kind"].as_str().expect("a kind") {
        "transaction" => item["entries"][0]["action"].as_str().expect("an action").to_owned(),
        "provider_call" => format!("{} {} {}", text("call"), text("outcome"), text("detail")),
        "replay" => format!("{} {} {}", text("action"), text("state"), text("picked_up")),
        other => other.to_owned(),
    }
}

#[tokio::test]
async fn a_process_killed_over_a_payment_leaves_its_question_and_the_retry_says_where_it_picked_up() {
    let sandbox = Sandbox::new();
    let (process, base_url) = sandbox.start(&[]).await;
    let guest = Guest::new(&base_url).await;
    let hold = guest.hold(&guest.quote().await).await;
    let operator = sandbox.operator(&base_url);
    let (asking, its_hold) = (guest.at(&base_url), hold.clone());
    // The provider takes its time over the capture, more than its deadline.
    let booking = Handle::current().spawn(async move { asking.book_with(&its_hold, "pm_slow").await });
    let is_unanswered = |item: &Value| item["call"] == "capture" && item["outcome"].is_null();
    while !items(&operator, &hold).await.iter().any(is_unanswered) {
        assert!(!booking.is_finished(), "the provider has answered");
    }
    process.kill().await;
    booking.await.expect("no panic").expect_err("the process has died");

    let (process, base_url) = sandbox.start(&[]).await;
    let guest = guest.at(&base_url);
    let retried = guest.book_with(&hold, "pm_slow").await.expect("an answer");
    let attempt = id(&body(retried, StatusCode::ACCEPTED).await);
    release_capture(&base_url, &attempt).await;
    sandbox.advance(&base_url, 130).await;
    let retried = guest.book_with(&hold, "pm_slow").await.expect("an answer");
    body(retried, StatusCode::CREATED).await;

    let told: Vec<String> = items(&sandbox.operator(&base_url), &attempt).await.iter().map(word).collect();
    assert_eq!(
        told,
        [
            "quote",
            "hold.placed",
            "attempt.started",
            "authorize authorized -",
            "capture - -",
            "attempt.replayed PENDING_PAYMENT waits_for_the_provider",
            "attempt.reconciling",
            "look_up answered captured",
            "reservation.confirmed",
            "attempt.replayed CONFIRMED the_reservation",
        ]
    );
    sandbox.must_verify().await;
    process.stop_cleanly().await;
}
