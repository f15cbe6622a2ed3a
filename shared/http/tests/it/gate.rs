use actix_web::test::TestRequest;

use crate::around::ask;

fn things(query: &str, token: &str) -> TestRequest {
    let request = TestRequest::get().uri(&format!("/things/7{query}"));
    request.insert_header(("authorization", format!("Bearer {token}"))).insert_header(("x-request-id", "r-1"))
}

#[actix_web::test]
async fn a_known_caller_comes_in_with_the_id_of_the_request() {
    let answer = ask(things("?page=2", "good")).await;
    assert_eq!((answer.status, answer.text.as_str()), (200, "r-1"));
}

#[actix_web::test]
async fn what_does_not_say_that_it_is_public_is_not() {
    for request in [things("", "bad"), things("?more=1", "bad"), TestRequest::get().uri("/things/7")] {
        let answer = ask(request).await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (401, Some("UNAUTHENTICATED")));
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    assert_eq!(ask(TestRequest::get().uri("/forgetful")).await.status, 500);
}

#[actix_web::test]
async fn credentials_that_cannot_be_checked_are_not_called_wrong() {
    let answer = ask(things("", "away")).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (503, Some("UNAVAILABLE")));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(!answer.text.contains("directory is away"));
}

#[actix_web::test]
async fn a_query_parameter_that_the_document_does_not_know_is_refused() {
    let answer = ask(things("?page=2&size=9", "good")).await;
    assert_eq!((answer.status, answer.json()["errors"][0]["pointer"].as_str()), (422, Some("/size")));
}

#[actix_web::test]
async fn a_path_without_the_method_says_which_it_has_once_the_caller_is_known() {
    let post = |token: &str| {
        TestRequest::post().uri("/things/7").insert_header(("authorization", format!("Bearer {token}")))
    };
    assert_eq!(ask(post("bad")).await.status, 401);
    let answer = ask(post("good")).await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET")));
    assert_eq!(ask(TestRequest::get().uri("/loose")).await.status, 405);
    assert_eq!(ask(TestRequest::get().uri("/nothing")).await.status, 404);
}
