use crate::world::{STAY, World};

#[tokio::test]
async fn a_server_with_its_database_is_alive_and_ready() {
    let world = World::new().await;
    world.get("/healthz").send().await.expect(200);
    let ready = world.get("/readyz").send().await.expect(200);
    assert_eq!(ready.at("/checks/database"), true);
}

#[tokio::test]
async fn metrics_speak_of_routes_and_never_of_ids_or_guests() {
    let world = World::new().await;
    let guest = world.guest().await;
    let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
    world.book(&guest, &hold, "pm_ok").await.expect(201);
    world.get("/v1/nothing/at/all").send().await.expect(404);
    let metrics = world.get("/metrics").send().await.expect(200);
    assert!(metrics.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")));
    assert!(metrics.text.contains("route=\"/v1/holds\""), "{}", metrics.text);
    assert!(metrics.text.contains("route=\"unmatched\""));
    for secret in [hold.as_str(), "at/all", "Zoë", &guest.token] {
        assert!(!metrics.text.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_head_request_is_a_get_without_the_body() {
    let world = World::new().await;
    let get = world.get("/healthz").send().await.expect(200);
    let head = world.call(reqwest::Method::HEAD, "/healthz").send().await.expect(200);
    assert_eq!((head.header("content-length"), head.text.as_str()), (get.header("content-length"), ""));
    world.call(reqwest::Method::HEAD, "/v1/reservations").send().await.expect(401);
}
