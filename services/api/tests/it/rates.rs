use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{STAY, World},
};

const PATH: &str = "/v1/hotels/HTL-204/rates";
const NIGHTS: &str =
    "/v1/hotels/HTL-204/rates?room_type=RT-DLX&rate_plan=FLEX&first_night=2026-11-13&last_night=2026-11-15";

fn change(amount: &Value) -> Value {
    json!({"changes": [{
        "room_type": "RT-DLX", "rate_plan": "FLEX", "first_night": STAY.0, "last_night": "2026-11-15", "amount": amount,
    }]})
}

async fn put(world: &World, key: &str, body: &Value) -> Answer {
    world.put(PATH).token(&world.operator).key(key).json(body).send().await
}

/// B089: an edit is a new version of every night that it names.
#[tokio::test]
async fn b089_an_edit_answers_with_the_nights_as_they_are_and_their_new_version() {
    let world = World::new().await;
    let edited = put(&world, "k1", &change(&json!("7000.00"))).await.expect(200);
    let night = |date: &str, amount: &str, version: i32| {
        json!({
            "room_type": "RT-DLX", "rate_plan": "FLEX", "night": date, "amount": amount,
            "extra_adult": "1500.00", "extra_child": "750.00", "price_version": version,
        })
    };
    let changed = [night("2026-11-14", "7000.00", 2), night("2026-11-15", "7000.00", 2)];
    assert_eq!(edited.at("/items"), &json!(changed));
    let repeat = put(&world, "k1", &change(&json!("7000"))).await.expect(200);
    assert!(repeat.is_replay());
    assert_eq!(repeat.body, edited.body);
    let seen = world.get(NIGHTS).token(&world.operator).send().await.expect(200);
    let [first, second] = changed;
    let all = json!({"items": [night("2026-11-13", "6500.00", 1), first, second], "next_cursor": null});
    assert_eq!(seen.body, all);
}

/// B099, B105: an amount is a string with the decimals of its currency, and no number.
#[tokio::test]
async fn b099_b105_an_amount_is_read_exactly_or_refused() {
    let world = World::new().await;
    for (amount, code) in [
        (json!(6500), "INVALID_TYPE"),
        (json!(90_071_992_547_409.93), "INVALID_TYPE"),
        (json!("6500.001"), "TOO_MANY_DECIMALS"),
        (json!("-1"), "INVALID_AMOUNT"),
        (json!("1e3"), "INVALID_AMOUNT"),
        (json!("1000000000000001"), "TOO_LARGE"),
    ] {
        put(&world, "k1", &change(&amount)).await.expect_invalid("/changes/0/amount", code);
    }
    let edited = put(&world, "k1", &change(&json!("90071992547409.93"))).await.expect(200);
    assert_eq!(edited.at("/items/0/amount"), "90071992547409.93");
}

#[tokio::test]
async fn what_is_asked_for_must_be_there() {
    let world = World::new().await;
    let get = |query: &str| world.get(&format!("{PATH}?{query}")).token(&world.operator).send();
    let range = "first_night=2026-11-14&last_night=2026-11-15";
    get(range).await.expect_invalid("/room_type", "MISSING");
    get(&format!("{range}&room_type=RT-NIL")).await.expect_invalid("/room_type", "UNKNOWN_ROOM_TYPE");
    let unknown = get(&format!("{range}&room_type=RT-DLX&rate_plan=NIL")).await;
    unknown.expect_invalid("/rate_plan", "UNKNOWN_RATE_PLAN");
    let reversed = get("room_type=RT-DLX&first_night=2026-11-15&last_night=2026-11-14").await;
    reversed.expect_invalid("/last_night", "INVALID_RANGE");
    let endless = get("room_type=RT-DLX&first_night=2026-11-15&last_night=9999-12-31").await;
    endless.expect_invalid("/last_night", "INVALID_RANGE");
    get(&format!("{range}&room_type=RT-DLX&plan=FLEX")).await.expect_invalid("/plan", "UNKNOWN_FIELD");
}

/// B097: nights are dates of the hotel, whatever zone the visitor is in.
#[tokio::test]
async fn b097_a_visitors_zone_changes_nothing() {
    let world = World::new().await;
    let path = "/v1/hotels/HTL-204/inventory?room_type=RT-DLX&first_night=2026-11-14&last_night=2026-11-20";
    let plain = world.get(path).token(&world.operator).send().await.expect(200);
    for zone in ["Pacific/Pago_Pago", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati"] {
        let call = world.get(path).token(&world.operator).header("x-time-zone", zone);
        let seen = call.header("timezone", zone).send().await.expect(200);
        assert_eq!(seen.text, plain.text, "{zone}");
    }
    assert_eq!(plain.at("/items").as_array().map(Vec::len), Some(7));
}
