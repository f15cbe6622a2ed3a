use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, STAY, World, fresh_key},
};

fn request(hotel: &str, stay: (&str, &str)) -> Value {
    let room = json!({"room_type": "RT-DLX", "rate_plan": "FLEX", "adults": 2, "children_ages": []});
    json!({"hotel": hotel, "check_in": stay.0, "check_out": stay.1, "rooms": [room]})
}

async fn quote(world: &World, guest: &Guest, body: &Value) -> Answer {
    world.post("/v1/quotes").token(&guest.token).key(&fresh_key()).json(body).send().await
}

/// Sets a rule of RT-DLX at HTL-204 on one night.
async fn restrict(world: &World, night: &str, rule: &str, value: Value) -> Answer {
    let mut change = json!({"room_type": "RT-DLX", "first_night": night, "last_night": night});
    change[rule] = value;
    let call = world.put("/v1/hotels/HTL-204/restrictions").token(&world.operator).fresh_key();
    call.json(&json!({"changes": [change]})).send().await
}

#[tokio::test]
async fn the_worked_example_is_quoted_line_by_line() {
    let world = World::new().await;
    let guest = world.guest().await;
    let call = world.post("/v1/quotes").token(&guest.token).key("k1").json(&request("HTL-204", STAY));
    let made = call.send().await.expect(201);
    let id = made.text_at("/id");
    assert_eq!(made.header("location"), Some(format!("/v1/quotes/{id}").as_str()));
    assert_eq!(made.at("/total"), &json!({"amount": "14560.00", "currency": "INR"}));
    let charges = json!([
        {"kind": "room", "label": "RT-DLX, FLEX, 2 nights", "amount": "13000.00", "included": false},
        {"kind": "tax", "label": "GST", "amount": "1560.00", "included": false},
    ]);
    assert_eq!(made.at("/charges"), &charges);
    let night = |date: &str| json!({"date": date, "amount": "6500.00", "price_version": 1, "available": 5});
    assert_eq!(made.at("/rooms/0/nights"), &json!([night("2026-11-14"), night("2026-11-15")]));
    assert_eq!(made.at("/payment"), "prepay");
    assert!(made.text_at("/expires_at").ends_with('Z') && made.text_at("/availability_as_of").ends_with('Z'));
    let repeat = world.post("/v1/quotes").token(&guest.token).key("k1").json(&request("HTL-204", STAY));
    let repeat = repeat.send().await.expect(201);
    assert!(repeat.is_replay());
    assert_eq!(repeat.body, made.body);
    let other = world.post("/v1/quotes").token(&guest.token).key("k1");
    let other = other.json(&request("HTL-204", ("2026-11-14", "2026-11-17"))).send().await;
    other.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    let seen = world.get(&format!("/v1/quotes/{id}")).token(&guest.token).send().await.expect(200);
    for pointer in ["/total", "/charges", "/rooms", "/cancellation", "/expires_at"] {
        assert_eq!(seen.at(pointer), made.at(pointer), "{pointer}");
    }
    let stranger = world.guest().await;
    let foreign = world.get(&format!("/v1/quotes/{id}")).token(&stranger.token).send().await;
    foreign.expect_problem(404, "NOT_FOUND");
}

/// B094: the deadline is on the wall of the hotel, and told in both ways.
#[tokio::test]
async fn b094_the_free_cancellation_deadline_is_told_in_utc_and_in_the_hotels_time() {
    let world = World::new().await;
    let made = quote(&world, &world.guest().await, &request("HTL-204", STAY)).await.expect(201);
    let rung = json!([{
        "rate_plan": "FLEX", "until_days_before": 2, "until_time": "18:00", "penalty": {"kind": "none"},
        "until": {"at": "2026-11-12T12:30:00Z", "local": "2026-11-12T18:00:00+05:30"},
    }]);
    assert_eq!(made.at("/cancellation"), &rung);
}

/// B080: nothing is made up for a date that was not given.
#[tokio::test]
async fn b080_only_the_arrival_given_names_the_missing_field() {
    let world = World::new().await;
    let guest = world.guest().await;
    let mut body = request("HTL-204", STAY);
    body["check_out"] = Value::Null;
    quote(&world, &guest, &body).await.expect_invalid("/check_out", "INVALID_TYPE");
    body["check_out"] = json!("");
    quote(&world, &guest, &body).await.expect_invalid("/check_out", "INVALID_VALUE");
    body.as_object_mut().expect("an object").remove("check_out");
    quote(&world, &guest, &body).await.expect_invalid("/check_out", "MISSING");
}

#[tokio::test]
async fn b081_b095_b108_dates_that_cannot_be_stayed_are_refused_with_their_reason() {
    let world = World::new().await;
    let guest = world.guest().await;
    for (stay, pointer, code) in [
        (("2026-11-14", "2026-11-14"), "/check_out", "INVALID_STAY"),
        (("2026-11-15", "2026-11-14"), "/check_out", "INVALID_STAY"),
        (("2026-11-14", "2027-12-19"), "/check_out", "INVALID_STAY"),
        (("9999-12-30", "9999-12-31"), "/check_out", "INVALID_STAY"),
        (("2026-01-09", "2026-01-10"), "/check_in", "PAST_DATE"),
        (("2027-01-08", "2027-01-09"), "/check_out", "OUT_OF_HORIZON"),
        (("262142-12-30", "2026-11-15"), "/check_in", "INVALID_VALUE"),
        (("2026-02-30", "2026-11-15"), "/check_in", "INVALID_VALUE"),
        (("2026-2-3", "2026-11-15"), "/check_in", "INVALID_VALUE"),
        (("2026-11-14T00:00Z", "2026-11-15"), "/check_in", "INVALID_VALUE"),
    ] {
        quote(&world, &guest, &request("HTL-204", stay)).await.expect_invalid(pointer, code);
    }
    quote(&world, &guest, &request("HTL-999", STAY)).await.expect_problem(404, "NOT_FOUND");
}

