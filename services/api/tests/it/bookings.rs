use keyrack_testkit::Gates;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{Guest, STAY, World, booking},
};

async fn held(world: &World, guest: &Guest) -> String {
    world.hold(guest, STAY).await.expect(201).text_at("/id")
}

async fn book_with(world: &World, guest: &Guest, key: &str, body: &Value) -> Answer {
    world.post("/v1/bookings").token(&guest.token).key(key).json(body).send().await
}

#[tokio::test]
async fn a_paid_hold_is_a_reservation() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = held(&world, &guest).await;
    let booked = book_with(&world, &guest, "k", &booking(&hold, "pm_ok")).await.expect(201);
    assert_eq!(booked.at("/status"), "CONFIRMED");
    let id = booked.text_at("/reservation/id");
    assert!(id.starts_with("res_") && booked.text_at("/id").starts_with("att_"));
    assert_eq!(booked.header("location"), Some(format!("/v1/reservations/{id}").as_str()));
    assert_eq!(booked.header("etag"), Some("\"1\""));
    assert_eq!(booked.at("/reservation/total"), &json!({"amount": "14560.00", "currency": "INR"}));
    assert_eq!(booked.at("/reservation/rooms/0/nights/0/amount"), "6500.00");
    assert_eq!(booked.at("/reservation/guest/name"), "Zoë Nguyễn");
    let until = booked.at("/reservation/rooms/0/cancellation/0/until");
    assert_eq!(until, &json!({"at": "2026-11-12T12:30:00Z", "local": "2026-11-12T18:00:00+05:30"}));
    let repeat = book_with(&world, &guest, "k", &booking(&hold, "pm_ok")).await.expect(201);
    assert!(repeat.is_replay() && !booked.is_replay());
    assert_eq!(repeat.body, booked.body);
    let path = format!("/v1/bookings/{}", booked.text_at("/id"));
    let shown = world.get(&path).token(&guest.token).send().await.expect(200);
    assert_eq!(shown.body, booked.body);
    let hold = world.get(&format!("/v1/holds/{hold}")).token(&guest.token).send().await.expect(200);
    assert_eq!(hold.at("/state"), "CONSUMED");
}

#[tokio::test]
async fn b015_without_an_own_hold_nothing_is_paid() {
    let world = World::new().await;
    let (one, other) = (world.guest().await, world.guest().await);
    let hold = held(&world, &one).await;
    let mut missing = booking(&hold, "pm_ok");
    missing.as_object_mut().expect("an object").remove("hold_id");
    book_with(&world, &other, "a", &missing).await.expect_invalid("/hold_id", "MISSING");
    for (key, value) in [("b", json!(null)), ("c", json!(7)), ("d", json!(""))] {
        missing["hold_id"] = value;
        let answer = book_with(&world, &other, key, &missing).await.expect_problem(422, "INVALID");
        assert_eq!(answer.at("/errors/0/pointer"), "/hold_id");
    }
    let unknown = hold.replace(&hold[12..], &"0".repeat(hold.len() - 12));
    for (key, id) in [("e", unknown.as_str()), ("f", hold.as_str()), ("g", "nonsense"), ("h", "res_1")] {
        book_with(&world, &other, key, &booking(id, "pm_ok")).await.expect_problem(404, "NOT_FOUND");
    }
    assert_eq!(world.charges(), 0);
}

#[tokio::test]
async fn b018_a_declined_card_leaves_the_hold_as_it_was_for_another() {
    let world = World::new().await;
    let guest = world.guest().await;
    let before = world.hold(&guest, STAY).await.expect(201);
    let hold = before.text_at("/id");
    for key in ["a", "b"] {
        let declined = book_with(&world, &guest, key, &booking(&hold, "pm_declined")).await;
        let declined = declined.expect_problem(402, "PAYMENT_DECLINED");
        assert_eq!(declined.at("/next/action"), "new_key");
        assert_eq!(declined.text_at("/hold_id"), hold);
        let after = world.get(&format!("/v1/holds/{hold}")).token(&guest.token).send().await.expect(200);
        assert_eq!(after.body, before.body);
        let path = format!("/v1/bookings/{}", declined.text_at("/attempt_id"));
        let shown = world.get(&path).token(&guest.token).send().await.expect(200);
        assert_eq!((shown.at("/status"), shown.at("/reason")), (&json!("FAILED"), declined.at("/reason")));
    }
    let repeat = book_with(&world, &guest, "a", &booking(&hold, "pm_declined")).await;
    assert!(repeat.expect_problem(402, "PAYMENT_DECLINED").is_replay());
    let other = book_with(&world, &guest, "a", &booking(&hold, "pm_ok")).await;
    other.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    let booked = book_with(&world, &guest, "c", &booking(&hold, "pm_ok")).await.expect(201);
    assert_eq!(booked.at("/status"), "CONFIRMED");
}

