//! What a payment provider sends: only what it has signed, lately, has an effect.

use std::time::{Duration, SystemTime};

use keyrack_payments::sign;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, SECRET, STAY, World, booking},
};

const PATH: &str = "/v1/webhooks/payments/simulator";
const HEADER: &str = "keyrack-signature";

#[expect(clippy::disallowed_methods, reason = "a signature is made in real time")]
fn now() -> SystemTime {
    SystemTime::now()
}

async fn told(world: &World, body: &str, signature: &str) -> Answer {
    world.post(PATH).header(HEADER, signature).text(body).send().await
}

async fn tell(world: &World, body: &Value) -> Answer {
    let body = body.to_string();
    told(world, &body, &sign(&SECRET.into(), now(), body.as_bytes())).await
}

/// An attempt that the provider has captured without our hearing of it.
async fn unanswered(world: &World, guest: &Guest) -> String {
    let hold = world.hold(guest, STAY).await.expect(201).text_at("/id");
    let asked = world.post("/v1/bookings").token(&guest.token).fresh_key();
    asked.json(&booking(&hold, "pm_lost_response")).send().await.expect(202).text_at("/id")
}

fn captured(event: &str, attempt: &str) -> Value {
    json!({
        "id": event, "type": "capture.succeeded", "reference": format!("{attempt}-capture"), "amount": 1_456_000,
        "currency": "INR", "created_at": "2026-01-10T06:00:00Z",
    })
}

async fn status(world: &World, guest: &Guest, attempt: &str) -> String {
    let shown = world.get(&format!("/v1/bookings/{attempt}")).token(&guest.token).send().await;
    shown.expect(200).text_at("/status")
}

#[tokio::test]
async fn a_signed_capture_confirms_and_its_repeat_says_so() {
    let world = World::new().await;
    let guest = world.guest().await;
    let attempt = unanswered(&world, &guest).await;
    let body = captured("evt_1", &attempt);
    assert_eq!(tell(&world, &body).await.expect(200).body, json!({"outcome": "APPLIED"}));
    assert_eq!(status(&world, &guest, &attempt).await, "CONFIRMED");
    assert_eq!(tell(&world, &body).await.expect(200).body, json!({"outcome": "DUPLICATE"}));
    assert_eq!(
        tell(&world, &captured("evt_2", &attempt)).await.expect(200).body,
        json!({"outcome": "NO_OP"})
    );
    let other = json!({"id": "evt_3", "type": "customer.created"});
    assert_eq!(tell(&world, &other).await.expect(200).body, json!({"outcome": "NOT_OURS"}));
    let mut unknown = captured("evt_4", &attempt);
    unknown["reference"] = json!("re_123");
    assert_eq!(tell(&world, &unknown).await.expect(202).body, json!({"outcome": "UNMATCHED"}));
}

#[tokio::test]
async fn b040_a_signature_is_good_for_five_minutes_both_ways() {
    let world = World::new().await;
    let body = json!({"id": "evt_1", "type": "customer.created"}).to_string();
    let signed = |at: SystemTime| sign(&SECRET.into(), at, body.as_bytes());
    let s = Duration::from_secs;
    for (at, status) in [
        (now() - s(301), 401),
        (now() - s(295), 200),
        (now() + s(295), 200),
        // A second or two go by until it is looked at.
        (now() + s(330), 401),
    ] {
        told(&world, &body, &signed(at)).await.expect(status);
    }
}

