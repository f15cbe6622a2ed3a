use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{STAY, World, booking, new_hotel, stay},
};

const DAY_S: u64 = 24 * 3600;

/// What is told of the only call with the key `k`.
async fn only(world: &World, token: &str) -> Value {
    let told = world.get("/v1/operations/k").token(token).send().await.expect(200);
    let [only] = told.at("/items").as_array().expect("items").as_slice() else { panic!("{}", told.text) };
    only.clone()
}

async fn quote(world: &World, token: &str) -> Answer {
    world.post("/v1/quotes").token(token).key("k").json(&stay()).send().await
}

#[tokio::test]
async fn an_operation_tells_its_caller_what_became_of_it_and_nobody_else() {
    let world = World::new().await;
    let (guest, other) = (world.guest().await, world.guest().await);
    let quote = world.quote(&guest, STAY, 1).await;
    let call = world.post("/v1/holds").token(&guest.token).key("trip/1");
    let hold = call.json(&json!({"quote_id": quote})).send().await.expect(201);
    let id = hold.text_at("/id");
    let call = world.post("/v1/bookings").token(&guest.token).key("trip/1");
    let declined =
        call.json(&booking(&id, "pm_declined")).send().await.expect_problem(402, "PAYMENT_DECLINED");

    let path = "/v1/operations/trip%2F1";
    let told = world.get(path).token(&guest.token).send().await.expect(200);
    assert_eq!(told.at("/items").as_array().map(Vec::len), Some(2), "{}", told.text);
    assert_eq!(
        (told.at("/items/0/endpoint"), told.at("/items/0/status")),
        (&json!("POST /v1/holds"), &json!(201))
    );
    assert_eq!(told.at("/items/0/hold"), &hold.body);
    assert_eq!(told.at("/items/0/hotel"), "HTL-204");
    assert_eq!(
        (told.at("/items/1/endpoint"), told.at("/items/1/status")),
        (&json!("POST /v1/bookings"), &json!(402))
    );
    assert_eq!(told.at("/items/1/booking/id"), declined.at("/attempt_id"));

    let one = world.get(&format!("{path}?endpoint=POST%20/v1/bookings&hotel=HTL-204")).token(&guest.token);
    assert_eq!(one.send().await.expect(200).at("/items").as_array().map(Vec::len), Some(1));
    for (token, path) in [(&other.token, path), (&guest.token, "/v1/operations/unknown")] {
        let told = world.get(path).token(token).send().await.expect(200);
        assert_eq!(told.body, json!({"items": []}));
    }
    let elsewhere = world.get(&format!("{path}?hotel=HTL-310")).token(&guest.token).send().await.expect(200);
    assert_eq!(elsewhere.body, json!({"items": []}));
    let bad = world.get(&format!("{path}?hotel=a%20b")).token(&guest.token).send().await;
    bad.expect_invalid("/hotel", "INVALID_VALUE");
}

#[tokio::test]
async fn a_refused_call_leaves_nothing_to_tell() {
    let world = World::new().await;
    let guest = world.guest().await;
    let call = world.post("/v1/holds").token(&guest.token).key("k");
    call.json(&json!({"quote_id": "quo_x"})).send().await.expect_problem(404, "NOT_FOUND");
    let told = world.get("/v1/operations/k").token(&guest.token).send().await.expect(200);
    assert_eq!(told.body, json!({"items": []}));
}

#[tokio::test]
async fn a_quote_whose_answer_was_lost_is_found_again_and_can_be_held() {
    let world = World::new().await;
    let guest = world.guest().await;
    let lost = quote(&world, &guest.token).await.expect(201);
    let told = only(&world, &guest.token).await;
    assert_eq!((&told["quote"], &told["status"]), (&lost.body, &json!(201)));
    assert_eq!(told["path"].as_str(), lost.header("location"));
    let call = world.post("/v1/holds").token(&guest.token).fresh_key();
    call.json(&json!({"quote_id": told["quote"]["id"]})).send().await.expect(201);
}

#[tokio::test]
async fn a_credential_and_a_hotel_are_named_and_no_token_is_told() {
    let world = World::new().await;
    let body = json!({"role": "staff", "name": "front desk"});
    let call = world.post("/v1/hotels/HTL-204/credentials").token(&world.operator).key("k");
    let made = call.json(&body).send().await.expect(201);
    let told = only(&world, &world.operator).await;
    assert_eq!(&told["credential_id"], made.at("/id"));
    assert!(!told.to_string().contains(&made.text_at("/token")));
    world.post("/v1/hotels").token(&world.operator).key("h").json(&new_hotel()).send().await.expect(201);
    let told = world.get("/v1/operations/h").token(&world.operator).send().await.expect(200);
    assert_eq!(told.at("/items/0/path"), "/v1/hotels/HTL-900");
}

/// What is told is what a repeat gets, before and after the key has become too old.
#[tokio::test]
async fn the_status_of_a_call_is_that_of_a_repeat_now() {
    let world = World::new().await;
    let guest = world.guest().await;
    let quoted = world.quote(&guest, STAY, 1).await;
    let hold = || {
        let call = world.post("/v1/holds").token(&guest.token).key("k");
        call.json(&json!({"quote_id": quoted})).send()
    };
    let first = hold().await.expect(201);
    world.clock_ahead(DAY_S - 60).await;
    assert_eq!(hold().await.expect(201).body, first.body);
    assert_eq!(only(&world, &guest.token).await["status"], 201);
    world.clock_ahead(120).await;
    let late = hold().await.expect_problem(409, "IDEMPOTENCY_KEY_EXPIRED");
    assert_eq!(late.at("/next/action"), "look_up");
    let told = only(&world, &guest.token).await;
    assert_eq!((&told["status"], &told["hold"]), (&json!(409), &first.body));
}

#[tokio::test]
async fn the_setting_of_the_replay_window_decides_for_calls_on_counters_and_for_others() {
    let world = World::replaying_for(Duration::from_secs(3600)).await;
    let guest = world.guest().await;
    let id = quote(&world, &guest.token).await.expect(201).text_at("/id");
    let hold = || {
        let call = world.post("/v1/holds").token(&guest.token).key("hold");
        call.json(&json!({"quote_id": id})).send()
    };
    hold().await.expect(201);
    world.clock_ahead(3_500).await;
    assert!(quote(&world, &guest.token).await.expect(201).is_replay());
    assert!(hold().await.expect(201).is_replay());
    world.clock_ahead(200).await;
    quote(&world, &guest.token).await.expect_problem(409, "IDEMPOTENCY_KEY_EXPIRED");
    hold().await.expect_problem(409, "IDEMPOTENCY_KEY_EXPIRED");
    assert_eq!(only(&world, &guest.token).await["status"], 409);
}
