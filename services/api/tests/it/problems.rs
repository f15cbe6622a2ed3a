//! Everything that can go wrong is told as a problem document.

use keyrack_api_types::code::Code;
use reqwest::Method;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_path_that_does_not_exist_is_not_found() {
    let world = World::new().await;
    for path in ["/", "/v1", "/v1/nothing", "/v1/holds/", "/v1//holds", "/v1/holds/%ff", "/v1/holds/x/y"] {
        let guest = world.guest().await;
        let answer = world.get(path).token(&guest.token).send().await.expect_problem(404, "NOT_FOUND");
        assert_eq!(answer.at("/instance"), path);
    }
}

#[tokio::test]
async fn a_method_that_a_path_does_not_have_is_told_which_it_has() {
    let world = World::new().await;
    let guest = world.guest().await;
    let answer = world.call(Method::PATCH, "/v1/holds/x").token(&guest.token).send().await;
    let answer = answer.expect_problem(405, "METHOD_NOT_ALLOWED");
    assert_eq!(answer.header("allow"), Some("DELETE, GET"));
    world.call(Method::PATCH, "/v1/holds/x").send().await.expect_problem(401, "UNAUTHENTICATED");
    world.post("/healthz").send().await.expect_problem(405, "METHOD_NOT_ALLOWED");
}

#[tokio::test]
async fn the_caller_is_asked_for_before_anything_else_about_the_request() {
    let world = World::new().await;
    let huge = "x".repeat(300_000);
    for call in [
        world.post("/v1/holds"),
        world.post("/v1/holds").text("not json"),
        world.post("/v1/holds").text(&huge),
        world.post("/v1/holds?unknown=1").header("content-type", "text/plain"),
        world.get("/v1/holds/nonsense"),
        world.get("/v1/reservations?limit=nonsense"),
    ] {
        let answer = call.send().await.expect_problem(401, "UNAUTHENTICATED");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert_eq!(answer.at("/next/action"), "none");
    }
    let unknown = world.post("/v1/holds").token("krg_unknown").send().await;
    unknown.expect_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn the_request_id_comes_back() {
    let world = World::new().await;
    let given = world.get("/healthz").header("x-request-id", "mine-7").send().await.expect(200);
    assert_eq!(given.header("x-request-id"), Some("mine-7"));
    assert_eq!(given.header("x-content-type-options"), Some("nosniff"));
    let refused = world.get("/v1/nothing").header("x-request-id", "mine-8").send().await;
    assert_eq!(refused.expect_problem(404, "NOT_FOUND").at("/request_id"), "mine-8");
    let made = world.get("/healthz").header("x-request-id", "not one").send().await;
    assert_eq!(made.header("x-request-id").map(str::len), Some(36));
}

#[tokio::test]
async fn unknown_query_parameters_are_refused_by_name() {
    let world = World::new().await;
    let guest = world.guest().await;
    let answer = world.get("/v1/reservations?limit=5&offset=10&page=2").token(&guest.token).send().await;
    let answer = answer.expect_invalid("/offset", "UNKNOWN_FIELD");
    assert_eq!(answer.at("/errors/1/pointer"), "/page");
    let quote = json!({"quote_id": "quo_x"});
    let answer =
        world.post("/v1/holds?dry_run=true").token(&guest.token).fresh_key().json(&quote).send().await;
    answer.expect_invalid("/dry_run", "UNKNOWN_FIELD");
}

#[tokio::test]
async fn a_write_without_a_usable_key_is_refused() {
    let world = World::new().await;
    let guest = world.guest().await;
    let call = || world.post("/v1/holds").token(&guest.token).json(&json!({"quote_id": "quo_x"}));
    call().send().await.expect_problem(400, "IDEMPOTENCY_KEY_REQUIRED");
    for bad in ["", "two words", &"x".repeat(256)] {
        call().key(bad).send().await.expect_problem(400, "IDEMPOTENCY_KEY_INVALID");
    }
    call().key("a").key("b").send().await.expect_problem(400, "IDEMPOTENCY_KEY_INVALID");
    call().key(&"x".repeat(255)).send().await.expect_problem(404, "NOT_FOUND");
}

#[tokio::test]
async fn the_type_of_every_problem_leads_to_its_page() {
    let world = World::new().await;
    for code in Code::ALL {
        let answer = world.get(&format!("/problems/{}", code.page())).send().await.expect(200);
        assert_eq!(answer.header("content-type"), Some("text/markdown; charset=utf-8"));
        assert!(answer.text.contains(code.as_str()));
    }
    world.get("/problems/nonsense").send().await.expect_problem(404, "NOT_FOUND");
}
