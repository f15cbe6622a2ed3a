//! What operators are told of one booking: everything that happened to it, once, in order, and nothing of the guest.

use std::time::{Duration, Instant, SystemTime};

use keyrack_domain::principal::Role;
use keyrack_payments::sign;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, SECRET, STAY, World, booking},
};

/// The whole timeline, and that pages of two put together are it.
async fn timeline(world: &World, id: &str) -> Value {
    let path = format!("/v1/ops/bookings/{id}/timeline?limit=100");
    let whole = world.get(&path).token(&world.operator).send().await.expect(200);
    assert_eq!(whole.at("/next_cursor"), &Value::Null, "{}", whole.text);
    for secret in
        ["Nguy", "zoe@", "pm_ok", "pm_lost", "pm_refund", "pm_timeout", "method_token", "\"guest\":"]
    {
        assert!(!whole.text.contains(secret), "{secret} in {}", whole.text);
    }
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/ops/bookings/{id}/timeline?limit=2{cursor}");
        let page = world.get(&path).token(&world.operator).send().await.expect(200);
        items.extend(page.at("/items").as_array().expect("items").iter().cloned());
        match page.at("/next_cursor").as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(whole.at("/items"), &json!(items));
    whole.body
}

/// Each item in a word or two.
fn told(timeline: &Value) -> Vec<String> {
    let items = timeline["items"].as_array().expect("items");
    let word = |item: &Value| match item["kind"].as_str().expect("a kind") {
        "transaction" => {
            let entries = item["entries"].as_array().expect("entries").iter();
            entries.map(|entry| text(entry, "action")).collect::<Vec<_>>().join("+")
        }
        "provider_call" => format!("{}: {}", text(item, "call"), outcome(item)),
        "notice" => format!("{} {}", text(item, "told"), text(item, "outcome")),
        "replay" => format!("{} {}", text(item, "action"), text(item, "picked_up")),
        other => other.to_owned(),
    };
    items.iter().map(word).collect()
}

fn text(item: &Value, field: &str) -> String {
    item[field].as_str().unwrap_or_else(|| panic!("{field} in {item}")).to_owned()
}

fn outcome(call: &Value) -> String {
    let words = [&call["outcome"], &call["detail"]].map(|word| word.as_str());
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The one transaction that wrote this to the audit.
fn transaction<'t>(timeline: &'t Value, action: &str) -> &'t Value {
    let items = timeline["items"].as_array().expect("items").iter();
    let wrote = |item: &&Value| {
        item["entries"]
            .as_array()
            .is_some_and(|entries| entries.iter().any(|entry| entry["action"] == action))
    };
    let all: Vec<&Value> = items.filter(wrote).collect();
    assert_eq!(all.len(), 1, "{action}: {all:?}");
    all[0]
}

async fn book(world: &World, guest: &Guest, hold: &str, method: &str) -> Answer {
    world.post("/v1/bookings").token(&guest.token).key("booking").json(&booking(hold, method)).send().await
}

async fn tell(world: &World, event: &str, attempt: &str) -> Value {
    let body = json!({
        "id": event, "type": "capture.succeeded", "reference": format!("{attempt}-capture"), "amount": 1_456_000,
        "currency": "INR", "created_at": "2026-01-10T06:00:00Z",
    });
    let body = body.to_string();
    #[expect(clippy::disallowed_methods, reason = "a signature is made in real time")]
    let signature = sign(&SECRET.into(), SystemTime::now(), body.as_bytes());
    let call = world.post("/v1/webhooks/payments/simulator").header("keyrack-signature", &signature);
    call.text(&body).send().await.expect(200).body
}

const BOOKED: [&str; 6] = [
    "quote",
    "hold.placed",
    "attempt.started",
    "authorize: authorized",
    "capture: captured",
    "reservation.confirmed",
];

