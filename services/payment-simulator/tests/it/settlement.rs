use keyrack_payment_simulator::Settings;
use serde_json::{Value, json};

use crate::world::{World, assert_refused, assert_state};

async fn lines(world: &World, query: &str) -> (Vec<Value>, Value) {
    let (status, page) = world.get(&format!("/v1/settlement{query}")).await.expect("an answer");
    assert_eq!(status.as_u16(), 200, "{page}");
    (page["items"].as_array().expect("items").clone(), page)
}

fn kinds(lines: &[Value]) -> Vec<(&str, &str)> {
    lines
        .iter()
        .map(|l| (l["kind"].as_str().expect("text"), l["reference"].as_str().expect("text")))
        .collect()
}

#[tokio::test]
async fn every_movement_is_a_line_in_pages_also_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings { journal: Some(folder.path().join("charges.jsonl")), ..Settings::default() };
    let world = World::start_with(settings.clone());
    for name in ["a", "b"] {
        world.authorize(name, "pm_ok").await;
        world.capture(name).await;
        world.capture(name).await;
    }
    world.authorize("c", "pm_declined").await;
    let refund = json!({"capture": "a-capture", "amount": 1_000, "currency": "INR"});
    world.put("/v1/refunds/a-refund-1-1", &refund).await;
    let (_, by_hand) = world.post("/simulator/refunds-by-hand", &refund).await.expect("an answer");
    let by_hand = by_hand["reference"].as_str().expect("a name");
    world.post("/simulator/refunds-fail", &json!({"reference": "a-refund-1-1"})).await;
    let (all, page) = lines(&world, "").await;
    let expected = [
        ("capture", "a-capture"),
        ("capture", "b-capture"),
        ("refund", "a-refund-1-1"),
        ("refund", by_hand),
        ("refund_failed", "a-refund-1-1"),
    ];
    assert_eq!(kinds(&all), expected);
    assert_eq!((&page["more"], &all[4]["cursor"]), (&json!(false), &json!(5)));
    assert_eq!((&all[0]["amount"], &all[0]["refunded"]), (&json!(1_456_000), &json!(1_000)));
    assert_eq!((&all[3]["of"], &all[3]["by_hand"]), (&json!("a-capture"), &json!(true)));

    let (first, page) = lines(&world, "?limit=2").await;
    assert_eq!((kinds(&first), &page["more"]), (expected[..2].to_vec(), &json!(true)));
    let (rest, _) = lines(&world, &format!("?limit=9&cursor={}", first[1]["cursor"])).await;
    assert_eq!(kinds(&rest), expected[2..]);
    assert_eq!(lines(&world, "?cursor=5").await.0.len(), 0);
    assert_eq!(lines(&world, "?from=2100-01-01T00:00:00Z").await.0.len(), 0);
    assert_refused(world.get("/v1/settlement?from=yesterday").await, 422, "invalid");

    world.running.stop().await;
    let world = World::start_with(settings);
    assert_eq!(lines(&world, "").await.0, all);
}

#[tokio::test]
async fn b055_a_charge_that_nobody_asked_for_can_be_planted_and_given_back() {
    let world = World::start();
    world.authorize("a", "pm_ok").await;
    world.capture("a").await;
    let planted = json!({"reference": "a-capture-2", "authorization": "a-auth", "amount": 1_456_000, "currency": "INR"});
    assert_state(world.post("/simulator/captures", &planted).await, "CAPTURED");
    assert_refused(world.post("/simulator/captures", &planted).await, 409, "reference_in_use");
    assert_eq!(world.captures("a").await, 2);
    // What the authorization is told with is its own capture.
    let (_, said) = world.look_up("a-auth").await.expect("an answer");
    assert_eq!((&said["state"], &said["refunded"]), (&json!("CAPTURED"), &json!(0)));
    let refund = json!({"capture": "a-capture-2", "amount": 1_456_000, "currency": "INR"});
    assert_state(world.put("/v1/refunds/a-capture-2-return", &refund).await, "REFUNDED");
    assert_eq!(world.charge("a-capture").await["refunded"], 0);
    assert_eq!(kinds(&lines(&world, "").await.0).len(), 3);
}
