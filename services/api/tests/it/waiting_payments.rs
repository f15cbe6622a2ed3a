//! Payments after the booking that wait for the customer: whoever pays is shown the bank's page, until it is decided.

use keyrack_booking::collect_charge;
use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, STAY, World, booking},
};

async fn shown(world: &World, token: &str, id: &str) -> Answer {
    world.get(&format!("/v1/reservations/{id}")).token(token).send().await.expect(200)
}

async fn waiting(world: &World, token: &str, id: &str) -> Value {
    shown(world, token, id).await.at("/waiting_payments").clone()
}

async fn complete(page: &Value) {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let page = page.as_str().expect("a page");
    assert!(client.post(format!("{page}/complete")).send().await.expect("an answer").status().is_success());
}

/// Whose bank asks each time that something is to be paid.
async fn booked(world: &World, guest: &Guest, plan: &str) -> String {
    let room = json!({"room_type": "RT-DLX", "rate_plan": plan, "adults": 2});
    let stay = json!({"hotel": "HTL-204", "check_in": STAY.0, "check_out": STAY.1, "rooms": [room]});
    let quote = world.post("/v1/quotes").token(&guest.token).fresh_key().json(&stay).send().await.expect(201);
    let hold = json!({"quote_id": quote.text_at("/id")});
    let hold = world.post("/v1/holds").token(&guest.token).fresh_key().json(&hold).send().await.expect(201);
    let paying = booking(&hold.text_at("/id"), "pm_3ds");
    let pay = async || world.post("/v1/bookings").token(&guest.token).key("K").json(&paying).send().await;
    let paid = pay().await;
    if plan == "AT-HOTEL" {
        return paid.expect(201).text_at("/reservation/id");
    }
    complete(paid.expect(202).at("/next_action/url")).await;
    world.clock_ahead(301).await;
    world.reconcile().await;
    pay().await.expect(201).text_at("/reservation/id")
}

#[tokio::test]
async fn a_balance_that_waits_for_its_customer_shows_the_page_to_them_alone() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest, "DEPOSIT").await;
    assert_eq!(waiting(&world, &guest.token, &id).await, json!([]));
    world.clock_to("2026-11-06T18:30:01Z").await;
    for (_, ledger) in world.desk.ledgers() {
        assert_eq!(collect_charge::run_once(&world.desk, ledger).await.expect("collected").asked, 1);
    }
    let told = waiting(&world, &guest.token, &id).await;
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    let told = &told[0];
    assert_eq!((&told["charge"], &told["change_id"]), (&json!(2), &Value::Null));
    assert_eq!(told["amount"], json!({"amount": "10192.00", "currency": "INR"}));
    assert_eq!(told["next_action"]["type"], "redirect");
    let waits =
        "SELECT to_char(deadline_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI') FROM payment_attempts
                 WHERE state = 'PENDING_PAYMENT'";
    let deadline = world.database.value(waits).await;
    let deadline = deadline.as_str().expect("an instant");
    assert!(told["deadline"].as_str().expect("an instant").starts_with(deadline), "{told}");
    // In the list as well; to the hotel's staff the stay, and not the page.
    let list = world.get("/v1/reservations").token(&guest.token).send().await.expect(200);
    assert_eq!(list.at("/items/0/waiting_payments/0"), told);
    let staff = world.credential("HTL-204", Role::Staff).await;
    assert_eq!(waiting(&world, &staff, &id).await, json!([]));
    complete(&told["next_action"]["url"]).await;
    world.clock_ahead(301).await;
    world.reconcile().await;
    let paid = shown(&world, &guest.token, &id).await;
    assert_eq!((paid.at("/waiting_payments"), paid.at("/schedule/1/state")), (&json!([]), &json!("PAID")));
}

#[tokio::test]
async fn a_page_that_was_left_alone_is_not_shown_after_its_deadline() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest, "AT-HOTEL").await;
    world.clock_to("2026-11-15T06:00:00Z").await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let missed = format!("/v1/hotels/HTL-204/reservations/{id}/no-show");
    world.post(&missed).token(&staff).fresh_key().send().await.expect(200);
    for (_, ledger) in world.desk.ledgers() {
        assert_eq!(collect_charge::run_once(&world.desk, ledger).await.expect("collected").asked, 1);
    }
    let told = shown(&world, &guest.token, &id).await;
    assert_eq!(
        (told.at("/waiting_payments/0/charge"), told.at("/schedule/1/kind")),
        (&json!(2), &json!("penalty"))
    );
    world.clock_ahead(301).await;
    world.reconcile().await;
    let told = shown(&world, &guest.token, &id).await;
    assert_eq!((told.at("/waiting_payments"), told.at("/schedule/1/state")), (&json!([]), &json!("FAILED")));
}

#[tokio::test]
async fn a_change_that_waits_for_its_customer_shows_the_page() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest, "FLEX").await;
    let price = world.post(&format!("/v1/reservations/{id}/changes")).token(&guest.token).fresh_key();
    let price =
        price.header("if-match", "1").json(&json!({"check_out": "2026-11-17"})).send().await.expect(201);
    let path = price.header("location").expect("a place").to_owned();
    let confirm = world.post(&format!("{path}/confirm")).token(&guest.token).key("C").header("if-match", "1");
    let confirm = confirm.json(&json!({"payment": {"method_token": "pm_3ds"}})).send().await.expect(202);
    let told = waiting(&world, &guest.token, &id).await;
    let told = &told[0];
    assert_eq!((&told["attempt_id"], &told["change_id"]), (confirm.at("/attempt_id"), price.at("/id")));
    assert_eq!((&told["amount"], &told["charge"]), (price.at("/charge"), &Value::Null));
    complete(&told["next_action"]["url"]).await;
    world.clock_ahead(301).await;
    world.reconcile().await;
    let changed = shown(&world, &guest.token, &id).await;
    assert_eq!((changed.at("/waiting_payments"), changed.at("/version")), (&json!([]), &json!(2)));
}
