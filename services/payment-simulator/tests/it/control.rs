use std::time::Duration;

use keyrack_payment_simulator::Settings;
use serde_json::{Value, json};

use crate::world::{World, assert_refused, assert_state};

#[tokio::test]
async fn the_list_names_every_reference_with_its_calls_in_pages() {
    let world = World::start();
    for name in ["a", "b", "c"] {
        world.authorize(name, "pm_ok").await;
        world.capture(name).await;
    }
    let mut references = Vec::new();
    let mut path = "/simulator/charges?limit=4".to_owned();
    loop {
        let (_, page) = world.get(&path).await.expect("an answer");
        references.extend(page["items"].as_array().expect("items").clone());
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/simulator/charges?limit=4&cursor={cursor}"),
            None => break,
        }
    }
    let names: Vec<_> = references.iter().filter_map(|item| item["reference"].as_str()).collect();
    assert_eq!(names, ["a-auth", "a-capture", "b-auth", "b-capture", "c-auth", "c-capture"]);
    let capture = json!({
        "reference": "a-capture", "kind": "capture", "state": "CAPTURED", "amount": 1_456_000, "currency": "INR",
        "method": null, "of": "a-auth", "calls": 1, "refunded": 0,
    });
    assert_eq!(references[1], capture);
    assert_eq!(references[0]["method"], "pm_ok");

    let (_, page) = world.get("/simulator/charges?prefix=b-").await.expect("an answer");
    assert_eq!(page["items"].as_array().map(Vec::len), Some(2));
    assert_refused(world.get("/simulator/charges?colour=red").await, 422, "invalid");
}

#[tokio::test]
async fn control_calls_wait_a_bounded_time() {
    let settings = Settings { control_patience: Duration::from_millis(20), ..Settings::default() };
    let world = World::start_with(settings);
    let release = json!({"reference": "a-auth"});
    assert_refused(world.post("/simulator/release", &release).await, 404, "nothing");
    assert_refused(world.get("/simulator/charges/a-auth").await, 404, "nothing");
    assert_refused(world.get("/simulator/charges/a-auth?wait_for=WAITING").await, 404, "nothing");
    world.authorize("a", "pm_ok").await;
    assert_refused(world.get("/simulator/charges/a-auth?wait_for=WAITING").await, 409, "not_in_that_state");
    assert_refused(world.post("/simulator/release", &release).await, 409, "not_waiting");
}

#[tokio::test]
async fn a_full_book_takes_nothing_new_and_still_answers_for_what_it_has() {
    let world = World::start_with(Settings { max_references: 2, ..Settings::default() });
    world.authorize("a", "pm_ok").await;
    world.capture("a").await;
    let (status, _) = world.authorize("b", "pm_ok").await.expect("an answer");
    assert_eq!(status.as_u16(), 503);
    assert_refused(world.look_up("b-auth").await, 404, "nothing");
    assert_state(world.capture("a").await, "CAPTURED");
}

#[tokio::test]
async fn stopping_does_not_wait_for_those_who_wait() {
    let world = World::start();
    let World { running, client } = world;
    let url = format!("{}/v1/authorizations/a-auth", running.base_url());
    let body = json!({"amount": 5, "currency": "INR", "method": "pm_timeout"});
    let call = crate::world::hear(client.put(url).json(&body));
    let simulator = running.simulator().clone();
    let stop = async {
        let reference = "a-auth".to_owned().try_into().expect("a reference");
        simulator.wait_for(&reference, keyrack_payment_simulator::State::Waiting, 1).await;
        running.stop().await;
    };
    let (heard, ()) = futures::join!(call, stop);
    assert_eq!(heard, None::<(reqwest::StatusCode, Value)>);
}
