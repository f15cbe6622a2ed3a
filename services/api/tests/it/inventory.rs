use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{STAY, World, fresh_key},
};

const PATH: &str = "/v1/hotels/HTL-204/inventory";

fn change(sellable: &Value) -> Value {
    json!({"changes": [{"room_type": "RT-DLX", "first_night": STAY.0, "last_night": "2026-11-15", "sellable": sellable}]})
}

async fn put(world: &World, token: &str, key: &str, body: &Value) -> Answer {
    world.put(PATH).token(token).key(key).json(body).send().await
}

#[tokio::test]
async fn the_staff_of_a_hotel_sets_what_can_be_sold() {
    let world = World::new().await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let edited = put(&world, &staff, "k", &change(&json!(7))).await.expect(200);
    let night = |date: &str| json!({"room_type": "RT-DLX", "night": date, "sellable": 7, "held": 0, "confirmed": 0, "available": 7});
    assert_eq!(edited.body, json!({"items": [night("2026-11-14"), night("2026-11-15")]}));
    let repeat = put(&world, &staff, "k", &change(&json!(7))).await.expect(200);
    assert!(repeat.is_replay());
    assert_eq!(repeat.body, edited.body);
    put(&world, &staff, "k", &change(&json!(8))).await.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    let mut saturdays = change(&json!(3));
    saturdays["changes"][0]["weekdays"] = json!(["sat"]);
    let edited = put(&world, &staff, "l", &saturdays).await.expect(200);
    assert_eq!(edited.at("/items").as_array().map(Vec::len), Some(1));
    assert_eq!(edited.at("/items/0/night"), "2026-11-14");
    let told = world.get("/v1/operations/k").token(&staff).send().await.expect(200);
    assert_eq!(told.at("/items/0/inventory/items/0/sellable"), 7);
}

#[tokio::test]
async fn b139_nobody_else_may_and_is_told_that_there_is_no_such_hotel() {
    let world = World::new().await;
    let elsewhere = world.credential("HTL-310", Role::Staff).await;
    let channel = world.credential("HTL-204", Role::Channel).await;
    for token in [&elsewhere, &channel, &world.guest().await.token] {
        put(&world, token, &fresh_key(), &change(&json!(0))).await.expect_problem(404, "NOT_FOUND");
    }
    let unknown = world.put("/v1/hotels/HTL-999/inventory").token(&world.operator).fresh_key();
    unknown.json(&change(&json!(0))).send().await.expect_problem(404, "NOT_FOUND");
}

#[tokio::test]
async fn below_what_is_committed_nothing_is_applied() {
    let world = World::new().await;
    let guest = world.guest().await;
    world.hold(&guest, ("2026-11-15", "2026-11-16")).await.expect(201);
    let refused = put(&world, &world.operator, "k", &change(&json!(0))).await;
    let refused = refused.expect_problem(409, "BELOW_COMMITTED");
    assert_eq!(refused.at("/nights").as_array().map(Vec::len), Some(1));
    assert_eq!(
        (refused.at("/nights/0/night"), refused.at("/nights/0/held")),
        (&json!("2026-11-15"), &json!(1))
    );
    let applied = put(&world, &world.operator, "k", &change(&json!(1))).await.expect(200);
    assert_eq!(applied.at("/items/1/available"), 0);
}

#[tokio::test]
async fn b106_b107_b108_numbers_and_dates_that_cannot_be_name_their_field() {
    let world = World::new().await;
    let numbers =
        ["-1", "1.5", "\"1e3\"", "1e3", "null", "2147483648", "9223372036854775807", "1e400", "4294967296"];
    for number in numbers {
        let body = change(&json!("@")).to_string().replace("\"@\"", number);
        let call = world.put(PATH).token(&world.operator).fresh_key();
        let answer = call.text(&body).send().await.expect_problem(422, "INVALID");
        assert_eq!(answer.at("/errors/0/pointer"), "/changes/0/sellable", "{number}");
    }
    let dates = [
        "262142-12-30",
        "9999-12-31",
        "0000-01-01",
        "2026-02-30",
        "2026-2-3",
        "2026-11-14T00:00Z",
        "",
        "+262142-12-30",
    ];
    for date in dates {
        let mut body = change(&json!(1));
        body["changes"][0]["last_night"] = json!(date);
        let call = world.put(PATH).token(&world.operator).fresh_key();
        let answer = call.json(&body).send().await.expect_problem(422, "INVALID");
        assert_eq!(answer.at("/errors/0/pointer"), "/changes/0/last_night", "{date}");
    }
    let mut body = change(&json!(1));
    body["changes"][0]["weekdays"] = json!(["someday"]);
    let call = world.put(PATH).token(&world.operator).fresh_key();
    call.json(&body).send().await.expect_invalid("/changes/0/weekdays/0", "INVALID_VALUE");
}
