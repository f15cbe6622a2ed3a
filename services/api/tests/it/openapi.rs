use std::{env, fs};

use keyrack_api::document_as_json;
use serde_json::Value;

use crate::world::World;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

/// `UPDATE_OPENAPI=1` writes it anew.
#[test]
fn the_committed_document_is_that_of_the_code() {
    let document = document_as_json();
    if env::var_os("UPDATE_OPENAPI").is_some() {
        fs::write(COMMITTED, &document).expect("docs/openapi.json can be written");
    }
    let committed = fs::read_to_string(COMMITTED).unwrap_or_default();
    assert!(
        committed == document,
        "docs/openapi.json is not current: run `make openapi` and look at the difference"
    );
}

#[tokio::test]
async fn the_document_is_served_as_it_is_committed() {
    let world = World::new().await;
    let served = world.get("/openapi.json").send().await.expect(200);
    assert_eq!(served.text, document_as_json());
    assert_eq!(served.at("/openapi"), "3.1.0");
}

#[test]
fn every_operation_has_a_name_of_its_own_and_every_write_its_key() {
    let document: Value = serde_json::from_str(&document_as_json()).expect("JSON");
    let mut names = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            names.push(operation["operationId"].as_str().expect("a name").to_owned());
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let keyed = parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key");
            let exempt =
                ["/v1/guest-sessions", "/v1/sandbox/", "/v1/webhooks/"].iter().any(|p| path.starts_with(p));
            assert_eq!(keyed, method != "get" && !exempt, "{method} {path}");
            let mut places: Vec<_> =
                parameters.iter().map(|parameter| (&parameter["in"], &parameter["name"])).collect();
            places.sort_by_key(|place| format!("{place:?}"));
            let all = places.len();
            places.dedup();
            assert_eq!(places.len(), all, "{method} {path} names a parameter twice");
        }
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn every_response_says_what_it_is_and_every_error_is_a_problem() {
    let document: Value = serde_json::from_str(&document_as_json()).expect("JSON");
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let responses = operation["responses"].as_object().expect("responses");
            assert!(responses.contains_key("default"), "{method} {path}");
            for (status, response) in responses {
                assert!(response["description"].is_string(), "{method} {path} {status}");
                let problem = &response["content"]["application/problem+json"]["schema"]["$ref"];
                let is_error = !status.starts_with('2');
                assert_eq!(problem == "#/components/schemas/Problem", is_error, "{method} {path} {status}");
            }
        }
    }
}
