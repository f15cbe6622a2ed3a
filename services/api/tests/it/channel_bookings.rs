//! `/v1/hotels/{hotel}/channel-bookings`, as a channel and the hotel's staff meet them.

use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{World, channel_booking},
};

const X1: &str = "/v1/hotels/HTL-204/channel-bookings/OTA/X1";

async fn put(world: &World, token: &str, path: &str, body: &Value) -> Answer {
    world.put(path).token(token).fresh_key().json(body).send().await
}

async fn delete(world: &World, token: &str, path: &str) -> Answer {
    world.delete(path).token(token).fresh_key().send().await
}

fn with(field: &str, value: Value) -> Value {
    let mut body = channel_booking();
    body[field] = value;
    body
}

#[tokio::test]
async fn a_booking_is_created_found_modified_and_cancelled_under_its_identifier() {
    let world = World::new().await;
    let channel = world.credential("HTL-204", Role::Channel).await;
    let made = put(&world, &channel, X1, &channel_booking()).await.expect(201);
    let reservation = made.text_at("/reservation/id");
    assert_eq!(made.header("location"), Some(format!("/v1/reservations/{reservation}").as_str()));
    assert_eq!(made.header("etag"), Some("\"1\""));
    assert_eq!((made.text_at("/state"), made.text_at("/booking_id")), ("ACTIVE".into(), "X1".into()));
    assert_eq!(made.at("/reservation/total"), &json!({"amount": "14560.00", "currency": "INR"}));
    assert_eq!(made.at("/reservation/rooms/0/rate_plan"), "FLEX");
    assert!(made.at("/reservation/hold_id").is_null());
    let again = put(&world, &channel, X1, &channel_booking()).await.expect(200);
    assert_eq!(again.text_at("/reservation/id"), reservation);
    let mut moved = with("revision", json!(2));
    moved["check_in"] = json!("2026-11-15");
    moved["check_out"] = json!("2026-11-18");
    let changed = put(&world, &channel, X1, &moved).await.expect(200);
    assert_eq!((changed.header("etag"), changed.at("/revision")), (Some("\"2\""), &json!(2)));
    assert_eq!(changed.text_at("/reservation/check_out"), "2026-11-18");
    let late = put(&world, &channel, X1, &channel_booking()).await.expect_problem(409, "STALE_REVISION");
    assert_eq!(late.at("/revision"), 2);
    // Its own channel sees the reservation as a guest sees theirs.
    world.get(&format!("/v1/reservations/{reservation}")).token(&channel).send().await.expect(200);
    let cancelled = delete(&world, &channel, X1).await.expect(200);
    assert_eq!(
        (cancelled.at("/already_cancelled"), cancelled.text_at("/state")),
        (&json!(false), "CANCELLED".into())
    );
    assert_eq!(delete(&world, &channel, X1).await.expect(200).at("/already_cancelled"), true);
    put(&world, &channel, X1, &channel_booking()).await.expect_problem(409, "BOOKING_INACTIVE");
    assert_eq!(world.charges(), 0, "nothing of ours is paid");
}

#[tokio::test]
async fn a_night_that_is_full_is_named_and_an_identifier_that_nobody_knows_is_not_found() {
    let world = World::new().await;
    let channel = world.credential("HTL-204", Role::Channel).await;
    world.sellable(("2026-11-15", "2026-11-16"), 0).await;
    let full =
        put(&world, &channel, X1, &channel_booking()).await.expect_problem(409, "ROOM_NIGHT_UNAVAILABLE");
    assert_eq!(
        (full.text_at("/night"), full.at("/requested"), full.at("/available")),
        ("2026-11-15".into(), &json!(1), &json!(0))
    );
    let unknown = "/v1/hotels/HTL-204/channel-bookings/OTA/X2";
    world.get(unknown).token(&channel).send().await.expect_problem(404, "NOT_FOUND");
    delete(&world, &channel, unknown).await.expect_problem(404, "NOT_FOUND");
    put(&world, &channel, unknown, &channel_booking()).await.expect_problem(409, "BOOKING_INACTIVE");
}

