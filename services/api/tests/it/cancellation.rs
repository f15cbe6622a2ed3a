use keyrack_domain::principal::Role;
use serde_json::json;

use crate::{
    answer::Answer,
    world::{Guest, STAY, World},
};

/// A reservation of so many rooms.
async fn booked(world: &World, guest: &Guest, rooms: usize) -> String {
    let quote = world.quote(guest, STAY, rooms).await;
    let hold = world.post("/v1/holds").token(&guest.token).fresh_key().json(&json!({"quote_id": quote}));
    let hold = hold.send().await.expect(201).text_at("/id");
    world.book(guest, &hold, "pm_ok").await.expect(201).text_at("/reservation/id")
}

async fn cancel(world: &World, token: &str, path: &str, if_match: &str, key: &str) -> Answer {
    let path = format!("/v1/reservations/{path}/cancel");
    world.post(&path).token(token).key(key).header("if-match", if_match).send().await
}

#[tokio::test]
async fn the_preview_tells_what_the_cancellation_then_does() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest, 1).await;
    let preview = world.get(&format!("/v1/reservations/{id}/cancellation-preview")).token(&guest.token);
    let preview = preview.send().await.expect(200);
    let tag = preview.header("etag").expect("a tag").to_owned();
    assert_eq!((tag.as_str(), preview.at("/version")), ("\"1\"", &json!(1)));
    let done = cancel(&world, &guest.token, &id, &tag, "K").await.expect(200);
    assert_eq!((done.header("etag"), done.at("/state")), (Some("\"2\""), &json!("CANCELLED")));
    for part in ["/rooms", "/penalty", "/refund"] {
        assert_eq!(preview.at(part), done.at(part), "{part}");
    }
    assert_eq!(done.at("/rooms"), &json!([{"room": 1, "penalty": "0.00", "refund": "14560.00"}]));
    assert_eq!(done.at("/refund"), &json!({"amount": "14560.00", "currency": "INR"}));
    let again = cancel(&world, &guest.token, &id, &tag, "K").await.expect(200);
    assert!(again.is_replay() && again.body == done.body, "{}", again.text);
    let shown = world.get(&format!("/v1/reservations/{id}")).token(&guest.token).send().await.expect(200);
    assert_eq!((shown.at("/state"), shown.header("etag")), (&json!("CANCELLED"), Some("\"2\"")));
    assert_eq!(shown.at("/rooms/0/penalty"), "0.00");
    assert!(shown.text_at("/rooms/0/cancelled_at").ends_with('Z'), "{}", shown.text);
    assert_eq!(shown.at("/refunds/0/amount"), done.at("/refund"));
    let after = world.get(&format!("/v1/reservations/{id}/cancellation-preview")).token(&guest.token);
    assert_eq!(after.send().await.expect(200).at("/rooms"), &json!([]));
}

#[tokio::test]
async fn a_cancellation_needs_the_version_and_a_stale_one_is_told_the_present() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest, 2).await;
    let path = format!("/v1/reservations/{id}/cancel");
    let blind = world.post(&path).token(&guest.token).key("K").send().await;
    blind.expect_problem(428, "PRECONDITION_REQUIRED");
    let odd = cancel(&world, &guest.token, &id, "W/\"1\"", "K").await;
    odd.expect_problem(400, "MALFORMED");
    let room = cancel(&world, &guest.token, &format!("{id}/rooms/2"), "1", "K").await.expect(200);
    assert_eq!((room.at("/state"), room.at("/rooms/0/room")), (&json!("CONFIRMED"), &json!(2)));
    let stale = cancel(&world, &guest.token, &id, "1", "L").await.expect_problem(412, "VERSION_CONFLICT");
    assert_eq!((stale.header("etag"), stale.at("/current/version")), (Some("\"2\""), &json!(2)));
    assert_eq!(stale.at("/current/rooms/1/penalty"), "0.00");
    assert_eq!(stale.at("/current/rooms/0/penalty"), &serde_json::Value::Null);
    let reused = cancel(&world, &guest.token, &format!("{id}/rooms/1"), "2", "K").await;
    reused.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    cancel(&world, &guest.token, &id, "2", "L").await.expect(200);
}

#[tokio::test]
async fn only_its_guest_and_its_hotel_can_cancel_a_reservation() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest, 2).await;
    let channel = world.credential("HTL-204", Role::Channel).await;
    let elsewhere = world.credential("HTL-310", Role::Staff).await;
    for token in [&world.guest().await.token, &channel, &elsewhere] {
        cancel(&world, token, &id, "1", "K").await.expect_problem(404, "NOT_FOUND");
        let preview = world.get(&format!("/v1/reservations/{id}/cancellation-preview")).token(token);
        preview.send().await.expect_problem(404, "NOT_FOUND");
    }
    for room in ["0", "3", "-1", "x", "99999"] {
        let nothing = cancel(&world, &guest.token, &format!("{id}/rooms/{room}"), "1", "K").await;
        nothing.expect_problem(404, "NOT_FOUND");
    }
    let staff = world.credential("HTL-204", Role::Staff).await;
    cancel(&world, &staff, &id, "1", "K").await.expect(200);
}

/// RFC 9110 reads several headers as one list, of which any tag would do: nobody has said which version is meant.
#[tokio::test]
async fn if_match_that_names_two_versions_is_refused_and_changes_nothing() {
    let world = World::new().await;
    let guest = world.guest().await;
    let id = booked(&world, &guest, 1).await;
    let call = || world.post(&format!("/v1/reservations/{id}/cancel")).token(&guest.token).fresh_key();
    for (first, second) in [("\"1\"", "\"2\""), ("\"2\"", "\"1\""), ("\"1\"", "\"1\""), ("\"1\"", "*")] {
        let twice = call().header("if-match", first).header("if-match", second);
        twice.send().await.expect_problem(400, "MALFORMED");
        let list = call().header("if-match", &format!("{first}, {second}"));
        list.send().await.expect_problem(400, "MALFORMED");
    }
    let shown = world.get(&format!("/v1/reservations/{id}")).token(&guest.token).send().await.expect(200);
    assert_eq!((shown.at("/state"), shown.header("etag")), (&json!("CONFIRMED"), Some("\"1\"")));
    call().header("if-match", "\"1\"").send().await.expect(200);
}