#[tokio::test]
async fn an_outcome_that_nobody_knows_is_told_as_such() {
    let world = World::impatient().await;
    let guest = world.guest().await;
    let hold = held(&world, &guest).await;
    let pending = book_with(&world, &guest, "k", &booking(&hold, "pm_timeout")).await.expect(202);
    let path = format!("/v1/bookings/{}", pending.text_at("/id"));
    assert_eq!(pending.at("/status"), "PENDING_PAYMENT");
    assert_eq!(pending.at("/next/action"), "look_up");
    assert_eq!(pending.text_at("/next/at"), path);
    assert_eq!(pending.header("location"), Some(path.as_str()));
    assert!(pending.header("retry-after").is_some() && pending.at("/reservation").is_null());
    let repeat = book_with(&world, &guest, "k", &booking(&hold, "pm_timeout")).await.expect(202);
    assert!(repeat.is_replay());
    let shown = world.get(&path).token(&guest.token).send().await.expect(200);
    assert_eq!(shown.body, pending.body);
    let second = book_with(&world, &guest, "other", &booking(&hold, "pm_ok")).await;
    let second = second.expect_problem(409, "ATTEMPT_IN_PROGRESS");
    assert_eq!((second.text_at("/next/at"), second.at("/attempt_id")), (path, pending.at("/id")));
    let delete = world.delete(&format!("/v1/holds/{hold}")).token(&guest.token).fresh_key().send().await;
    delete.expect_problem(409, "ATTEMPT_IN_PROGRESS");
}

#[tokio::test]
async fn an_expired_hold_takes_no_money() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = held(&world, &guest).await;
    world.clock_ahead(601).await;
    let late = book_with(&world, &guest, "k", &booking(&hold, "pm_ok")).await;
    let late = late.expect_problem(410, "HOLD_EXPIRED");
    assert_eq!(late.at("/next/action"), "requote");
    assert_eq!(world.charges(), 0);
}

#[tokio::test]
async fn b132_a_name_that_cannot_be_stored_names_its_field_and_costs_neither_hold_nor_key() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = held(&world, &guest).await;
    let cases = [
        ("A\0B".to_owned(), "CONTROL_CHARACTER"),
        ("x".repeat(10_000), "TOO_LONG"),
        ("   ".to_owned(), "BLANK"),
        (String::new(), "BLANK"),
    ];
    for (name, code) in cases {
        let mut body = booking(&hold, "pm_ok");
        body["guest"]["name"] = json!(name);
        book_with(&world, &guest, "k", &body).await.expect_invalid("/guest/name", code);
    }
    let lone = booking(&hold, "pm_ok").to_string().replace("Zoë", "\\ud800");
    let call = world.post("/v1/bookings").token(&guest.token).key("k");
    call.text(&lone).send().await.expect_invalid("/guest/name", "INVALID_TEXT");
    let mut nobody = booking(&hold, "pm_ok");
    nobody["guest"].as_object_mut().expect("an object").remove("email");
    book_with(&world, &guest, "k", &nobody).await.expect_invalid("/guest/email", "MISSING");
    nobody["guest"]["email"] = json!("not an email");
    book_with(&world, &guest, "k", &nobody).await.expect_invalid("/guest/email", "NOT_AN_EMAIL");
    book_with(&world, &guest, "k", &booking(&hold, "4111111111111111"))
        .await
        .expect_invalid("/payment/method_token", "INVALID_VALUE");
    assert_eq!(world.charges(), 0);
    book_with(&world, &guest, "k", &booking(&hold, "pm_ok")).await.expect(201);
}

