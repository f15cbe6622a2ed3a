//! Every operation of the document is asked without credentials, and every operation of a hotel with
//! those of another hotel.

use keyrack_api::document;
use keyrack_domain::principal::Role;
use keyrack_http::Contract;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, booking, channel_booking, new_hotel, pms_batch, stay};

/// Of a hotel that there is; nobody has it.
const SOME_HOLD: &str = "hld_000000010197b3c0a0de7c3f9b6a3d2e8f1a4b5c";

const SOME_REFUND: &str = "ref_000000010197b3c0a0de7c3f9b6a3d2e8f1a4b5c";

const SOME_FINDING: &str = "fnd_000000000197b3c0a0de7c3f9b6a3d2e8f1a4b5c";

const SOME_RESERVATION: &str = "res_000000010197b3c0a0de7c3f9b6a3d2e8f1a4b5c";

/// This list may only shrink; what is added to it is decided by people.
const PUBLIC: [&str; 8] = [
    "GET /healthz",
    "GET /metrics",
    "GET /openapi.json",
    "GET /problems/{code}",
    "GET /readyz",
    "GET /v1/hotels/{hotel}",
    "POST /v1/guest-sessions",
    // Signed by the provider.
    "POST /v1/webhooks/payments/{provider}",
];

/// With something in place of every parameter.
fn filled(path: &str, hotel: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "{hotel}" => hotel,
        part if part.starts_with('{') => "x",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

fn method(name: &str) -> Method {
    name.parse().expect("a method")
}

#[tokio::test]
async fn every_operation_but_the_public_ones_asks_who_is_calling() {
    let world = World::new().await;
    let contract = Contract::new(&document());
    for public in PUBLIC {
        assert!(contract.all().any(|(path, name, _)| format!("{name} {path}") == public), "{public} is gone");
    }
    for (path, name, entry) in contract.all() {
        let operation = format!("{name} {path}");
        assert_eq!(entry.public, PUBLIC.contains(&operation.as_str()), "{operation}");
        let target = filled(path, "HTL-204");
        for call in [
            world.call(method(name), &target),
            world.call(method(name), &target).token("krk_unknown"),
            world.call(method(name), &target).header("authorization", "Basic eDp4"),
            world.call(method(name), &format!("{target}?unknown=1")).text("not json"),
        ] {
            let answer = call.send().await;
            assert_eq!(answer.status == 401, !entry.public, "{operation}: {}", answer.text);
        }
    }
}

/// Input that would do for each operation of a hotel: what is refused for its shape would prove nothing.
fn input(operation: &str) -> (&'static str, Value) {
    let range = json!({"room_type": "RT-DLX", "first_night": "2026-11-14", "last_night": "2026-11-15"});
    let change = |field: &str, value: Value| {
        let mut change = range.clone();
        change[field] = value;
        if operation.ends_with("/rates") {
            change["rate_plan"] = json!("FLEX");
        }
        json!({"changes": [change]})
    };
    let nights = "?room_type=RT-DLX&first_night=2026-11-14&last_night=2026-11-15";
    match operation {
        "PUT /v1/hotels/{hotel}/inventory" => ("", change("sellable", json!(1))),
        "PUT /v1/hotels/{hotel}/rates" => ("", change("amount", json!("6500.00"))),
        "PUT /v1/hotels/{hotel}/restrictions" => ("", change("stop_sell", json!(true))),
        "POST /v1/hotels/{hotel}/credentials" => ("", json!({"role": "staff", "name": "x"})),
        "GET /v1/hotels/{hotel}/inventory"
        | "GET /v1/hotels/{hotel}/rates"
        | "GET /v1/hotels/{hotel}/restrictions" => (nights, Value::Null),
        "POST /v1/hotels" => ("", new_hotel()),
        "POST /v1/quotes" => ("", stay()),
        "POST /v1/holds" => ("", json!({"quote_id": "quo_x"})),
        "POST /v1/bookings" => ("", booking("hld_x", "pm_ok")),
        "POST /v1/reservations/{id}/changes" => ("", json!({"check_out": "2026-11-17"})),
        "PATCH /v1/reservations/{id}" => ("", json!({"guest": {"name": "B", "email": "b@example.com"}})),
        "POST /v1/reservations/{id}/changes/{change}/confirm"
        | "POST /v1/hotels/{hotel}/reservations/{id}/check-out" => ("", json!({})),
        "PUT /v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}" => ("", channel_booking()),
        "POST /v1/ops/settlement-findings/{id}/close" => ("", json!({"note": "x"})),
        "POST /v1/hotels/{hotel}/pms/batches" => ("", pms_batch(885)),
        "POST /v1/hotels/{hotel}/pms/conflicts/{id}/resolve" => ("", json!({"action": "accept"})),
        "POST /v1/hotels/{hotel}/reservations/{id}/refunds" => ("", json!({"amount": "1.00", "reason": "x"})),
        "POST /v1/hotels/{hotel}/reservations/{id}/check-in"
        | "POST /v1/hotels/{hotel}/reservations/{id}/no-show"
        | "POST /v1/hotels/{hotel}/reservations/{id}/no-show/undo"
        | "POST /v1/hotels/{hotel}/reservations/{id}/charges/{number}/paid"
        | "POST /v1/reservations/{id}/cancel"
        | "POST /v1/reservations/{id}/rooms/{room}/cancel"
        | "POST /v1/ops/refunds/{id}/retry"
        | "POST /v1/ops/dead-letters/{id}/replay"
        | "POST /v1/ops/dead-letters/{id}/discard"
        | "GET /v1/hotels/{hotel}/pms/batches/{sequence}"
        | "GET /v1/hotels/{hotel}/pms/conflicts"
        | "GET /v1/hotels/{hotel}/pms/cursor"
        | "GET /v1/hotels/{hotel}/channel-bookings"
        | "GET /v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}"
        | "DELETE /v1/hotels/{hotel}/channel-bookings/{channel}/{booking_id}"
        | "DELETE /v1/holds/{id}" => ("", Value::Null),
        other => panic!("say what {other} takes"),
    }
}

/// What is exempt from having a key.
const WITHOUT_KEY: [&str; 3] =
    ["POST /v1/guest-sessions", "POST /v1/sandbox/clock", "POST /v1/webhooks/payments/{provider}"];

#[tokio::test]
async fn every_write_but_the_exempt_ones_asks_for_its_key() {
    let world = World::new().await;
    let mut asked = 0;
    for (path, name, _) in Contract::new(&document()).all() {
        let operation = format!("{name} {path}");
        if name == "GET" || WITHOUT_KEY.contains(&operation.as_str()) {
            continue;
        }
        let (query, body) = input(&operation);
        let target = filled(path, "HTL-204")
            .replace("/holds/x", &format!("/holds/{SOME_HOLD}"))
            .replace("/refunds/x", &format!("/refunds/{SOME_REFUND}"))
            .replace("/dead-letters/x", &format!("/dead-letters/{}", SOME_REFUND.replace("ref_", "dlt_")))
            .replace("/settlement-findings/x", &format!("/settlement-findings/{SOME_FINDING}"))
            .replace("/reservations/x", &format!("/reservations/{SOME_RESERVATION}"))
            .replace("/changes/x", &format!("/changes/{}", SOME_RESERVATION.replace("res_", "chg_")))
            .replace("/charges/x", "/charges/1")
            .replace("/conflicts/x", &format!("/conflicts/{}", SOME_RESERVATION.replace("res_", "cfl_")))
            .replace("/rooms/x", "/rooms/1");
        let target = target + query;
        let call = || {
            let call = world.call(method(name), &target).token(&world.operator);
            call.header("if-match", "\"1\"").json(&body)
        };
        call().send().await.expect_problem(400, "IDEMPOTENCY_KEY_REQUIRED");
        // It was the key, and nothing else, that was wrong with the request.
        let keyed = call().fresh_key().send().await;
        assert!([200, 201, 404, 409].contains(&keyed.status), "{operation}: {}", keyed.text);
        asked += 1;
    }
    assert!(asked >= 9, "{asked}");
}

#[tokio::test]
async fn what_is_behind_the_desk_of_a_hotel_is_not_found_by_anybody_else() {
    let world = World::new().await;
    let elsewhere = world.credential("HTL-310", Role::Staff).await;
    let guest = world.guest().await.token;
    let mut asked = 0;
    for (path, name, entry) in Contract::new(&document()).all() {
        if !path.starts_with("/v1/hotels/{hotel}/") || entry.public {
            continue;
        }
        let operation = format!("{name} {path}");
        let (query, body) = input(&operation);
        for token in [&elsewhere, &guest] {
            let call = world.call(method(name), &(filled(path, "HTL-204") + query)).token(token).fresh_key();
            let answer = call.json(&body).send().await;
            assert_eq!(answer.status, 404, "{operation}: {}", answer.text);
            asked += 1;
        }
    }
    assert!(asked > 0);
}
