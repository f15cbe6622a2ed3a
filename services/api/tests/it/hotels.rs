use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{World, fresh_key},
};

fn hotel(code: &str) -> Value {
    json!({
        "code": code, "name": "Spree Hotel", "time_zone": "Europe/Berlin", "currency": "EUR", "city": "Berlin",
        "latitude": 52.52, "longitude": 13.405,
        "taxes": [
            {"kind": "percent", "label": "VAT", "value": "7", "included": true},
            {"kind": "per_person_night", "label": "City tax", "value": 5.25, "included": false, "to_amount": "500"},
        ],
        "room_types": [{
            "code": "DBL", "name": "Double", "max_adults": 2, "max_children": 1, "max_occupancy": 3, "units": 9,
        }],
        "rate_plans": [{
            "code": "BAR", "name": "Best available", "payment": "prepay", "cancellation": [
                {"until_days_before": 7, "until_time": "18:00", "penalty": {"kind": "none"}},
                {"until_days_before": 1, "until_time": "12:30", "penalty": {"kind": "percent", "value": "50"}},
            ],
        }],
    })
}

async fn create(world: &World, key: &str, body: &Value) -> Answer {
    world.post("/v1/hotels").token(&world.operator).key(key).json(body).send().await
}

#[tokio::test]
async fn everybody_sees_a_hotel_with_its_room_types_and_plans_in_order() {
    let world = World::new().await;
    let seen = world.get("/v1/hotels/HTL-204").send().await.expect(200);
    let facts = ["code", "time_zone", "currency", "city"].map(|field| seen.at(&format!("/{field}")).clone());
    assert_eq!(facts, ["HTL-204", "Asia/Kolkata", "INR", "Bengaluru"].map(Value::from));
    let codes = |list: &str| [0, 1].map(|n| seen.text_at(&format!("/{list}/{n}/code")));
    assert_eq!(codes("room_types"), ["RT-DLX", "RT-STD"]);
    assert_eq!(codes("rate_plans"), ["FLEX", "SAVER"]);
    let free = json!([{"until_days_before": 2, "until_time": "18:00", "penalty": {"kind": "none"}}]);
    assert_eq!(seen.at("/rate_plans/0/cancellation"), &free);
    assert_eq!(seen.at("/rate_plans/1/cancellation"), &json!([]));
    for unknown in ["HTL-999", "htl-204", "HTL%20204", "%00"] {
        world.get(&format!("/v1/hotels/{unknown}")).send().await.expect_problem(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn an_operator_sets_a_hotel_up_and_its_nights_are_open() {
    let world = World::new().await;
    let made = create(&world, "k1", &hotel("HTL-1000")).await.expect(201);
    assert_eq!(made.header("location"), Some("/v1/hotels/HTL-1000"));
    assert_eq!(made.at("/room_types/0/base_occupancy"), 2);
    assert_eq!(made.at("/taxes/1/value"), "5.25");
    assert_eq!(made.at("/taxes/1/to_amount"), "500.00");
    assert_eq!(made.at("/latitude"), 52.52);
    assert_eq!(made.at("/rate_plans/0/cancellation/1/penalty"), &json!({"kind": "percent", "value": "50"}));
    let seen = world.get("/v1/hotels/HTL-1000").send().await.expect(200);
    assert_eq!(seen.body, made.body);
    let repeat = create(&world, "k1", &hotel("HTL-1000")).await.expect(201);
    assert!(repeat.is_replay());
    assert_eq!(repeat.body, made.body);
    create(&world, "k2", &hotel("HTL-1000")).await.expect_problem(409, "ALREADY_EXISTS");
    let nights = "/v1/hotels/HTL-1000/inventory?room_type=DBL&first_night=2026-01-09&last_night=2027-01-09";
    let open = world.get(nights).token(&world.operator).send().await.expect(200);
    // Berlin's 10 January to the end of the tests' horizon of 330 days, and one more.
    assert_eq!(open.at("/items").as_array().map(Vec::len), Some(332));
    let first = json!({"room_type": "DBL", "night": "2026-01-10", "sellable": 9, "held": 0, "confirmed": 0, "available": 9});
    assert_eq!(open.at("/items/0"), &first);
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_hotel_is_told_at_once() {
    let world = World::new().await;
    let mut wrong = hotel("HTL 1000");
    wrong["time_zone"] = json!("Berlin");
    wrong["room_types"][0]["units"] = json!(100_001);
    wrong["rate_plans"][0]["deposit"] = json!({"percent": "30"});
    wrong["rate_plans"][0]["cancellation"][0]["penalty"]["value"] = json!("10");
    let refused = create(&world, "k1", &wrong).await;
    let refused = refused.expect_invalid("/code", "INVALID_CODE");
    let refused = refused.expect_invalid("/time_zone", "UNKNOWN_TIME_ZONE");
    let refused = refused.expect_invalid("/room_types/0/units", "OUT_OF_RANGE");
    let refused = refused.expect_invalid("/rate_plans/0/deposit", "NOT_ALLOWED");
    refused.expect_invalid("/rate_plans/0/cancellation/0/penalty/value", "NOT_ALLOWED");
    let mut unknown = hotel("HTL-1000");
    unknown["stars"] = json!(5);
    create(&world, "k1", &unknown).await.expect_invalid("/stars", "UNKNOWN_FIELD");
    // Nothing of it kept the key or the code.
    create(&world, "k1", &hotel("HTL-1000")).await.expect(201);
}

#[tokio::test]
async fn b139_nobody_but_an_operator_sets_hotels_up_or_makes_credentials() {
    let world = World::new().await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let credential = json!({"role": "staff", "name": "Mine"});
    for token in [&staff, &world.guest().await.token] {
        let call = world.post("/v1/hotels").token(token).key(&fresh_key());
        call.json(&hotel("HTL-1000")).send().await.expect_problem(404, "NOT_FOUND");
        let call = world.post("/v1/hotels/HTL-204/credentials").token(token).fresh_key();
        call.json(&credential).send().await.expect_problem(404, "NOT_FOUND");
    }
    world.get("/v1/hotels/HTL-1000").send().await.expect_problem(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_credential_shows_its_token_once_and_works_at_its_hotel() {
    let world = World::new().await;
    let path = "/v1/hotels/HTL-204/credentials";
    let body = json!({"role": "staff", "name": "Front desk"});
    let made = world.post(path).token(&world.operator).key("k1").json(&body).send().await.expect(201);
    let token = made.text_at("/token");
    let nights = "inventory?room_type=RT-DLX&first_night=2026-11-14&last_night=2026-11-14";
    world.get(&format!("/v1/hotels/HTL-204/{nights}")).token(&token).send().await.expect(200);
    let elsewhere = world.get(&format!("/v1/hotels/HTL-310/{nights}")).token(&token).send().await;
    elsewhere.expect_problem(404, "NOT_FOUND");
    let repeat = world.post(path).token(&world.operator).key("k1").json(&body).send().await.expect(201);
    assert!(repeat.is_replay() && repeat.at("/token").is_null());
    assert_eq!(repeat.at("/id"), made.at("/id"));
    let channel = json!({"role": "staff", "name": "Front desk", "channel": "ota"});
    let refused = world.post(path).token(&world.operator).key("k2").json(&channel).send().await;
    refused.expect_invalid("/channel", "NOT_ALLOWED");
    let operator = json!({"role": "operator", "name": "More than mine"});
    let refused = world.post(path).token(&world.operator).key("k3").json(&operator).send().await;
    refused.expect_invalid("/role", "INVALID_VALUE");
}
