use serde_json::json;

use crate::world::{STAY, World, booking};

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
