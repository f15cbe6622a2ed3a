use serde_json::json;

use crate::world::{STAY, World, fresh_key};

#[tokio::test]
async fn a_hold_claims_the_quote_for_600_s_at_its_price() {
    let world = World::new().await;
    let guest = world.guest().await;
    let quote = world.quote(&guest, STAY, 1).await;
    let call = world.post("/v1/holds").token(&guest.token).key("k-1");
    let held = call.json(&json!({"quote_id": quote})).send().await.expect(201);
    let id = held.text_at("/id");
    assert!(id.starts_with("hld_"));
    assert_eq!(held.header("location"), Some(format!("/v1/holds/{id}").as_str()));
    assert_eq!(held.at("/state"), "ACTIVE");
    assert_eq!(held.at("/total"), &json!({"amount": "14560.00", "currency": "INR"}));
    assert_eq!((held.text_at("/hotel"), held.text_at("/quote_id")), ("HTL-204".to_owned(), quote));
    assert_eq!((held.at("/check_in"), held.at("/check_out")), (&json!(STAY.0), &json!(STAY.1)));
    let instant =
        |pointer| -> chrono::DateTime<chrono::Utc> { held.text_at(pointer).parse().expect("an instant") };
    assert_eq!((instant("/expires_at") - instant("/created_at")).num_seconds(), 600);
    assert!(held.text_at("/expires_at").ends_with('Z'));
    let shown = world.get(&format!("/v1/holds/{id}")).token(&guest.token).send().await.expect(200);
    assert_eq!(shown.body, held.body);
}

#[tokio::test]
async fn a_repeat_gets_the_first_answer_and_another_input_is_refused() {
    let world = World::new().await;
    let guest = world.guest().await;
    let (first, second) = (world.quote(&guest, STAY, 1).await, world.quote(&guest, STAY, 1).await);
    let call = |quote: &str| {
        world.post("/v1/holds").token(&guest.token).key("k-1").json(&json!({"quote_id": quote})).send()
    };
    let held = call(&first).await.expect(201);
    assert!(!held.is_replay());
    let repeat = call(&first).await.expect(201);
    assert!(repeat.is_replay());
    assert_eq!(repeat.body, held.body);
    let other = call(&second).await.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(other.at("/next/action"), "new_key");
}

#[tokio::test]
async fn a_sold_out_night_is_named_with_what_else_there_is() {
    let world = World::new().await;
    let guest = world.guest().await;
    world.sellable(("2026-11-15", "2026-11-16"), 1).await;
    let quote = world.quote(&guest, ("2026-11-14", "2026-11-17"), 2).await;
    let call = world.post("/v1/holds").token(&guest.token).fresh_key();
    let refused = call.json(&json!({"quote_id": quote})).send().await;
    let refused = refused.expect_problem(409, "ROOM_NIGHT_UNAVAILABLE");
    assert_eq!(refused.at("/room_type"), "RT-DLX");
    assert_eq!(refused.at("/night"), "2026-11-15");
    assert_eq!((refused.at("/requested"), refused.at("/available")), (&json!(2), &json!(1)));
    assert!(refused.at("/also_short").is_array() && refused.at("/alternatives").is_array());
    assert_eq!(refused.at("/next/action"), "requote");
}

#[tokio::test]
async fn b047_a_refusal_leaves_no_key_behind() {
    let world = World::new().await;
    let guest = world.guest().await;
    world.sellable(STAY, 0).await;
    let quote = world.quote(&guest, STAY, 1).await;
    let hold_with = |key: &'static str, body: serde_json::Value| {
        world.post("/v1/holds").token(&guest.token).key(key).json(&body).send()
    };
    hold_with("k-2", json!({"quote_id": quote})).await.expect_problem(409, "ROOM_NIGHT_UNAVAILABLE");
    world.sellable(STAY, 5).await;
    hold_with("k-2", json!({"quote_id": quote})).await.expect(201);
    hold_with("k-3", json!({"quote": quote})).await.expect_invalid("/quote", "UNKNOWN_FIELD");
    hold_with("k-3", json!({"quote_id": quote})).await.expect(201);
}

#[tokio::test]
async fn b047_a_busy_night_is_told_when_to_come_back_and_leaves_no_key_behind() {
    let world = World::new().await;
    let guest = world.guest().await;
    let quote = world.quote(&guest, STAY, 1).await;
    let call =
        || world.post("/v1/holds").token(&guest.token).key("k").json(&json!({"quote_id": quote})).send();
    let mut blocker = world.database.connect().await;
    let lock = "BEGIN; SELECT 1 FROM room_night_inventory WHERE stay_date = '2026-11-15' FOR UPDATE";
    world.database.execute_on(&mut blocker, lock).await;
    let busy = call().await.expect_problem(503, "HOT_NIGHT_BUSY");
    assert!(busy.header("retry-after").is_some());
    assert_eq!(busy.at("/next/action"), "retry_same_key");
    world.database.execute_on(&mut blocker, "ROLLBACK").await;
    assert!(!call().await.expect(201).is_replay());
}

#[tokio::test]
async fn b045_the_same_key_of_another_guest_is_another_call() {
    let world = World::new().await;
    let (one, other) = (world.guest().await, world.guest().await);
    let quote = world.quote(&one, STAY, 1).await;
    let call = |token: &str, quote: &str| {
        world.post("/v1/holds").token(token).key("abc").json(&json!({"quote_id": quote})).send()
    };
    let first = call(&one.token, &quote).await.expect(201);
    let foreign = call(&other.token, &quote).await.expect_problem(404, "NOT_FOUND");
    assert!(!foreign.text.contains(&first.text_at("/id")));
    let own = world.quote(&other, STAY, 1).await;
    let second = call(&other.token, &own).await.expect(201);
    assert!(!second.is_replay());
    assert_ne!(second.text_at("/id"), first.text_at("/id"));
    let hold = first.text_at("/id");
    world.book(&other, &hold, "pm_ok").await.expect_problem(404, "NOT_FOUND");
}