#[tokio::test]
async fn a_booking_is_told_from_its_quote_on_by_any_of_its_ids() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let booked = book(&world, &guest, &hold, "pm_ok").await.expect(201);
    let (attempt, reservation) = (booked.text_at("/id"), booked.text_at("/reservation/id"));
    let timeline = timeline(&world, &reservation).await;
    assert_eq!(told(&timeline), BOOKED);
    let parts = &timeline["booking"];
    assert_eq!(
        (&parts["reservation"]["id"], &parts["reservation"]["state"], &parts["hotel"]),
        (&json!(reservation), &json!("CONFIRMED"), &json!("HTL-204"))
    );
    assert_eq!((&parts["holds"][0]["id"], &parts["holds"][0]["state"]), (&json!(hold), &json!("CONSUMED")));
    assert_eq!(
        (&parts["attempts"][0]["id"], &parts["attempts"][0]["captured"]["amount"]),
        (&json!(attempt), &json!("14560.00"))
    );
    // What the confirmation committed: who asked for it, what the world is told, what money is known to have moved.
    let confirmed = transaction(&timeline, "reservation.confirmed");
    assert_eq!(confirmed["entries"][0]["actor"], "guest");
    assert_eq!(confirmed["entries"][0]["request_id"].as_str(), booked.header("x-request-id"));
    assert_eq!(confirmed["events"][0]["type"], "reservation.confirmed");
    assert_eq!(confirmed["events"][0]["payload"]["reservation_id"], json!(reservation));
    let moved = json!([{"kind": "captured", "reference": format!("{attempt}-capture"),
                        "amount": {"amount": "14560.00", "currency": "INR"}}]);
    assert_eq!(confirmed["movements"], moved);
    let placed = transaction(&timeline, "hold.placed");
    assert_ne!(placed["transaction_id"], confirmed["transaction_id"]);
    for id in [&attempt, &hold] {
        assert_eq!(self::timeline(&world, id).await, timeline, "{id}");
    }
}

#[tokio::test]
async fn a_timeline_is_for_operators_and_of_bookings_that_there_are() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    book(&world, &guest, &hold, "pm_ok").await.expect(201);
    let path = format!("/v1/ops/bookings/{hold}/timeline");
    let staff = world.credential("HTL-204", Role::Staff).await;
    let channel = world.credential("HTL-204", Role::Pms).await;
    for token in [&guest.token, &staff, &channel] {
        world.get(&path).token(token).send().await.expect_problem(404, "NOT_FOUND");
    }
    let (_, digits) = hold.split_once('_').expect("an id");
    let of_no_hotel = format!("hld_7fffffff{}", &digits[8..]);
    let of_another_kind = [format!("res_{digits}"), format!("att_{digits}"), format!("chg_{digits}")];
    for id in of_another_kind.iter().chain([&of_no_hotel, &"x".to_owned(), &format!("quo_{digits}")]) {
        let path = format!("/v1/ops/bookings/{id}/timeline");
        world.get(&path).token(&world.operator).send().await.expect_problem(404, "NOT_FOUND");
    }
    // The last is hexadecimal, and what it writes is no place.
    for cursor in ["x", "00", "313a27"] {
        let path = format!("{path}?cursor={cursor}");
        world.get(&path).token(&world.operator).send().await.expect_problem(422, "INVALID");
    }
    world
        .get(&format!("{path}?limit=101"))
        .token(&world.operator)
        .send()
        .await
        .expect_problem(422, "INVALID");
}

