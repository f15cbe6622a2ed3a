//! `ETag` out, `If-Match` in. A tag is the quoted version; the bare number is accepted.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{ETAG, HeaderName},
};
use keyrack_api_types::code::Code;

use crate::problem::Problem;

/// `("etag", "\"3\"")`
pub fn etag(version: i32) -> (HeaderName, String) {
    (ETAG, format!("\"{version}\""))
}

/// The version that the caller has seen. Missing is 428.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfMatch(pub i32);

impl FromRequest for IfMatch {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(given(request).and_then(|version| {
            let rule = "Send If-Match with the ETag of the resource as you last saw it.";
            version.map(Self).ok_or_else(|| Problem::new(Code::PreconditionRequired, rule))
        }))
    }
}

/// The version that the caller has seen, where it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MayMatch(pub Option<i32>);

impl FromRequest for MayMatch {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(given(request).map(Self))
    }
}

fn given(request: &HttpRequest) -> Result<Option<i32>, Problem> {
    let mut all = request.headers().get_all("if-match");
    let Some(value) = all.next() else { return Ok(None) };
    // Several headers are one list (RFC 9110, 5.2), and a list means any of its tags. Whoever has seen two versions
    // has not said which one the call is meant for.
    let read = value.to_str().ok().and_then(version).filter(|_| all.next().is_none());
    let rule = "If-Match must be given once, with one version, such as \"3\".";
    read.map(Some).ok_or_else(|| Problem::new(Code::Malformed, rule))
}

fn version(text: &str) -> Option<i32> {
    let text = text.trim();
    let bare = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    let digits = !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit());
    if digits { bare.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn one_tag_is_read_and_several_are_refused_whichever_way_they_come() {
        let of = |values: &[&'static str]| {
            let given_all = values
                .iter()
                .fold(TestRequest::default(), |request, value| request.append_header(("if-match", *value)));
            given(&given_all.to_http_request()).ok()
        };
        assert_eq!(of(&[]), Some(None));
        assert_eq!(of(&["\"3\""]), Some(Some(3)));
        for several in [&["\"3\", \"4\""][..], &["\"3\"", "\"4\""], &["\"3\"", "\"3\""], &["\"3\"", "*"]] {
            assert_eq!(of(several), None, "{several:?}");
        }
    }

    #[test]
    fn a_tag_is_the_version_quoted_or_bare() {
        assert_eq!(version("\"3\""), Some(3));
        assert_eq!(version("3"), Some(3));
        for bad in ["", "\"\"", "*", "W/\"3\"", "\"3\", \"4\"", "-1", "+1", "99999999999"] {
            assert_eq!(version(bad), None, "{bad:?}");
        }
    }
}
