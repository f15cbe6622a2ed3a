//! What a payment that was not made tells: why, and what is safe now.

use serde_json::json;

use crate::{
    answer::Answer,
    world::{Guest, STAY, World, booking},
};

async fn book(world: &World, guest: &Guest, key: &str, hold: &str, method: &str) -> Answer {
    world.post("/v1/bookings").token(&guest.token).key(key).json(&booking(hold, method)).send().await
}

async fn shown(world: &World, guest: &Guest, declined: &Answer) -> Answer {
    let path = format!("/v1/bookings/{}", declined.text_at("/attempt_id"));
    world.get(&path).token(&guest.token).send().await.expect(200)
}

#[tokio::test]
async fn a_failed_payment_whose_hold_has_ended_does_not_promise_the_hold() {
    let world = World::impatient().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    world.clock_ahead(590).await;
    book(&world, &guest, "k", &hold, "pm_timeout").await.expect(202);
    world.clock_ahead(200).await;
    world.reconcile().await;
    // Once while the hold waits for the expiry worker, and once after it.
    for _ in 0..2 {
        let told = book(&world, &guest, "k", &hold, "pm_timeout").await;
        let told = told.expect_problem(402, "PAYMENT_DECLINED");
        assert_eq!((told.at("/reason"), told.at("/hold_state")), (&json!("not_received"), &json!("EXPIRED")));
        assert_eq!(told.at("/next/action"), "requote");
        let detail = told.text_at("/detail");
        assert!(!detail.contains("as it was") && detail.contains("Nothing was taken."), "{detail}");
        let shown = shown(&world, &guest, &told).await;
        assert_eq!((shown.at("/hold_state"), shown.at("/next")), (&json!("EXPIRED"), told.at("/next")));
        world.expire().await;
    }
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_has_declined_nothing() {
    let world = World::without_a_provider().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let told = book(&world, &guest, "k", &hold, "pm_ok").await.expect_problem(402, "PAYMENT_DECLINED");
    assert_eq!(
        (told.at("/reason"), told.at("/hold_state")),
        (&json!("provider_unreachable"), &json!("ACTIVE"))
    );
    let said = told.text_at("/detail") + &told.text_at("/title");
    assert!(said.contains("could not be reached") && !said.contains("declined"), "{said}");
    assert_eq!(told.at("/next/action"), "new_key");
}

#[tokio::test]
async fn a_hold_that_another_payment_has_booked_is_looked_up_and_not_booked_anew() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    book(&world, &guest, "a", &hold, "pm_declined").await.expect_problem(402, "PAYMENT_DECLINED");
    book(&world, &guest, "b", &hold, "pm_ok").await.expect(201);
    let declined = book(&world, &guest, "a", &hold, "pm_declined").await;
    let declined = declined.expect_problem(402, "PAYMENT_DECLINED");
    assert_eq!(declined.at("/hold_state"), "CONSUMED");
    let path = format!("/v1/holds/{hold}");
    let quote = world.quote(&guest, STAY, 1).await;
    let swap = json!({"quote_id": quote, "replaces": hold});
    let late = [
        book(&world, &guest, "c", &hold, "pm_ok").await,
        world.delete(&path).token(&guest.token).fresh_key().send().await,
        world.post("/v1/holds").token(&guest.token).fresh_key().json(&swap).send().await,
    ];
    let late = late.map(|answer| answer.expect_problem(409, "HOLD_NOT_ACTIVE"));
    for answer in [declined].iter().chain(&late) {
        assert_eq!(answer.at("/next"), &json!({"action": "look_up", "at": "/v1/reservations"}));
    }
}

/// Customer action: 202 with the page, told again by a repeat and by a look, until it is decided.
#[tokio::test]
async fn a_customer_who_has_to_act_is_sent_to_the_providers_page() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let first = book(&world, &guest, "k", &hold, "pm_3ds").await.expect(202);
    assert_eq!(
        (first.at("/status"), first.at("/next_action/type")),
        (&json!("PENDING_PAYMENT"), &json!("redirect"))
    );
    let page = first.text_at("/next_action/url");
    let again = book(&world, &guest, "k", &hold, "pm_3ds").await.expect(202);
    assert!(again.is_replay());
    assert_eq!(again.at("/next_action"), first.at("/next_action"));
    let path = format!("/v1/bookings/{}", first.text_at("/id"));
    let shown = world.get(&path).token(&guest.token).send().await.expect(200);
    assert_eq!(shown.at("/next_action"), first.at("/next_action"));
    // Nobody else is told where the customer goes.
    let other = world.guest().await;
    world.get(&path).token(&other.token).send().await.expect_problem(404, "NOT_FOUND");

    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let asked = client.get(&page).send().await.expect("a page").text().await.expect("a text");
    assert!(asked.contains("/complete") && asked.contains("/abandon"), "{asked}");
    client.post(format!("{page}/complete")).send().await.expect("an answer");
    world.clock_ahead(301).await;
    world.reconcile().await;
    let booked = book(&world, &guest, "k", &hold, "pm_3ds").await.expect(201);
    assert_eq!((booked.at("/status"), booked.at("/next_action")), (&json!("CONFIRMED"), &json!(null)));
}

#[tokio::test]
async fn b019_a_page_that_was_left_alone_is_over_with_the_attempt() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    let page = book(&world, &guest, "k", &hold, "pm_3ds").await.expect(202).text_at("/next_action/url");
    world.clock_ahead(301).await;
    world.reconcile().await;
    let told = book(&world, &guest, "k", &hold, "pm_3ds").await.expect_problem(402, "PAYMENT_DECLINED");
    assert_eq!(
        (told.at("/reason"), told.at("/hold_state")),
        (&json!("action_not_completed"), &json!("ACTIVE"))
    );
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let late = client.post(format!("{page}/complete")).send().await.expect("a page");
    assert_eq!(late.status().as_u16(), 410);
    assert!(late.text().await.expect("a text").contains("Session expired"));
    assert_eq!(world.charges(), 2, "the authorization and its cancel: nothing was captured");
}
