//! `/v1/hotels/{hotel}/pms`, as a hotel's own system and the hotel's staff meet it.

use keyrack_domain::principal::Role;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    world::{STAY, World, pms_batch},
};

const BATCHES: &str = "/v1/hotels/HTL-204/pms/batches";
const CONFLICTS: &str = "/v1/hotels/HTL-204/pms/conflicts";

async fn send(world: &World, token: &str, body: &Value) -> Answer {
    world.post(BATCHES).token(token).fresh_key().json(body).send().await
}

fn with(pointer: &str, value: Value) -> Value {
    let mut body = pms_batch(1);
    *body.pointer_mut(pointer).expect("a place") = value;
    body
}

#[tokio::test]
async fn a_batch_is_applied_repeated_superseded_and_read_again() {
    let world = World::new().await;
    let pms = world.credential("HTL-204", Role::Pms).await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let taken = send(&world, &pms, &pms_batch(885)).await.expect(200);
    assert_eq!((taken.at("/sequence"), taken.text_at("/outcome")), (&json!(885), "applied".into()));
    assert_eq!(taken.at("/lines/1"), &json!({"index": 1, "outcome": "applied"}));
    assert_eq!((taken.at("/conflicts"), taken.at("/nights_changed")), (&json!([]), &json!(2)));
    let again = send(&world, &pms, &pms_batch(885)).await.expect(200);
    assert!(again.is_replay());
    assert_eq!((again.text_at("/outcome"), again.at("/lines")), ("replayed".into(), taken.at("/lines")));
    let late = send(&world, &pms, &pms_batch(884)).await.expect(200);
    assert_eq!(
        (late.text_at("/outcome"), late.text_at("/lines/0/outcome")),
        ("superseded".into(), "superseded".into())
    );
    let mut other = pms_batch(885);
    other["nights"][0]["sellable"] = json!(1);
    send(&world, &pms, &other).await.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    for token in [&pms, &staff] {
        let read = world.get(&format!("{BATCHES}/885")).token(token).send().await.expect(200);
        assert_eq!((read.text_at("/outcome"), read.at("/lines")), ("applied".into(), taken.at("/lines")));
    }
    let cursor = world.get("/v1/hotels/HTL-204/pms/cursor").token(&pms).send().await.expect(200);
    assert_eq!(cursor.body, json!({"sequence": 885}));
    let gap = json!({"sequence": 887, "mode": "delta", "nights": [{"room_type": "RT-DLX", "night": STAY.0, "change": -1}]});
    let refused = send(&world, &pms, &gap).await.expect_problem(409, "SEQUENCE_GAP");
    assert_eq!(refused.at("/expected"), 886);
}

