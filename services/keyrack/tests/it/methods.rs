//! Every payment method of the simulator, with its provider telling by itself what happens: twice, out of order,
//! of another amount, after a page. Each booking ends well, and each confirms once.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    booking::{Guest, body, id},
    sandbox::{Sandbox, charges},
};

/// Method, what the booking becomes in the end, and what the guest has claimed then.
const METHODS: [(&str, &str, (u64, u64)); 8] = [
    ("pm_ok", "CONFIRMED", (0, 1)),
    ("pm_declined", "FAILED", (1, 0)),
    ("pm_timeout", "FAILED", (1, 0)),
    ("pm_lost_response", "CONFIRMED", (0, 1)),
    ("pm_capture_fails", "FAILED", (1, 0)),
    ("pm_duplicate_webhooks", "CONFIRMED", (0, 1)),
    ("pm_reordered_webhooks", "CONFIRMED", (0, 1)),
    ("pm_wrong_amount", "REFUNDED", (1, 0)),
];

#[tokio::test]
async fn every_method_ends_well_with_notices() {
    let sandbox = Sandbox::with_notices();
    let (process, base_url) = sandbox.start(&[("KEYRACK_PROVIDER__DEADLINE_MS", "1000")]).await;
    for (number, (method, becomes, claimed)) in METHODS.into_iter().enumerate() {
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        let answer = guest.book_with(&hold, method).await.expect("an answer");
        let text: Value = serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
        let attempt = text["attempt_id"].as_str().or(text["id"].as_str()).expect("an attempt").to_owned();
        sandbox.advance(&base_url, 130).await;
        for _ in 0..3 {
            sandbox.advance(&base_url, 31).await;
        }
        let shown = guest.get(&format!("/v1/bookings/{attempt}")).await;
        assert_eq!(shown["status"], becomes, "{method}: {shown}");
        let (held, confirmed) = sandbox.claimed(&base_url, guest.first_night()).await;
        // The hold of a payment that took nothing lives on, or has been given up with the money that goes back.
        assert!(held <= claimed.0 && confirmed == claimed.1, "{method}: {held} held, {confirmed} confirmed");
        sandbox.must_verify().await;
    }
    process.stop_cleanly().await;
}

#[tokio::test]
async fn a_customer_who_confirms_on_the_page_is_booked_by_the_notice() {
    let sandbox = Sandbox::with_notices();
    let (process, base_url) = sandbox.start(&[]).await;
    for (number, (does, becomes)) in
        [("complete", "CONFIRMED"), ("abandon", "FAILED")].into_iter().enumerate()
    {
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        let pending = guest.book_with(&hold, "pm_3ds").await.expect("an answer");
        let pending = body(pending, StatusCode::ACCEPTED).await;
        assert_eq!(pending["next_action"]["type"], "redirect", "{pending}");
        let page = pending["next_action"]["url"].as_str().expect("a page");
        let client = reqwest::Client::new();
        assert!(client.get(page).send().await.expect("a page").status().is_success());
        let acted = client.post(format!("{page}/{does}")).send().await.expect("an answer");
        assert!(acted.status().is_success(), "{}", acted.status());
        let attempt = id(&pending);
        // The notice does it: long before the customer's time is up, which the sweep would wait for. What it has
        // handed over is at the latest taken up when the lease of its resolver has ended.
        let told = client.get(format!("{base_url}/simulator/notices")).header("prefer", "wait-for=told");
        let untold: Value =
            serde_json::from_str(&told.send().await.expect("an answer").text().await.expect("a body"))
                .expect("JSON");
        assert_eq!(untold["items"], json!([]), "every notice was taken");
        sandbox.advance(&base_url, 31).await;
        let shown = guest.get(&format!("/v1/bookings/{attempt}")).await;
        assert_eq!(shown["status"], becomes, "{does}: {shown}");
        sandbox.must_verify().await;
    }
    process.stop_cleanly().await;
}

#[tokio::test]
async fn a_refund_that_fails_twice_arrives_once() {
    let sandbox = Sandbox::with_notices();
    let (process, base_url) = sandbox.start(&[]).await;
    let guest = Guest::new(&base_url).await;
    let hold = guest.hold(&guest.quote().await).await;
    let booked = guest.book_with(&hold, "pm_refund_fails_twice").await.expect("an answer");
    let reservation = id(&body(booked, StatusCode::CREATED).await["reservation"]);
    body(guest.try_cancel(&reservation).await.expect("an answer"), StatusCode::OK).await;
    for _ in 0..4 {
        sandbox.advance(&base_url, 31).await;
    }
    let shown = guest.get(&format!("/v1/reservations/{reservation}")).await;
    assert_eq!(shown["refunds"][0]["state"], "SUCCEEDED", "{shown}");
    let given = charges(&base_url).await.into_iter().filter(|charge| charge["state"] == json!("REFUNDED"));
    assert_eq!(given.count(), 1);
    sandbox.must_verify().await;
    process.stop_cleanly().await;
}