#[tokio::test]
async fn b139_b140_what_belongs_to_someone_else_is_not_found_and_stays_as_it_is() {
    let world = World::new().await;
    let (one, other) = (world.guest().await, world.guest().await);
    let hold = world.hold(&one, STAY).await.expect(201).text_at("/id");
    let staff = world.credential("HTL-204", keyrack_domain::principal::Role::Staff).await;
    let path = format!("/v1/holds/{hold}");
    let unknown = format!("/v1/holds/{}", hold.replace(&hold[12..], &"0".repeat(hold.len() - 12)));
    let missing = world.get(&unknown).token(&other.token).send().await.expect_problem(404, "NOT_FOUND");
    for token in [&other.token, &staff] {
        let foreign = world.get(&path).token(token).send().await.expect_problem(404, "NOT_FOUND");
        assert_eq!(foreign.at("/detail"), missing.at("/detail"));
        world.delete(&path).token(token).fresh_key().send().await.expect_problem(404, "NOT_FOUND");
    }
    world.delete(&path).fresh_key().send().await.expect_problem(401, "UNAUTHENTICATED");
    let mine = world.get(&path).token(&one.token).send().await.expect(200);
    assert_eq!(mine.at("/state"), "ACTIVE");
    let quote = world.quote(&other, STAY, 1).await;
    let swap = json!({"quote_id": quote, "replaces": hold});
    world
        .post("/v1/holds")
        .token(&other.token)
        .fresh_key()
        .json(&swap)
        .send()
        .await
        .expect_problem(404, "NOT_FOUND");
    for (quote, replaces) in [("nonsense", None), (quote.as_str(), Some("nonsense")), (hold.as_str(), None)] {
        let body = json!({"quote_id": quote, "replaces": replaces});
        let call = world.post("/v1/holds").token(&other.token).fresh_key();
        call.json(&body).send().await.expect_problem(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_hold_that_is_given_up_answers_the_same_again() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201);
    let path = format!("/v1/holds/{}", hold.text_at("/id"));
    world.delete(&path).token(&guest.token).send().await.expect_problem(400, "IDEMPOTENCY_KEY_REQUIRED");
    let ended = world.delete(&path).token(&guest.token).key("k").send().await.expect(200);
    assert_eq!(ended.at("/state"), "RELEASED");
    assert_eq!(ended.at("/expires_at"), hold.at("/expires_at"));
    let repeat = world.delete(&path).token(&guest.token).key("k").send().await.expect(200);
    assert!(repeat.is_replay());
    let again = world.delete(&path).token(&guest.token).fresh_key().send().await.expect(200);
    assert_eq!((&again.body, &repeat.body), (&ended.body, &ended.body));
    let id = hold.text_at("/id");
    let late = world.book(&guest, &id, "pm_ok").await.expect_problem(409, "HOLD_NOT_ACTIVE");
    assert_eq!(late.at("/state"), "RELEASED");
}

#[tokio::test]
async fn a_swap_releases_the_old_hold_in_the_same_step() {
    let world = World::new().await;
    let guest = world.guest().await;
    world.sellable(STAY, 1).await;
    let old = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let short = world.hold(&guest, STAY).await.expect_problem(409, "ROOM_NIGHT_UNAVAILABLE");
    assert_eq!(short.text_at("/own_hold_id"), old);
    let quote = world.quote(&guest, STAY, 1).await;
    let swap = json!({"quote_id": quote, "replaces": old});
    world.post("/v1/holds").token(&guest.token).fresh_key().json(&swap).send().await.expect(201);
    let gone = world.get(&format!("/v1/holds/{old}")).token(&guest.token).send().await.expect(200);
    assert_eq!(gone.at("/state"), "RELEASED");
    let call = world.post("/v1/holds").token(&guest.token).fresh_key();
    let again = call.json(&swap).send().await.expect_problem(409, "HOLD_NOT_ACTIVE");
    assert_eq!(again.at("/state"), "RELEASED");
}

#[tokio::test]
async fn a_sixth_open_hold_is_too_many_and_told_when_to_come_back() {
    let world = World::new().await;
    let guest = world.guest().await;
    world.sellable(STAY, 20).await;
    for _ in 0..5 {
        world.hold(&guest, STAY).await.expect(201);
    }
    let refused = world.hold(&guest, STAY).await.expect_problem(429, "HOLD_LIMIT");
    assert_eq!(refused.at("/limit"), 5);
    let wait: u64 = refused.header("retry-after").expect("a wait").parse().expect("seconds");
    assert!((1..=600).contains(&wait), "{wait}");
    assert_eq!(refused.at("/retry_after_s"), wait);
}

#[tokio::test]
async fn an_expired_quote_is_gone() {
    let world = World::new().await;
    let guest = world.guest().await;
    let quote = world.quote(&guest, STAY, 1).await;
    world.clock_ahead(601).await;
    let call = world.post("/v1/holds").token(&guest.token).key(&fresh_key());
    let refused = call.json(&json!({"quote_id": quote})).send().await.expect_problem(410, "QUOTE_EXPIRED");
    assert_eq!(refused.at("/next/action"), "requote");
    assert!(refused.text_at("/expired_at").ends_with('Z'));
}