#[tokio::test]
async fn b135_b136_b137_names_come_back_byte_for_byte_as_json_that_no_browser_sniffs() {
    let world = World::new().await;
    let guest = world.guest().await;
    world.sellable(STAY, 50).await;
    let names = [
        "👩\u{200d}👩\u{200d}👧 Zoë Nguyễn-O'Neil",
        "محمد \u{200f}الأمين",
        "Jose\u{301}",
        "José",
        "Aaron O'Sullivan",
        "Michaël D'Hondt",
        "Nguyễn; DROP TABLE",
        "X",
        "<img src=x onerror=alert(1)>",
    ];
    for (n, name) in names.into_iter().enumerate() {
        let hold = held(&world, &guest).await;
        let mut body = booking(&hold, "pm_ok");
        body["guest"]["name"] = json!(name);
        body["guest"]["note"] = json!("\"><script>alert(1)</script>");
        let booked = book_with(&world, &guest, &format!("k-{n}"), &body).await.expect(201);
        let path = format!("/v1/reservations/{}", booked.text_at("/reservation/id"));
        let shown = world.get(&path).token(&guest.token).send().await.expect(200);
        for answer in [&booked.at("/reservation/guest"), &shown.at("/guest")] {
            assert_eq!(answer["name"].as_str().map(str::as_bytes), Some(name.as_bytes()));
            assert_eq!(answer["note"], "\"><script>alert(1)</script>");
        }
        assert_eq!(shown.header("content-type"), Some("application/json"));
        assert_eq!(shown.header("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn b046_the_same_key_on_two_endpoints_names_two_calls() {
    let world = World::new().await;
    let guest = world.guest().await;
    let quote = world.quote(&guest, STAY, 1).await;
    let call = world.post("/v1/holds").token(&guest.token).key("same");
    let hold = call.json(&json!({"quote_id": quote})).send().await.expect(201).text_at("/id");
    let booked = book_with(&world, &guest, "same", &booking(&hold, "pm_ok")).await.expect(201);
    assert!(!booked.is_replay());
    let call = world.delete(&format!("/v1/holds/{hold}")).token(&guest.token).key("same");
    let released = call.send().await.expect_problem(409, "HOLD_NOT_ACTIVE");
    assert_eq!(released.at("/state"), "CONSUMED");
}

/// The key stands for one intention: not for another hold, not for another card, and for the same whatever
/// the order of its fields.
#[tokio::test]
async fn b043_a_key_of_another_booking_charges_nothing_and_reordered_fields_are_the_same_call() {
    let world = World::new().await;
    let guest = world.guest().await;
    let (first, second) = (held(&world, &guest).await, held(&world, &guest).await);
    let booked = book_with(&world, &guest, "k", &booking(&first, "pm_ok")).await.expect(201);
    let charges = world.charges();
    for other in [booking(&second, "pm_ok"), booking(&first, "pm_declined")] {
        book_with(&world, &guest, "k", &other).await.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    }
    assert_eq!(world.charges(), charges);
    let path = format!("/v1/holds/{second}");
    assert_eq!(world.get(&path).token(&guest.token).send().await.expect(200).at("/state"), "ACTIVE");
    let reordered = format!(
        r#"{{ "guest": {{"email": "zoe@example.org", "name": "Zo\u00eb Nguyễn"}},
             "payment": {{"method_token": "pm_ok"}}, "hold_id": "{first}" }}"#
    );
    let call = world.post("/v1/bookings").token(&guest.token).key("k");
    let repeat = call.text(&reordered).send().await.expect(201);
    assert!(repeat.is_replay());
    assert_eq!(repeat.at("/reservation/id"), booked.at("/reservation/id"));
}

/// B052: what is still running and what was something else are different things.
#[tokio::test]
async fn b052_a_call_in_progress_is_to_be_repeated_and_a_reused_key_is_not() {
    let gates = Gates::new();
    let world = World::gated(&gates).await;
    let guest = world.guest().await;
    let hold = held(&world, &guest).await;
    let (body, other) = (booking(&hold, "pm_ok"), booking(&hold, "pm_declined"));
    let mut gate = gates.close("start_attempt.before_commit");
    let first = book_with(&world, &guest, "k", &body);
    let meanwhile = async {
        gate.reached().await;
        let copy = book_with(&world, &guest, "k", &body).await;
        gate.open();
        copy
    };
    let (first, copy) = tokio::join!(first, meanwhile);
    let copy = copy.expect_problem(409, "OPERATION_IN_PROGRESS");
    assert!(copy.header("retry-after").is_some());
    assert_eq!(copy.at("/next/action"), "retry_same_key");
    first.expect(201);
    let reused = book_with(&world, &guest, "k", &other).await.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    assert!(reused.header("retry-after").is_none());
    assert_eq!(reused.at("/next/action"), "new_key");
}

#[tokio::test]
async fn b139_a_booking_of_someone_else_is_not_found() {
    let world = World::new().await;
    let (one, other) = (world.guest().await, world.guest().await);
    let hold = held(&world, &one).await;
    let booked = book_with(&world, &one, "k", &booking(&hold, "pm_ok")).await.expect(201);
    for path in [
        format!("/v1/bookings/{}", booked.text_at("/id")),
        format!("/v1/reservations/{}", booked.text_at("/reservation/id")),
        "/v1/bookings/nonsense".to_owned(),
        "/v1/reservations/att_1".to_owned(),
    ] {
        world.get(&path).token(&other.token).send().await.expect_problem(404, "NOT_FOUND");
    }
    let same = book_with(&world, &other, "k", &booking(&hold, "pm_ok")).await;
    same.expect_problem(404, "NOT_FOUND");
}
