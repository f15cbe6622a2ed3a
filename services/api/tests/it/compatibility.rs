//! What a client of the released document relies on is still there in the document of the code.

mod schemas;

use std::fs;

use keyrack_api::document_as_json;
use serde_json::{Value, json};

use self::schemas::{Schemas, Side};

/// The document of the last release. A release replaces it, with a look at the difference.
const RELEASED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.released.json");

fn released() -> Value {
    let text = fs::read_to_string(RELEASED).expect("docs/openapi.released.json");
    serde_json::from_str(&text).expect("JSON")
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Everything that would break a client, in words.
fn breaks(old: &Value, new: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, item) in members(&old["paths"]) {
        for (method, operation) in members(item) {
            let at = format!("{method} {path}");
            let now = &new["paths"][path][method];
            if now.is_null() {
                faults.push(format!("{at} is gone"));
                continue;
            }
            let mut schemas = Schemas::new(old, new);
            parameters(&at, operation, now, &mut schemas);
            answers(&at, operation, now, &mut schemas);
            faults.append(&mut schemas.faults);
        }
    }
    faults
}

/// What is sent: the parameters and the body.
fn parameters(at: &str, old: &Value, new: &Value, schemas: &mut Schemas<'_>) {
    let name = |parameter: &Value| (parameter["in"].clone(), parameter["name"].clone());
    let find =
        |operation: &Value, wanted| list(&operation["parameters"]).find(|p| name(p) == wanted).cloned();
    for parameter in list(&old["parameters"]) {
        let at = format!("{at} {}", parameter["name"]);
        match find(new, name(parameter)) {
            None => schemas.faults.push(format!("{at} is gone")),
            Some(now) => schemas.compare(&at, Side::Sent, &parameter["schema"], &now["schema"]),
        }
    }
    for parameter in list(&new["parameters"]).filter(|parameter| parameter["required"] == true) {
        if find(old, name(parameter)).is_none_or(|before| before["required"] != true) {
            schemas.faults.push(format!("{at} {} has become required", parameter["name"]));
        }
    }
    let body = |operation: &Value| operation["requestBody"]["content"]["application/json"]["schema"].clone();
    match (body(old), body(new)) {
        (Value::Null, Value::Null) => {}
        (Value::Null, _) => schemas.faults.push(format!("{at} has become to need a body")),
        (before, now) => schemas.compare(&format!("{at} body"), Side::Sent, &before, &now),
    }
}

/// What comes back.
fn answers(at: &str, old: &Value, new: &Value, schemas: &mut Schemas<'_>) {
    for (status, response) in members(&old["responses"]) {
        let at = format!("{at} {status}");
        let now = &new["responses"][status];
        if now.is_null() {
            schemas.faults.push(format!("{at} is gone"));
        }
        for (media, content) in members(&response["content"]) {
            schemas.compare(&at, Side::Answered, &content["schema"], &now["content"][media]["schema"]);
        }
    }
}

#[test]
fn nothing_that_a_client_of_the_released_document_relies_on_has_gone() {
    let now: Value = serde_json::from_str(&document_as_json()).expect("JSON");
    let faults = breaks(&released(), &now);
    assert!(faults.is_empty(), "these break clients:\n{}", faults.join("\n"));
}

#[test]
fn each_kind_of_break_is_seen_and_an_addition_is_none() {
    let old = released();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut new = old.clone();
        change(&mut new);
        breaks(&old, &new)
    };
    let remove = |pointer: &'static str, name: &'static str| {
        with(&move |new| {
            new.pointer_mut(pointer).and_then(Value::as_object_mut).expect(pointer).remove(name);
        })
    };
    let push = |pointer: &'static str, value: Value| {
        with(&move |new| {
            new.pointer_mut(pointer).and_then(Value::as_array_mut).expect(pointer).push(value.clone());
        })
    };
    for faults in [
        remove("/paths", "/v1/holds"),
        remove("/paths/~1v1~1holds~1{id}", "delete"),
        remove("/paths/~1v1~1bookings/post/responses", "402"),
        remove("/components/schemas/Hold/properties", "expires_at"),
        remove("/components/schemas/Money/properties", "currency"),
        remove("/components/schemas/Hold", "required"),
        remove("/components/schemas/HoldRequest/properties", "replaces"),
        push("/components/schemas/HoldRequest/required", json!("replaces")),
        push(
            "/paths/~1v1~1holds/post/parameters",
            json!({"in": "header", "name": "X-New", "required": true}),
        ),
        with(&|new| new["components"]["schemas"]["Hold"]["properties"]["hotel"]["type"] = json!("integer")),
        with(&|new| new["components"]["schemas"]["HoldState"]["enum"] = json!(["ACTIVE"])),
    ] {
        assert!(!faults.is_empty());
    }
    let added = with(&|new| {
        new["components"]["schemas"]["Hold"]["properties"]["new"] = json!({"type": "string"});
        new["components"]["schemas"]["HoldRequest"]["properties"]["new"] = json!({"type": "string"});
        new["paths"]["/v1/new"] = json!({"get": {"responses": {}}});
    });
    assert_eq!(added, Vec::<String>::new());
}