#[tokio::test]
async fn b041_whatever_stands_in_the_header_is_401_and_never_500() {
    let world = World::new().await;
    let guest = world.guest().await;
    let attempt = unanswered(&world, &guest).await;
    let body = captured("evt_1", &attempt).to_string();
    let good = sign(&SECRET.into(), now(), body.as_bytes());
    let other = sign(&"whsec_other".into(), now(), body.as_bytes());
    let long = format!("{good},v0={}", "0".repeat(64 * 1024));
    for header in ["", "t,v1", "t=abc,v1=00", "t=1,t=2,v1=00", "v1=é", &long, &other] {
        let call = world.post(PATH).raw_header(HEADER, header.as_bytes()).text(&body);
        call.send().await.expect_problem(401, "UNAUTHENTICATED");
    }
    world.post(PATH).text(&body).send().await.expect_problem(401, "UNAUTHENTICATED");
    let twice = world.post(PATH).header(HEADER, &good).header(HEADER, &good).text(&body);
    twice.send().await.expect_problem(401, "UNAUTHENTICATED");
    told(&world, &body.replace("1456000", "1"), &good).await.expect_problem(401, "UNAUTHENTICATED");
    // Bearers mean nothing here, and another provider's path is nobody's.
    let bearer = world.post(PATH).token(&world.operator).text(&body);
    bearer.send().await.expect_problem(401, "UNAUTHENTICATED");
    let elsewhere = world.post("/v1/webhooks/payments/other").header(HEADER, &good).text(&body);
    elsewhere.send().await.expect_problem(404, "NOT_FOUND");
    let large = "x".repeat(64 * 1024 + 1);
    told(&world, &large, &good).await.expect_problem(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(status(&world, &guest, &attempt).await, "PENDING_PAYMENT");
    told(&world, &body, &good).await.expect(200);
}

#[tokio::test]
async fn b059_a_refund_notice_without_a_proper_amount_is_422_and_gives_nothing_back() {
    let world = World::new().await;
    let guest = world.guest().await;
    let attempt = unanswered(&world, &guest).await;
    tell(&world, &captured("evt_1", &attempt)).await.expect(200);
    for (kind, call) in [("refund.created", "capture"), ("refund.succeeded", "refund-1-1")] {
        for amount in [Value::Null, json!(0), json!(-1), json!("abc"), json!(1.5)] {
            let mut body = captured("evt_2", &attempt);
            (body["type"], body["amount"]) = (json!(kind), amount);
            (body["reference"], body["provider_id"]) = (json!(format!("{attempt}-{call}")), json!("re_1"));
            tell(&world, &body).await.expect_invalid("/amount", "INVALID_VALUE");
        }
    }
    assert_eq!(world.database.value("SELECT count(*) FROM refunds").await, 0);
    assert_eq!(world.database.value("SELECT count(*) FROM provider_events").await, 1);
    assert_eq!(status(&world, &guest, &attempt).await, "CONFIRMED");
}

#[tokio::test]
async fn b035_until_writes_work_the_provider_is_told_to_send_it_again() {
    let world = World::new().await;
    let guest = world.guest().await;
    let attempt = unanswered(&world, &guest).await;
    let body = captured("evt_1", &attempt);
    let refusing = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'read-only' USING ERRCODE = '25006'; END $$;
                    CREATE TRIGGER refuse BEFORE INSERT ON provider_events EXECUTE FUNCTION refuse();";
    world.database.execute(refusing).await;
    for _ in 0..3 {
        let refused = tell(&world, &body).await.expect_problem(503, "UNAVAILABLE");
        assert!(refused.header("retry-after").is_some());
    }
    world.database.execute("DROP TRIGGER refuse ON provider_events").await;
    assert_eq!(tell(&world, &body).await.expect(200).body, json!({"outcome": "APPLIED"}));
    assert_eq!(status(&world, &guest, &attempt).await, "CONFIRMED");
}

#[tokio::test]
async fn operators_see_in_pages_what_they_must_look_at_and_nobody_else_does() {
    let world = World::new().await;
    let guest = world.guest().await;
    let attempt = unanswered(&world, &guest).await;
    for event in ["evt_1", "evt_2", "evt_3"] {
        let mut unknown = captured(event, &attempt);
        unknown["reference"] = json!("re_123");
        tell(&world, &unknown).await.expect(202);
    }
    let list = async |path: &str| world.get(path).token(&world.operator).send().await.expect(200);
    let first = list("/v1/ops/notices?state=unmatched&limit=2").await;
    assert_eq!(
        (first.text_at("/items/0/event_id"), first.text_at("/items/1/event_id")),
        ("evt_1".into(), "evt_2".into())
    );
    let cursor = first.text_at("/next_cursor");
    let rest = list(&format!("/v1/ops/notices?state=unmatched&limit=2&cursor={cursor}")).await;
    assert_eq!((rest.text_at("/items/0/event_id"), rest.at("/next_cursor")), ("evt_3".into(), &Value::Null));
    // Of another amount: it confirms nothing, and stands in the list.
    let mut other = captured("evt_4", &attempt);
    other["amount"] = json!(1);
    assert_eq!(tell(&world, &other).await.expect(200).body, json!({"outcome": "HANDED_OVER"}));
    let found = list("/v1/ops/notices?state=found").await;
    assert_eq!(found.at("/items/0/finding"), "another_amount");
    assert_eq!(found.at("/items/0/amount"), &json!({"amount": "0.01", "currency": "INR"}));
    assert_eq!(list("/v1/ops/refunds?state=NEEDS_ATTENTION").await.at("/items"), &json!([]));
    list("/v1/ops/cases").await;
    let staff = world.credential("HTL-204", keyrack_domain::principal::Role::Staff).await;
    for path in ["/v1/ops/notices", "/v1/ops/refunds", "/v1/ops/cases"] {
        for token in [&guest.token, &staff] {
            world.get(path).token(token).send().await.expect_problem(404, "NOT_FOUND");
        }
    }
}
