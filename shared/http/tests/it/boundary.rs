use actix_web::test::TestRequest;

use crate::around::ask;

#[actix_web::test]
async fn a_handler_that_panics_is_a_500_that_tells_nothing_of_it() {
    let answer = ask(TestRequest::get().uri("/panics").insert_header(("x-request-id", "r-1"))).await;
    assert_eq!(answer.status, 500);
    let problem = answer.json();
    assert_eq!((&problem["code"], &problem["request_id"]), (&"INTERNAL".into(), &"r-1".into()));
    assert_eq!(
        (&problem["instance"], &problem["next"]["action"]),
        (&"/panics".into(), &"retry_same_key".into())
    );
    assert_eq!(answer.header("x-request-id"), Some("r-1"));
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(!answer.text.contains("Zoë"));
}

#[actix_web::test]
async fn an_error_of_the_framework_is_a_problem_of_ours() {
    let malformed = TestRequest::post().uri("/loose").insert_header(("content-type", "application/json"));
    let answer = ask(malformed.set_payload("{")).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (400, Some("MALFORMED")));
    let huge = TestRequest::post().uri("/loose").insert_header(("content-type", "application/json"));
    let answer = ask(huge.set_payload(format!("\"{}\"", "x".repeat(3_000_000)))).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (413, Some("PAYLOAD_TOO_LARGE")));
}

#[actix_web::test]
async fn what_a_broken_handler_says_stays_inside() {
    let answer = ask(TestRequest::get().uri("/breaks")).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (500, Some("INTERNAL")));
    assert!(!answer.text.contains("payment_attempts"));
    let answer = ask(TestRequest::get().uri("/forgetful")).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (500, Some("INTERNAL")));
}
