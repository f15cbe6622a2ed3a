use serde::Deserialize;

use super::*;

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct Outer {
    name: String,
    count: u16,
    check_out: keyrack_api_types::date::Date,
    rooms: Vec<Inner>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct Inner {
    adults: u16,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn told(body: &str) -> Vec<(String, String)> {
    let problem = parse::<Outer>(body.as_bytes()).expect_err("wrong");
    let document = problem.document_for_tests();
    document.errors.into_iter().map(|error| (error.pointer, error.code.into_owned())).collect()
}

fn with(field: &str, value: &str) -> String {
    let mut fields = vec![
        ("name", "\"x\""),
        ("count", "1"),
        ("check_out", "\"2026-11-16\""),
        ("rooms", "[{\"adults\": 2}]"),
    ];
    fields.retain(|(name, _)| *name != field);
    if !value.is_empty() {
        fields.push((field, value));
    }
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}

fn one(pointer: &str, code: &str) -> Vec<(String, String)> {
    vec![(pointer.to_owned(), code.to_owned())]
}

#[test]
fn a_body_of_the_right_shape_is_read() {
    assert!(parse::<Outer>(with("name", "\"y\"").as_bytes()).is_ok());
}

#[test]
fn b080_a_missing_null_or_empty_date_names_its_field() {
    assert_eq!(told(&with("check_out", "")), one("/check_out", "MISSING"));
    assert_eq!(told(&with("check_out", "null")), one("/check_out", "INVALID_TYPE"));
    assert_eq!(told(&with("check_out", "\"\"")), one("/check_out", "INVALID_VALUE"));
}

#[test]
fn b106_numbers_that_do_not_fit_name_their_field() {
    for value in ["2147483647", "2147483648", "9223372036854775807", "1e400", "-1", "65536"] {
        let errors = told(&with("rooms", &format!("[{{\"adults\": 1}}, {{\"adults\": {value}}}]")));
        assert_eq!(errors.len(), 1, "{value}");
        assert_eq!(errors[0].0, "/rooms/1/adults", "{value}");
    }
    for value in ["1.5", "1e3", "\"1e3\"", "null", "true"] {
        assert_eq!(told(&with("count", value)), one("/count", "INVALID_TYPE"), "{value}");
    }
}

#[test]
fn b132_a_lone_surrogate_names_its_field() {
    assert_eq!(told(&with("name", "\"\\ud800\"")), one("/name", "INVALID_TEXT"));
    assert_eq!(told(&with("name", "\"\\udc00x\"")), one("/name", "INVALID_TEXT"));
    assert_eq!(told(&with("name", "\"\\ud800\\u0041\"")), one("/name", "INVALID_TEXT"));
}

#[test]
fn unknown_fields_are_all_named_and_what_else_is_wrong() {
    let body = r#"{"a/b": 1, "name": "x", "count": 1, "check_out": "2026-11-16", "rooms": [{"adults": 2, "x`, expected `y": []}]}"#;
    let expected = [("/a~1b", "UNKNOWN_FIELD"), ("/rooms/0/x`, expected `y", "UNKNOWN_FIELD")];
    let told_names: Vec<_> = told(body);
    assert_eq!(told_names.len(), 2, "{told_names:?}");
    assert_eq!((told_names[0].0.as_str(), told_names[0].1.as_str()), expected[0]);
    let body = r#"{"nome": "x", "count": 1, "check_out": "2026-11-16", "rooms": []}"#;
    assert_eq!(
        told(body),
        [("/nome", "UNKNOWN_FIELD"), ("/name", "MISSING")].map(|(p, c)| (p.to_owned(), c.to_owned()))
    );
    let problem = parse::<Nothing>(br#"{"x": 1}"#).expect_err("unknown").document_for_tests();
    assert_eq!(problem.errors[0].pointer, "/x");
}

#[test]
fn a_doubled_field_is_refused() {
    let body = with("name", "\"x\", \"name\": \"y\"");
    assert_eq!(told(&body), one("/name", "DUPLICATE_FIELD"));
}

#[test]
fn what_is_not_json_is_malformed_and_never_invalid() {
    for body in [
        &b""[..],
        b"{",
        b"nonsense",
        b"{\"unknown\": 1, ",
        b"{}{}",
        b"{\"name\": \"\xff\"}",
        b"{\"name\": \"\0\"}",
    ] {
        let code = parse::<Outer>(body).expect_err("not JSON").code();
        assert_eq!(code, Code::Malformed, "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn depth_is_bounded_before_anything_is_built() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(told(&deep), one("", "TOO_DEEP"));
    assert_eq!(told(&with("name", &deep)), one("", "TOO_DEEP"));
    assert_eq!(depth(r#"{"a": "[[[\"[[[", "b": [{}]}"#), 3);
}

#[test]
fn an_array_is_no_object_and_our_types_have_no_names_outside() {
    assert_eq!(told(r#"["x", 1, "2026-11-16", []]"#), one("", "INVALID_TYPE"));
    // Nor within: by position a client would send what it does not mean.
    assert_eq!(told(&with("rooms", "[[]]")), one("/rooms/0", "INVALID_TYPE"));
    let document = parse::<Outer>(with("rooms", "[7]").as_bytes()).expect_err("wrong").document_for_tests();
    assert_eq!(document.errors[0].pointer, "/rooms/0");
    assert!(!document.errors[0].detail.contains("Inner"), "{}", document.errors[0].detail);
}
