use serde_json::{Value, json};

use crate::{
    receiver::{Receiver, of},
    world::{World, assert_refused, assert_state},
};

/// The page that the customer was sent to.
async fn asked(world: &World, name: &str) -> String {
    let (status, said) = world.authorize(name, "pm_3ds").await.expect("an answer");
    assert_eq!((status.as_u16(), &said["state"]), (200, &json!("ACTION_REQUIRED")));
    assert_eq!(said["next_action"]["type"], "redirect");
    said["next_action"]["url"].as_str().expect("a page").to_owned()
}

async fn page(world: &World, url: &str) -> (u16, String) {
    let response = world.client.get(url).send().await.expect("a page");
    (response.status().as_u16(), response.text().await.expect("a text"))
}

async fn press(world: &World, url: &str) -> (u16, String) {
    let response = world.client.post(url).send().await.expect("a page");
    (response.status().as_u16(), response.text().await.expect("a text"))
}

#[tokio::test]
async fn a_customer_who_goes_through_with_it_is_asked_once() {
    let mut receiver = Receiver::start(0);
    let world = World::start_with(receiver.settings());
    let url = asked(&world, "a").await;
    assert_refused(world.capture("a").await, 409, "not_authorized");
    assert_state(world.look_up("a-auth").await, "ACTION_REQUIRED");
    assert_eq!(asked(&world, "a").await, url);
    let (status, text) = page(&world, &url).await;
    assert_eq!(status, 200);
    for action in ["a-auth/complete", "a-auth/abandon"] {
        assert!(text.contains(&format!("action=\"{action}\"")), "{text}");
    }
    for _ in 0..2 {
        let (status, text) = press(&world, &format!("{url}/complete")).await;
        assert!(status == 200 && text.contains("approved"), "{text}");
    }
    assert_eq!(receiver.told().await, of("authorization.succeeded", "a-auth"));
    // Too late to think better of it.
    let (_, text) = press(&world, &format!("{url}/abandon")).await;
    assert!(text.contains("approved"), "{text}");
    assert_state(world.authorize("a", "pm_3ds").await, "AUTHORIZED");
    assert_state(world.capture("a").await, "CAPTURED");
    assert_eq!(receiver.told().await, of("capture.succeeded", "a-capture"));
}

#[tokio::test]
async fn a_customer_who_goes_back_has_declined() {
    let mut receiver = Receiver::start(0);
    let world = World::start_with(receiver.settings());
    let url = asked(&world, "a").await;
    press(&world, &format!("{url}/abandon")).await;
    assert_eq!(receiver.told().await, of("authorization.declined", "a-auth"));
    assert_state(world.look_up("a-auth").await, "DECLINED");
    assert_refused(world.authorize("a", "pm_3ds").await, 402, "declined");
    assert_refused(world.capture("a").await, 409, "not_authorized");
}

#[tokio::test]
async fn b019_a_session_that_was_ended_takes_nothing_any_more() {
    let world = World::start();
    let url = asked(&world, "a").await;
    assert_state(world.void("a").await, "VOIDED");
    for (status, text) in [page(&world, &url).await, press(&world, &format!("{url}/complete")).await] {
        assert!(status == 410 && text.contains("Session expired"), "{status} {text}");
    }
    assert_state(world.look_up("a-auth").await, "VOIDED");
    assert_refused(world.capture("a").await, 409, "authorization_voided");
    assert_eq!(world.captures("a").await, 0);
}

#[tokio::test]
async fn there_is_no_page_for_what_nobody_asked() {
    let world = World::start();
    let nobody = world.url("/simulator/customer/a-auth");
    assert_eq!(
        (page(&world, &nobody).await.0, press(&world, &format!("{nobody}/complete")).await.0),
        (404, 404)
    );
    world.authorize("a", "pm_ok").await;
    let (_, text) = press(&world, &format!("{nobody}/abandon")).await;
    assert!(text.contains("approved"), "{text}");
    let standing = world.look_up("a-auth").await.map(|(_, said): (_, Value)| said["state"].clone());
    assert_eq!(standing, Some(json!("AUTHORIZED")));
}