/// B007: a second press of the button is the same booking; without a key nothing is pressed at all.
#[tokio::test]
async fn b007_a_booking_that_is_sent_twice_is_one_and_without_a_key_is_none() {
    let world = World::new().await;
    let channel = world.credential("HTL-204", Role::Channel).await;
    let keyless = world.put(X1).token(&channel).json(&channel_booking()).send().await;
    keyless.expect_problem(400, "IDEMPOTENCY_KEY_REQUIRED");
    world.delete(X1).token(&channel).send().await.expect_problem(400, "IDEMPOTENCY_KEY_REQUIRED");
    let press = async || world.put(X1).token(&channel).key("K").json(&channel_booking()).send().await;
    let (one, other) = tokio::join!(press(), press());
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201]);
    assert_eq!(one.text_at("/reservation/id"), other.text_at("/reservation/id"));
    let nights = world.database.value("SELECT sum(confirmed) FROM room_night_inventory").await;
    assert_eq!(nights, 2);
}

/// B127: answered with the protocol's error, and kept for operations.
#[tokio::test]
async fn b127_a_booking_of_an_unknown_room_type_is_listed_for_staff_until_it_is_placed() {
    let world = World::new().await;
    let channel = world.credential("HTL-204", Role::Channel).await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let unknown = with("rooms", json!([{"room_type": "RT-XXX", "adults": 2, "children_ages": []}]));
    let told =
        put(&world, &channel, X1, &unknown).await.expect_invalid("/rooms/0/room_type", "UNKNOWN_ROOM_TYPE");
    assert_eq!(told.at("/state"), "UNMAPPED");
    assert!(told.text_at("/errors/0/detail").contains("RT-XXX"), "{}", told.text);
    put(&world, &channel, "/v1/hotels/HTL-204/channel-bookings/OTA/X2", &channel_booking()).await.expect(201);
    let list = "/v1/hotels/HTL-204/channel-bookings";
    let waiting = world.get(&format!("{list}?state=UNMAPPED")).token(&staff).send().await.expect(200);
    assert_eq!(waiting.at("/items").as_array().map(Vec::len), Some(1), "{}", waiting.text);
    assert_eq!(waiting.at("/items/0/unplaced/rooms/0/room_type"), "RT-XXX");
    let first = world.get(&format!("{list}?limit=1")).token(&staff).send().await.expect(200);
    let next = first.text_at("/next_cursor");
    let second = world.get(&format!("{list}?limit=1&cursor={next}")).token(&staff).send().await.expect(200);
    assert_eq!((second.at("/items/0/booking_id"), second.at("/next_cursor")), (&json!("X2"), &Value::Null));
    world.get(list).token(&channel).send().await.expect_problem(404, "NOT_FOUND");
    world.get(X1).token(&staff).send().await.expect(200);
    put(&world, &channel, X1, &channel_booking()).await.expect(201);
    let waiting = world.get(&format!("{list}?state=UNMAPPED")).token(&staff).send().await.expect(200);
    assert_eq!(waiting.at("/items"), &json!([]));
}

#[tokio::test]
async fn a_credential_that_is_bound_to_one_channel_finds_no_other() {
    let world = World::new().await;
    let body = json!({"role": "channel", "name": "tests", "channel": "OTA"});
    let made = world.post("/v1/hotels/HTL-204/credentials").token(&world.operator).fresh_key().json(&body);
    let bound = made.send().await.expect(201).text_at("/token");
    let elsewhere = "/v1/hotels/HTL-204/channel-bookings/OTHER/X1";
    put(&world, &bound, X1, &channel_booking()).await.expect(201);
    put(&world, &bound, elsewhere, &channel_booking()).await.expect_problem(404, "NOT_FOUND");
    delete(&world, &bound, elsewhere).await.expect_problem(404, "NOT_FOUND");
    world.get(elsewhere).token(&bound).send().await.expect_problem(404, "NOT_FOUND");
}

#[tokio::test]
async fn what_a_channel_writes_is_checked_in_its_place() {
    let world = World::new().await;
    let channel = world.credential("HTL-204", Role::Channel).await;
    let cases = [
        (with("guest", json!({"name": " "})), "/guest/name", "BLANK"),
        (with("total", json!({"amount": "1.001", "currency": "INR"})), "/total/amount", "TOO_MANY_DECIMALS"),
        (with("surprise", json!(1)), "/surprise", "UNKNOWN_FIELD"),
        (with("check_in", json!("2026-01-01")), "/check_out", "INVALID_STAY"),
    ];
    for (body, pointer, code) in cases {
        put(&world, &channel, X1, &body).await.expect_invalid(pointer, code);
    }
    let long = format!("/v1/hotels/HTL-204/channel-bookings/OTA/{}", "x".repeat(65));
    put(&world, &channel, &long, &channel_booking()).await.expect_problem(404, "NOT_FOUND");
}