#[tokio::test]
async fn a_conflict_is_listed_and_resolved_once() {
    let world = World::new().await;
    let pms = world.credential("HTL-204", Role::Pms).await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    let guest = world.guest().await;
    world.hold(&guest, ("2026-11-14", "2026-11-15")).await.expect(201);
    let taken = send(&world, &pms, &with("/nights/0/sellable", json!(0))).await.expect(200);
    assert_eq!(
        (taken.text_at("/lines/0/outcome"), taken.text_at("/lines/0/reason")),
        ("conflict".into(), "BELOW_COMMITTED".into())
    );
    let listed = world.get(CONFLICTS).token(&staff).send().await.expect(200);
    let id = listed.text_at("/items/0/id");
    assert_eq!(
        (taken.text_at("/conflicts/0"), listed.text_at("/items/0/state")),
        (id.clone(), "OPEN".into())
    );
    let night = "/v1/hotels/HTL-204/inventory?room_type=RT-DLX&first_night=2026-11-14&last_night=2026-11-14";
    let counted = world.get(night).token(&staff).send().await.expect(200);
    assert_eq!((counted.at("/items/0/available"), counted.at("/items/0/reported")), (&json!(0), &json!(0)));
    let quote = json!({"hotel": "HTL-204", "check_in": "2026-11-14", "check_out": "2026-11-15",
        "rooms": [{"room_type": "RT-DLX", "rate_plan": "FLEX", "adults": 2, "children_ages": []}]});
    let stopped = world.post("/v1/quotes").token(&guest.token).fresh_key().json(&quote).send().await;
    let stopped = stopped.expect_problem(409, "RESTRICTION_VIOLATED");
    assert_eq!(stopped.text_at("/violations/0/rule"), "PMS_CONFLICT");

    let path = format!("{CONFLICTS}/{id}/resolve");
    let resolve = async |key: &str, action: &str| {
        world.post(&path).token(&staff).key(key).json(&json!({"action": action})).send().await
    };
    resolve("k", "forget").await.expect_problem(422, "INVALID");
    let accepted = resolve("k", "accept").await.expect(200);
    assert_eq!(accepted.text_at("/state"), "ACCEPTED");
    let again = resolve("k", "accept").await.expect(200);
    assert!(again.is_replay());
    resolve("k", "walk").await.expect_problem(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(resolve("l", "walk").await.expect_problem(409, "CONFLICT").text_at("/state"), "ACCEPTED");
    assert_eq!(world.get(CONFLICTS).token(&staff).send().await.expect(200).at("/items"), &json!([]));
    let ended = world.get(&format!("{CONFLICTS}?state=ACCEPTED")).token(&staff).send().await.expect(200);
    assert_eq!(ended.text_at("/items/0/id"), id);
    world.get(CONFLICTS).token(&pms).send().await.expect_problem(404, "NOT_FOUND");
}

#[tokio::test]
async fn b139_another_hotels_system_and_other_roles_find_nothing() {
    let world = World::new().await;
    let elsewhere = world.credential("HTL-310", Role::Pms).await;
    let staff = world.credential("HTL-204", Role::Staff).await;
    for token in [&elsewhere, &staff, &world.operator, &world.guest().await.token] {
        send(&world, token, &pms_batch(1)).await.expect_problem(404, "NOT_FOUND");
    }
    world.get(&format!("{BATCHES}/1")).token(&elsewhere).send().await.expect_problem(404, "NOT_FOUND");
}

/// What cannot be read as it is meant applies nothing, and the sequence can be used again.
#[tokio::test]
async fn odd_input_is_refused_by_its_place() {
    let world = World::new().await;
    let pms = world.credential("HTL-204", Role::Pms).await;
    let cases = [
        (with("/sequence", json!(0)), "/sequence"),
        (with("/sequence", json!("1")), "/sequence"),
        (with("/mode", json!("overwrite")), "/mode"),
        (with("/nights", json!([])), "/nights"),
        (with("/nights/0/night", json!("2026-11-31")), "/nights/0/night"),
        (with("/nights/0/sellable", json!(1.5)), "/nights/0/sellable"),
        (with("/nights/0/sellable", json!(null)), "/nights/0/sellable"),
        (with("/nights/1/night", json!("2026-11-14")), "/nights/1"),
        (with("/nights/1", json!({"room_type": "RT-DLX", "sellable": 4})), "/nights/1"),
        (
            with(
                "/nights/1",
                json!({"room_type": "RT-DLX", "night": "2026-11-15", "sellable": 4, "units": 1}),
            ),
            "/nights/1/units",
        ),
        (with("/mode", json!("full")), "/window"),
        (
            with(
                "/nights/1",
                json!({"room_type": "RT-DLX", "first_night": "2026-11-15", "last_night": "9999-12-31", "sellable": 1}),
            ),
            "/nights",
        ),
    ];
    for (body, pointer) in cases {
        let refused = send(&world, &pms, &body).await.expect_problem(422, "INVALID");
        assert_eq!(refused.text_at("/errors/0/pointer"), pointer, "{body}");
    }
    let not_json = world.post(BATCHES).token(&pms).fresh_key().text("{\"sequence\": 1");
    not_json.header("content-type", "application/json").send().await.expect_problem(400, "MALFORMED");
    world.get(&format!("{BATCHES}/x")).token(&pms).send().await.expect_problem(404, "NOT_FOUND");
    send(&world, &pms, &pms_batch(1)).await.expect(200);
}

/// Ten thousand nights are one body, here and nowhere else.
#[tokio::test]
async fn a_body_of_ten_thousand_nights_is_read_and_one_beyond_the_limit_is_not() {
    let world = World::new().await;
    let pms = world.credential("HTL-204", Role::Pms).await;
    let line = |n: usize| json!({"room_type": format!("RT-UNKNOWN-{n:05}-AND-LONG"), "night": STAY.0, "sellable": 5});
    let batch = |lines: usize| json!({"sequence": 1, "mode": "absolute", "nights": (0..lines).map(line).collect::<Vec<_>>()});
    let too_many = send(&world, &pms, &batch(10_001)).await.expect_problem(422, "INVALID");
    assert_eq!(too_many.text_at("/errors/0/pointer"), "/nights");
    let taken = send(&world, &pms, &batch(10_000)).await.expect(200);
    assert_eq!(taken.at("/lines").as_array().map(Vec::len), Some(10_000));
    send(&world, &pms, &batch(30_000)).await.expect_problem(413, "PAYLOAD_TOO_LARGE");
    let inventory = world.put("/v1/hotels/HTL-204/inventory").token(&world.operator).fresh_key();
    inventory.json(&batch(10_000)).send().await.expect_problem(413, "PAYLOAD_TOO_LARGE");
}