#[tokio::test]
async fn b106_b107_rooms_and_guests_that_cannot_be_are_refused_with_their_place() {
    let world = World::new().await;
    let guest = world.guest().await;
    let with = |rooms: Value| {
        let mut body = request("HTL-204", STAY);
        body["rooms"] = rooms;
        body
    };
    for rooms in
        [json!(2_147_483_647), json!(9_223_372_036_854_775_807_i64), json!(1.5), json!("1e3"), Value::Null]
    {
        quote(&world, &guest, &with(rooms)).await.expect_invalid("/rooms", "INVALID_TYPE");
    }
    quote(&world, &guest, &with(json!([]))).await.expect_invalid("/rooms", "OUT_OF_RANGE");
    let mut room = json!({"room_type": "RT-DLX", "rate_plan": "FLEX", "adults": 0, "children_ages": [18]});
    let refused = quote(&world, &guest, &with(json!([room]))).await;
    refused
        .expect_invalid("/rooms/0/adults", "OCCUPANCY")
        .expect_invalid("/rooms/0/children_ages/0", "CHILD_AGE");
    room["adults"] = json!(-1);
    quote(&world, &guest, &with(json!([room]))).await.expect_problem(422, "INVALID");
    room["adults"] = json!(2);
    room["room_type"] = json!("RT-NIL");
    let refused = quote(&world, &guest, &with(json!([room]))).await;
    refused.expect_invalid("/rooms/0/room_type", "UNKNOWN_ROOM_TYPE");
}

#[tokio::test]
async fn b087_b088_a_restriction_is_told_with_its_night_and_what_it_requires() {
    let world = World::new().await;
    let guest = world.guest().await;
    restrict(&world, "2026-11-16", "min_stay_through", json!(4)).await.expect(200);
    restrict(&world, "2026-11-15", "stop_sell", json!(true)).await.expect(200);
    let refused = quote(&world, &guest, &request("HTL-204", ("2026-11-15", "2026-11-17"))).await;
    let refused = refused.expect_problem(409, "RESTRICTION_VIOLATED");
    let violations = json!([
        {"rule": "STOP_SELL", "room_type": "RT-DLX", "night": "2026-11-15", "required": null, "given": null},
        {"rule": "MIN_STAY_THROUGH", "room_type": "RT-DLX", "night": "2026-11-16", "required": 4, "given": 2},
    ]);
    assert_eq!(refused.at("/violations"), &violations);
    restrict(&world, "2026-11-15", "stop_sell", Value::Null).await.expect(200);
    restrict(&world, "2026-11-16", "min_stay_through", Value::Null).await.expect(200);
    quote(&world, &guest, &request("HTL-204", ("2026-11-15", "2026-11-17"))).await.expect(201);
}

/// B090: what contradicts itself cannot be set.
#[tokio::test]
async fn b090_limits_of_zero_and_contradictions_are_refused_as_input() {
    let world = World::new().await;
    let refused = restrict(&world, "2026-11-16", "min_stay_arrival", json!(0)).await;
    refused.expect_invalid("/changes/0/min_stay_arrival", "OUT_OF_RANGE");
    restrict(&world, "2026-11-16", "max_stay", json!(3)).await.expect(200);
    let refused = restrict(&world, "2026-11-16", "min_stay_arrival", json!(4)).await;
    refused.expect_invalid("/changes/0/min_stay_arrival", "MIN_ABOVE_MAX");
    let nights =
        "/v1/hotels/HTL-204/restrictions?room_type=RT-DLX&first_night=2026-11-01&last_night=2026-11-30";
    let seen = world.get(nights).token(&world.operator).send().await.expect(200);
    let only = json!([{
        "room_type": "RT-DLX", "rate_plan": null, "night": "2026-11-16", "stop_sell": false,
        "min_stay_arrival": null, "min_stay_through": null, "max_stay": 3, "closed_to_arrival": false,
        "closed_to_departure": false, "min_advance_days": null, "max_advance_days": null,
    }]);
    assert_eq!(seen.at("/items"), &only);
}

/// B091, B099: nights are dates, and every currency keeps its own decimals.
#[tokio::test]
async fn b091_b099_the_demo_hotels_are_quoted_in_their_own_ways() {
    let world = World::new().await;
    let guest = world.guest().await;
    for (hotel, stay, amount, currency) in [
        ("HTL-310", ("2026-10-24", "2026-10-26"), "240.00", "GBP"),
        ("HTL-310", ("2026-03-29", "2026-03-30"), "120.00", "GBP"),
        ("HTL-411", STAY, "26400", "JPY"),
        ("HTL-820", STAY, "88.550", "KWD"),
    ] {
        let made = quote(&world, &guest, &request(hotel, stay)).await.expect(201);
        assert_eq!(made.at("/total"), &json!({"amount": amount, "currency": currency}), "{hotel}");
    }
}

/// A booking is paid in one way.
#[tokio::test]
async fn rooms_that_are_paid_in_different_ways_are_not_quoted_together() {
    let world = World::new().await;
    let guest = world.guest().await;
    let mut both = request("HTL-204", STAY);
    let mut other = both["rooms"][0].clone();
    other["rate_plan"] = json!("SAVER");
    both["rooms"].as_array_mut().expect("rooms").push(other);
    quote(&world, &guest, &both).await.expect(201);
    world.database.execute("UPDATE rate_plans SET payment = 'at_property' WHERE code = 'SAVER'").await;
    quote(&world, &guest, &both).await.expect_invalid("/rooms", "MIXED_PAYMENT");
}
