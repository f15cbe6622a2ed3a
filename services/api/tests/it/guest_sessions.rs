use crate::world::World;

#[tokio::test]
async fn anybody_begins_without_a_body_and_without_a_key() {
    let world = World::new().await;
    let first = world.post("/v1/guest-sessions").send().await.expect(201);
    let second = world.post("/v1/guest-sessions").send().await.expect(201);
    for pointer in ["/principal", "/token", "/expires_at"] {
        assert!(!first.text_at(pointer).is_empty());
    }
    assert_ne!(first.text_at("/principal"), second.text_at("/principal"));
    assert_ne!(first.text_at("/token"), second.text_at("/token"));
    assert!(first.text_at("/principal").starts_with("prn_") && first.text_at("/expires_at").ends_with('Z'));
    let token = first.text_at("/token");
    world.get("/v1/quotes/quo_unknown").token(&token).send().await.expect_problem(404, "NOT_FOUND");
}