/// The provider captured and its answer was lost: the guest asks again, and the resolver ends it.
#[tokio::test]
async fn a_lost_answer_shows_the_question_the_repeats_the_look_up_and_one_confirmation() {
    let world = World::impatient().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let attempt = book(&world, &guest, &hold, "pm_lost_response").await.expect(202).text_at("/id");
    assert!(book(&world, &guest, &hold, "pm_lost_response").await.expect(202).is_replay());
    world.clock_ahead(130).await;
    world.reconcile().await;
    let booked = book(&world, &guest, &hold, "pm_lost_response").await.expect(201);
    let timeline = timeline(&world, &attempt).await;
    assert_eq!(
        told(&timeline),
        [
            "quote",
            "hold.placed",
            "attempt.started",
            "authorize: authorized",
            "capture: unknown connection_lost",
            "attempt.replayed waits_for_the_provider",
            "attempt.reconciling",
            "look_up: answered captured",
            "reservation.confirmed",
            "attempt.replayed the_reservation",
        ]
    );
    let confirmed = transaction(&timeline, "reservation.confirmed");
    assert_eq!(confirmed["entries"][0]["actor"], "worker");
    assert_eq!(timeline["booking"]["reservation"]["id"], *booked.at("/reservation/id"));
    let replay = &timeline["items"][9];
    assert_eq!((&replay["state"], &replay["actor"]), (&json!("CONFIRMED"), &json!("guest")));
    assert_eq!(replay["request_id"].as_str(), booked.header("x-request-id"));
}

#[tokio::test]
async fn notices_stand_beside_what_they_did_and_a_duplicate_did_nothing() {
    let world = World::impatient().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let attempt = book(&world, &guest, &hold, "pm_lost_response").await.expect(202).text_at("/id");
    let outcomes = [tell(&world, "evt_1", &attempt).await, tell(&world, "evt_1", &attempt).await];
    assert_eq!(outcomes, [json!({"outcome": "APPLIED"}), json!({"outcome": "DUPLICATE"})]);
    assert_eq!(tell(&world, "evt_2", &attempt).await, json!({"outcome": "NO_OP"}));
    let unmatched = format!(
        "INSERT INTO directory.unmatched_notices (notice_id, provider, event_id, kind, reference, attempt, notice)
         VALUES (gen_random_uuid(), 'simulator', 'evt_3', 'refund.succeeded', '{attempt}-refund-9-1', '{attempt}', '{{}}')"
    );
    world.database.execute(&unmatched).await;
    let timeline = timeline(&world, &attempt).await;
    let mut words = told(&timeline);
    // The notice and its transaction are of one instant, within microseconds, either way.
    words[5..7].sort_unstable();
    assert_eq!(
        words[4..],
        [
            "capture: unknown connection_lost",
            "capture.succeeded APPLIED",
            "reservation.confirmed",
            "capture.succeeded NO_OP",
            "refund.succeeded UNMATCHED",
        ]
    );
    let confirmed = transaction(&timeline, "reservation.confirmed");
    assert_eq!(confirmed["entries"][0]["actor"], "provider");
    let items = timeline["items"].as_array().expect("items");
    let applied = items.iter().find(|item| item["outcome"] == "APPLIED").expect("the notice");
    assert_eq!(applied["transaction_id"], confirmed["transaction_id"]);
    assert_eq!(applied["amount"], json!({"amount": "14560.00", "currency": "INR"}));
}

