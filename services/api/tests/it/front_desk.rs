use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, STAY, World},
};

/// Somewhere between the sandbox's start and the stay's first morning.
const UNTIL_ARRIVAL: &str = "2026-11-14T06:00:00Z";

async fn booked(world: &World, guest: &Guest) -> String {
    let hold = world.hold(guest, STAY).await.expect(201).text_at("/id");
    world.book(guest, &hold, "pm_ok").await.expect(201).text_at("/reservation/id")
}

async fn step(world: &World, token: &str, id: &str, step: &str, body: &Value) -> Answer {
    let path = format!("/v1/hotels/HTL-204/reservations/{id}/{step}");
    let call = world.post(&path).token(token).fresh_key();
    if body.is_null() { call.send().await } else { call.json(body).send().await }
}

#[tokio::test]
async fn the_desk_checks_a_guest_in_and_out() {
    let world = World::new().await;
    let guest = world.guest().await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let id = booked(&world, &guest).await;
    let early = step(&world, &staff, &id, "check-in", &Value::Null).await.expect_problem(409, "CONFLICT");
    assert_eq!((early.at("/first"), early.at("/last")), (&json!("2026-11-14"), &json!("2026-11-16")));
    world.clock_to(UNTIL_ARRIVAL).await;
    let there = step(&world, &staff, &id, "check-in", &Value::Null).await.expect(200);
    assert_eq!((there.at("/state"), there.header("etag")), (&json!("CHECKED_IN"), Some("\"2\"")));
    let odd = step(&world, &staff, &id, "check-out", &json!({"check_out": "2026-11-17"})).await;
    odd.expect_invalid("/check_out", "OUT_OF_RANGE");
    let unknown = step(&world, &staff, &id, "check-out", &json!({"date": "2026-11-15"})).await;
    unknown.expect_invalid("/date", "UNKNOWN_FIELD");
    let gone = step(&world, &staff, &id, "check-out", &json!({"check_out": "2026-11-15"})).await.expect(200);
    assert_eq!((gone.at("/state"), gone.at("/version")), (&json!("CHECKED_OUT"), &json!(3)));
    let late = world.post(&format!("/v1/reservations/{id}/cancel")).token(&guest.token).fresh_key();
    let late = late.header("if-match", "3").send().await.expect_problem(409, "CONFLICT");
    assert_eq!(late.at("/state"), "CHECKED_OUT");
}

#[tokio::test]
async fn a_refund_by_the_desk_names_its_amount_and_is_bounded_by_the_payment() {
    let world = World::new().await;
    let guest = world.guest().await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let id = booked(&world, &guest).await;
    let made = json!({"amount": "560.00", "reason": "no hot water"});
    let made = step(&world, &staff, &id, "refunds", &made).await.expect(201);
    assert_eq!(made.at("/refund/amount"), &json!({"amount": "560.00", "currency": "INR"}));
    let refused = json!({"amount": "14000.01", "reason": "x"});
    step(&world, &staff, &id, "refunds", &refused).await.expect_invalid("/amount", "TOO_LARGE");
    let blank = json!({"amount": "1.00", "reason": " "});
    step(&world, &staff, &id, "refunds", &blank).await.expect_invalid("/reason", "BLANK");
    let shown = world.get(&format!("/v1/reservations/{id}")).token(&guest.token).send().await.expect(200);
    assert_eq!(shown.at("/refunds/0/id"), made.at("/refund/id"));
}

#[tokio::test]
async fn the_desk_of_another_hotel_and_the_guest_see_nothing_there() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest).await;
    let elsewhere = world.credential("HTL-310", Role::Staff).await;
    for token in [&guest.token, &elsewhere] {
        for name in ["check-in", "no-show", "no-show/undo"] {
            step(&world, token, &id, name, &Value::Null).await.expect_problem(404, "NOT_FOUND");
        }
        let money = json!({"amount": "1.00", "reason": "x"});
        step(&world, token, &id, "refunds", &money).await.expect_problem(404, "NOT_FOUND");
    }
    // A reservation of one hotel is none of another's.
    let path = format!("/v1/hotels/HTL-310/reservations/{id}/no-show");
    let wrong = world.post(&path).token(&world.operator).fresh_key().send().await;
    wrong.expect_problem(404, "NOT_FOUND");
}
