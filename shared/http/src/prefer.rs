//! `Prefer` (RFC 7240): wishes that may be ignored.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, dev::Payload};

use crate::problem::Problem;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Prefer(Vec<String>);

impl Prefer {
    /// `Prefer: wait-for=drained` asks for `("wait-for", "drained")`.
    pub fn asks(&self, name: &str, value: &str) -> bool {
        self.0.iter().any(|wish| {
            let (key, given) = wish.split_once('=').unwrap_or((wish, ""));
            key.trim().eq_ignore_ascii_case(name) && given.trim().trim_matches('"') == value
        })
    }
}

impl FromRequest for Prefer {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let texts = request.headers().get_all("prefer").filter_map(|value| value.to_str().ok());
        let wishes = texts.flat_map(|text| text.split(',')).map(|wish| {
            // Parameters of a wish (`; a=b`) are not used by any of ours.
            wish.split(';').next().unwrap_or(wish).trim().to_owned()
        });
        ready(Ok(Self(wishes.collect())))
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[actix_web::test]
    async fn a_wish_is_found_among_others() {
        let request = TestRequest::default()
            .append_header(("prefer", "respond-async, Wait-For=\"drained\"; x=y"))
            .to_http_request();
        let prefer = Prefer::extract(&request).await.expect("always");
        assert!(prefer.asks("wait-for", "drained"));
        assert!(prefer.asks("respond-async", ""));
        assert!(!prefer.asks("wait-for", "seen"));
    }
}