#[tokio::test]
async fn a_refund_is_told_with_each_of_its_tries() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let booked = book(&world, &guest, &hold, "pm_refund_fails_twice").await.expect(201);
    let (attempt, reservation) = (booked.text_at("/id"), booked.text_at("/reservation/id"));
    let cancel = format!("/v1/reservations/{reservation}/cancel");
    for replayed in [false, true] {
        let call = world.post(&cancel).token(&guest.token).key("cancel").header("if-match", "\"1\"");
        assert_eq!(call.send().await.expect(200).is_replay(), replayed);
    }
    for _ in 0..3 {
        world.send_refunds().await;
        world.clock_ahead(31).await;
    }
    let timeline = timeline(&world, &reservation).await;
    assert_eq!(
        told(&timeline)[BOOKED.len()..],
        [
            "reservation.cancelled",
            "cancellation.replayed the_cancellation",
            "refund: refused refund_failed",
            "refund.try_failed",
            "refund: refused refund_failed",
            "refund.try_failed",
            "refund: refunded",
            "refund.succeeded",
        ]
    );
    let items = timeline["items"].as_array().expect("items");
    let names: Vec<&Value> =
        items.iter().filter(|item| item["call"] == "refund").map(|item| &item["reference"]).collect();
    let expected = [1, 2, 3].map(|n| json!(format!("{attempt}-refund-1-{n}")));
    assert_eq!(names, expected.iter().collect::<Vec<_>>());
    let cancelled = transaction(&timeline, "reservation.cancelled");
    let types: Vec<&Value> =
        cancelled["events"].as_array().expect("events").iter().map(|e| &e["type"]).collect();
    assert_eq!(types, [&json!("reservation.cancelled"), &json!("refund.requested")]);
    assert_eq!(cancelled["movements"][0]["kind"], "refund_requested");
    assert_eq!(timeline["booking"]["refunds"][0]["try"], 3);
}

#[tokio::test]
async fn a_change_that_is_paid_for_belongs_to_the_timeline_of_its_reservation() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let reservation = book(&world, &guest, &hold, "pm_ok").await.expect(201).text_at("/reservation/id");
    let path = format!("/v1/reservations/{reservation}/changes");
    let priced = world.post(&path).token(&guest.token).fresh_key().header("if-match", "\"1\"");
    let change = priced.json(&json!({"check_out": "2026-11-17"})).send().await.expect(201).text_at("/id");
    let confirm = format!("{path}/{change}/confirm");
    for replayed in [false, true] {
        let call = world.post(&confirm).token(&guest.token).key("confirm").header("if-match", "\"1\"");
        let done = call.json(&json!({"payment": {"method_token": "pm_ok"}})).send().await.expect(200);
        assert_eq!(done.is_replay(), replayed);
    }
    let timeline = timeline(&world, &change).await;
    assert_eq!(
        told(&timeline)[BOOKED.len()..],
        [
            "quote",
            "change.priced",
            "change.started",
            "authorize: authorized",
            "capture: captured",
            "reservation.changed",
            "attempt.replayed the_reservation",
        ]
    );
    assert_eq!(timeline["booking"]["attempts"].as_array().expect("attempts").len(), 2);
    assert_eq!(self::timeline(&world, &hold).await, timeline);
}

#[tokio::test]
async fn a_client_in_a_loop_fills_no_table() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    for n in 0..104 {
        assert_eq!(book(&world, &guest, &hold, "pm_ok").await.expect(201).is_replay(), n > 0);
    }
    let kept = "SELECT count(*) FROM audit WHERE action = 'attempt.replayed'";
    assert_eq!(world.database.value(kept).await, 100);
}

/// Nothing is decided by the notes, so their table may be locked, or gone.
#[tokio::test]
async fn a_note_that_cannot_be_written_fails_no_payment_and_delays_none_beyond_its_bound() {
    let world = World::new().await;
    let guest = world.guest().await;
    let mut dump = world.database.connect().await;
    for (number, in_the_way) in
        ["BEGIN; LOCK TABLE provider_calls", "ROLLBACK; ALTER TABLE provider_calls RENAME TO gone"]
            .into_iter()
            .enumerate()
    {
        let nights = [("2026-11-14", "2026-11-16"), ("2026-11-20", "2026-11-22")][number];
        let hold = world.hold(&guest, nights).await.expect(201).text_at("/id");
        world.database.execute_on(&mut dump, in_the_way).await;
        let started = Instant::now();
        world.book(&guest, &hold, "pm_ok").await.expect(201);
        // Two calls with two notes each, and what the booking itself takes on a busy machine.
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
    let metrics = world.get("/metrics").send().await.expect(200).text;
    assert!(metrics.contains("keyrack_timeline_notes_lost_total{of=\"asked\"}"), "{metrics}");
}
