//! Plans with a deposit, and plans that are paid at the property.

use keyrack_booking::collect_charge;
use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, STAY, World},
};

async fn quote(world: &World, guest: &Guest, plan: &str) -> Answer {
    let room = json!({"room_type": "RT-DLX", "rate_plan": plan, "adults": 2});
    let stay = json!({"hotel": "HTL-204", "check_in": STAY.0, "check_out": STAY.1, "rooms": [room]});
    world.post("/v1/quotes").token(&guest.token).fresh_key().json(&stay).send().await.expect(201)
}

/// The booking's answer.
async fn book(world: &World, guest: &Guest, plan: &str) -> Answer {
    let quote = quote(world, guest, plan).await.text_at("/id");
    let hold = world.post("/v1/holds").token(&guest.token).fresh_key().json(&json!({"quote_id": quote}));
    let hold = hold.send().await.expect(201).text_at("/id");
    world.book(guest, &hold, "pm_ok").await.expect(201)
}

async fn schedule(world: &World, guest: &Guest, id: &str) -> Value {
    let shown = world.get(&format!("/v1/reservations/{id}")).token(&guest.token).send().await.expect(200);
    shown.at("/schedule").clone()
}

#[tokio::test]
async fn a_quote_tells_what_is_due_when_on_the_wall_of_the_hotel() {
    let world = World::new().await;
    let guest = world.guest().await;
    let deposit = quote(&world, &guest, "DEPOSIT").await;
    assert_eq!(deposit.at("/payment"), "deposit");
    let due = json!({"at": "2026-11-06T18:30:00Z", "local": "2026-11-07T00:00:00+05:30"});
    assert_eq!(
        deposit.at("/schedule"),
        &json!([
            {"kind": "deposit", "amount": "4368.00", "due": "booking"},
            {"kind": "balance", "amount": "10192.00", "due": due},
        ])
    );
    let later = quote(&world, &guest, "AT-HOTEL").await;
    let arrival = json!({"at": "2026-11-13T18:30:00Z", "local": "2026-11-14T00:00:00+05:30"});
    assert_eq!(
        later.at("/schedule"),
        &json!([{"kind": "at_property", "amount": "14560.00", "due": arrival}])
    );
    let prepaid = quote(&world, &guest, "FLEX").await;
    assert_eq!(
        prepaid.at("/schedule"),
        &json!([{"kind": "prepayment", "amount": "14560.00", "due": "booking"}])
    );
}

#[tokio::test]
async fn a_deposit_is_charged_at_booking_and_its_balance_is_shown_until_it_is_collected() {
    let world = World::new().await;
    let guest = world.guest().await;
    let booked = book(&world, &guest, "DEPOSIT").await;
    assert_eq!(booked.at("/amount"), &json!({"amount": "4368.00", "currency": "INR"}));
    let id = booked.text_at("/reservation/id");
    let shown = schedule(&world, &guest, &id).await;
    assert_eq!((&shown[0]["state"], &shown[1]["state"]), (&json!("PAID"), &json!("DUE")));
    assert_eq!(shown[1]["due_at"]["local"], "2026-11-07T00:00:00+05:30");
    let preview = world.get(&format!("/v1/reservations/{id}/cancellation-preview")).token(&guest.token);
    let preview = preview.send().await.expect(200);
    let money = |amount: &str| json!({"amount": amount, "currency": "INR"});
    assert_eq!((preview.at("/refund"), preview.at("/due")), (&money("4368.00"), &money("0.00")));
    world.clock_to("2026-11-06T18:30:01Z").await;
    for (_, ledger) in world.desk.ledgers() {
        assert_eq!(collect_charge::run_once(&world.desk, ledger).await.expect("collected").asked, 1);
    }
    assert_eq!(schedule(&world, &guest, &id).await[1]["state"], "PAID");
    let cancel = world.post(&format!("/v1/reservations/{id}/cancel")).token(&guest.token).fresh_key();
    let done = cancel.header("if-match", "1").send().await.expect(200);
    assert_eq!((done.at("/refund"), done.at("/due")), (&money("14560.00"), &money("0.00")));
}

#[tokio::test]
async fn the_desk_says_what_it_has_taken_and_nobody_else_does() {
    let world = World::new().await;
    let guest = world.guest().await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let elsewhere = world.credential("HTL-310", Role::Staff).await;
    let booked = book(&world, &guest, "AT-HOTEL").await;
    assert_eq!((booked.at("/amount/amount"), world.charges()), (&json!("0.00"), 0));
    let id = booked.text_at("/reservation/id");
    let path = |number: &str| format!("/v1/hotels/HTL-204/reservations/{id}/charges/{number}/paid");
    for token in [&guest.token, &elsewhere] {
        let refused = world.post(&path("1")).token(token).fresh_key().send().await;
        refused.expect_problem(404, "NOT_FOUND");
    }
    for number in ["0", "2", "-1", "x", "99999"] {
        let refused = world.post(&path(number)).token(&staff).fresh_key().send().await;
        refused.expect_problem(404, "NOT_FOUND");
    }
    let paid = world.post(&path("1")).token(&staff).key("K").send().await.expect(200);
    assert_eq!((paid.at("/kind"), paid.at("/state")), (&json!("at_property"), &json!("PAID")));
    let again = world.post(&path("1")).token(&staff).key("K").send().await.expect(200);
    assert!(again.is_replay() && again.body == paid.body, "{}", again.text);
    let twice = world.post(&path("1")).token(&staff).key("L").send().await.expect_problem(409, "CONFLICT");
    assert_eq!(twice.at("/state"), "PAID");
    assert_eq!(schedule(&world, &guest, &id).await, json!([paid.body]));
}

#[tokio::test]
async fn a_deposit_plan_has_its_usual_terms_or_its_own() {
    let world = World::new().await;
    let mut hotel = crate::world::new_hotel();
    hotel["rate_plans"] = json!([
        {"code": "A", "name": "Usual", "cancellation": [], "payment": "deposit"},
        {"code": "B", "name": "Own", "cancellation": [], "payment": "deposit",
         "deposit": {"amount": "50", "balance_due_days_before": 3}},
        {"code": "C", "name": "There", "cancellation": [], "payment": "at_property"},
    ]);
    let create = async |hotel: &Value| {
        world.post("/v1/hotels").token(&world.operator).fresh_key().json(hotel).send().await
    };
    let made = create(&hotel).await.expect(201);
    let terms = |plan: usize| made.at(&format!("/rate_plans/{plan}/deposit")).clone();
    assert_eq!(terms(0), json!({"percent": "30", "balance_due_days_before": 7}));
    assert_eq!(terms(1), json!({"amount": "50", "balance_due_days_before": 3}));
    assert_eq!(terms(2), Value::Null);
    hotel["code"] = json!("HTL-1001");
    hotel["rate_plans"][1]["deposit"]["percent"] = json!("20");
    create(&hotel).await.expect_invalid("/rate_plans/1/deposit", "NOT_ALLOWED");
    hotel["rate_plans"][1]["deposit"] = json!({"amount": "0"});
    create(&hotel).await.expect_invalid("/rate_plans/1/deposit/amount", "INVALID_AMOUNT");
}
