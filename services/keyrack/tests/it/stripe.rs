//! The roles with Stripe as their provider.

use std::time::SystemTime;

use keyrack_domain::clock::Moment;
use keyrack_payments::sign;
use keyrack_store::clock;
use keyrack_testkit::{LocalStripe, TestDatabase};
use reqwest::StatusCode;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::{
    booking::{Guest, body},
    process::{Process, run, stderr, stdout},
};

#[tokio::test]
async fn serve_and_work_take_their_payments_at_stripe() {
    let (database, stripe) = (TestDatabase::new().await, LocalStripe::start());
    let url = database.url();
    let environment = [
        ("DATABASE_URL", url.expose_secret()),
        ("KEYRACK_PAYMENTS__PROVIDER", "stripe"),
        ("KEYRACK_PAYMENTS__STRIPE__SECRET_KEY", "sk_test_of_nobody"),
        ("KEYRACK_PAYMENTS__STRIPE__BASE_URL", stripe.base_url()),
        ("KEYRACK_PAYMENTS__STRIPE__WEBHOOK_SECRETS", "whsec_of_nobody"),
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
    let (work, _) = Process::start(&["work", "--port", "0"], &environment).await;
    let (api, line) = Process::start(&["serve", "--port", "0"], &environment).await;
    let base_url = line.strip_prefix("keyrack serve is ready at ").expect("the ready line");
    let guest = Guest::new(base_url).await;
    let hold = guest.hold(&guest.quote().await).await;
    let booked = guest.book_with(&hold, "pm_card_visa").await.expect("an answer");
    let booked = body(booked, StatusCode::CREATED).await;
    assert_eq!(booked["status"], "CONFIRMED");
    let kept = database.value("SELECT count(*) FROM provider_ids WHERE provider = 'stripe'").await;
    assert_eq!(kept, 1);

    let intent = database.value("SELECT provider_id FROM provider_ids").await;
    let refund = json!({
        "id": "re_1", "object": "refund", "amount": 56_000, "currency": "inr", "metadata": {},
        "payment_intent": intent, "status": "succeeded",
    });
    let event = json!({
        "id": "evt_1", "object": "event", "type": "refund.created", "api_version": "2025-03-31.basil",
        "data": {"object": refund},
    });
    let told = event.to_string();
    #[expect(clippy::disallowed_methods, reason = "a signature is made in real time")]
    let signature = sign(&"whsec_of_nobody".into(), SystemTime::now(), told.as_bytes());
    let request = reqwest::Client::new().post(format!("{base_url}/v1/webhooks/payments/stripe"));
    let taken = request.header("stripe-signature", signature).body(told).send().await.expect("an answer");
    assert_eq!(body(taken, StatusCode::OK).await["outcome"], "APPLIED");
    let by_hand = database.value("SELECT count(*) FROM refunds WHERE by_hand").await;
    assert_eq!(by_hand, 1);

    let looked = run(&["doctor"], &environment).await;
    assert!(stdout(&looked).contains("the payment provider answers"), "{}", stdout(&looked));
    api.stop_cleanly().await;
    work.stop_cleanly().await;
}

#[tokio::test]
async fn stripe_without_a_key_does_not_start() {
    let database = TestDatabase::new().await;
    let url = database.url();
    let environment = [("DATABASE_URL", url.expose_secret()), ("KEYRACK_PAYMENTS__PROVIDER", "stripe")];
    let refused = run(&["serve", "--port", "0"], &environment).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("payments.stripe.secret_key"), "{}", stderr(&refused));
}
