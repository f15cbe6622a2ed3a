use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, STAY, World},
};

async fn booked(world: &World, guest: &Guest) -> String {
    let hold = world.hold(guest, STAY).await.expect(201).text_at("/id");
    world.book(guest, &hold, "pm_ok").await.expect(201).text_at("/reservation/id")
}

async fn price(world: &World, token: &str, id: &str, version: &str, wanted: Value) -> Answer {
    let call = world.post(&format!("/v1/reservations/{id}/changes")).token(token).fresh_key();
    call.header("if-match", version).json(&wanted).send().await
}

async fn confirm(world: &World, token: &str, path: &str, key: &str, payment: Value) -> Answer {
    let call = world.post(&format!("{path}/confirm")).token(token).key(key);
    call.header("if-match", "1").json(&payment).send().await
}

#[tokio::test]
async fn a_stay_is_priced_paid_and_changed_and_a_repeat_tells_the_same() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest).await;
    let priced =
        price(&world, &guest.token, &id, "\"1\"", json!({"check_out": "2026-11-17"})).await.expect(201);
    let path = priced.header("location").expect("a place").to_owned();
    assert_eq!(priced.at("/state"), "PRICED");
    assert_eq!(priced.at("/difference"), &json!({"amount": "7280.00", "currency": "INR"}));
    assert_eq!(priced.at("/charge"), priced.at("/difference"));
    assert_eq!(priced.at("/next/at"), &json!(format!("{path}/confirm")));
    let unpaid = confirm(&world, &guest.token, &path, "A", json!({})).await.expect_problem(422, "INVALID");
    assert_eq!(unpaid.at("/errors/0/pointer"), "/payment");
    let pay = |method: &str| json!({"payment": {"method_token": method}});
    let declined = confirm(&world, &guest.token, &path, "A", pay("pm_declined")).await;
    let declined = declined.expect_problem(402, "PAYMENT_DECLINED");
    assert_eq!(declined.at("/next/action"), "new_key");
    let done = confirm(&world, &guest.token, &path, "B", pay("pm_ok")).await.expect(200);
    assert_eq!((done.at("/state"), done.header("etag")), (&json!("COMPLETED"), Some("\"2\"")));
    let again = confirm(&world, &guest.token, &path, "B", pay("pm_ok")).await.expect(200);
    assert!(again.is_replay() && again.body == done.body, "{}", again.text);
    let reused = confirm(&world, &guest.token, &path, "B", pay("pm_slow")).await;
    reused.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    let late = confirm(&world, &guest.token, &path, "C", pay("pm_ok")).await.expect_problem(409, "CONFLICT");
    assert_eq!(late.at("/state"), "COMPLETED");
    let shown = world.get(&path).token(&guest.token).send().await.expect(200);
    assert_eq!((shown.at("/state"), shown.at("/version")), (&json!("COMPLETED"), &json!(2)));
    let stay = world.get(&format!("/v1/reservations/{id}")).token(&guest.token).send().await.expect(200);
    assert_eq!((stay.at("/check_out"), stay.at("/total/amount")), (&json!("2026-11-17"), &json!("21840.00")));
    let stale = price(&world, &guest.token, &id, "1", json!({"check_out": "2026-11-18"})).await;
    let stale = stale.expect_problem(412, "VERSION_CONFLICT");
    assert_eq!(stale.at("/current/version"), &json!(2));
}

#[tokio::test]
async fn odd_changes_are_told_by_field_and_strangers_see_nothing() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest).await;
    let odd = [
        (json!({}), "/errors/0/code", json!("NOTHING_CHANGES")),
        (json!({"check_out": "2026-11-14"}), "/errors/0/pointer", json!("/check_out")),
        (json!({"check_in": "2025-11-14", "check_out": "2025-11-16"}), "/errors/0/code", json!("PAST_DATE")),
        (json!({"rooms": []}), "/errors/0/pointer", json!("/rooms")),
        (
            json!({"rooms": [{"room_type": "RT-XXX", "rate_plan": "FLEX", "adults": 2}]}),
            "/errors/0/code",
            json!("UNKNOWN_ROOM_TYPE"),
        ),
        (json!({"nights": 3}), "/errors/0/code", json!("UNKNOWN_FIELD")),
    ];
    for (wanted, place, told) in odd {
        let refused =
            price(&world, &guest.token, &id, "1", wanted.clone()).await.expect_problem(422, "INVALID");
        assert_eq!(refused.at(place), &told, "{wanted}");
    }
    let blind = world.post(&format!("/v1/reservations/{id}/changes")).token(&guest.token).fresh_key();
    blind.json(&json!({"check_out": "2026-11-17"})).send().await.expect_problem(428, "PRECONDITION_REQUIRED");
    let priced = price(&world, &guest.token, &id, "1", json!({"check_out": "2026-11-15"})).await.expect(201);
    let path = priced.header("location").expect("a place").to_owned();
    let elsewhere = world.credential("HTL-310", Role::Staff).await;
    for token in [&world.guest().await.token, &elsewhere] {
        price(&world, token, &id, "1", json!({"check_out": "2026-11-15"}))
            .await
            .expect_problem(404, "NOT_FOUND");
        world.get(&path).token(token).send().await.expect_problem(404, "NOT_FOUND");
        confirm(&world, token, &path, "K", json!({})).await.expect_problem(404, "NOT_FOUND");
    }
    // The hotel's own people may.
    let staff = world.credential("HTL-204", Role::Staff).await;
    confirm(&world, &staff, &path, "K", json!({})).await.expect(200);
}

/// B012, B078: a name alone; of two edits of one version one is made.
#[tokio::test]
async fn b012_b078_a_guests_name_is_changed_alone_and_under_its_version() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest).await;
    let path = format!("/v1/reservations/{id}");
    let rename = |name: &str, version: &str, key: &str| {
        let body = json!({"guest": {"name": name, "email": "zoe@example.com"}});
        let call = world.call(reqwest::Method::PATCH, &path).token(&guest.token).key(key);
        call.header("if-match", version).json(&body).send()
    };
    let done = rename("Zoë Nguyễn-O'Neil", "1", "A").await.expect(200);
    assert_eq!((done.at("/guest/name"), done.header("etag")), (&json!("Zoë Nguyễn-O'Neil"), Some("\"2\"")));
    assert_eq!(done.at("/total/amount"), "14560.00");
    assert!(rename("Zoë Nguyễn-O'Neil", "1", "A").await.expect(200).is_replay());
    let stale = rename("Somebody", "1", "B").await.expect_problem(412, "VERSION_CONFLICT");
    assert_eq!(stale.at("/current/guest/name"), "Zoë Nguyễn-O'Neil");
    for name in ["", "A\u{0}B", "   "] {
        let refused = rename(name, "2", "C").await.expect_problem(422, "INVALID");
        assert_eq!(refused.at("/errors/0/pointer"), "/guest/name", "{name:?}");
    }
}
