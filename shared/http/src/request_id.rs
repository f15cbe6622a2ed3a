//! `X-Request-Id`, in and out.

use std::fmt;

use actix_web::http::header::{HeaderMap, HeaderName};
use uuid::Uuid;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// At most 128 visible ASCII characters: it is written to logs and to the audit as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestId(String);

impl RequestId {
    /// The caller's, when it can be used; else a new one.
    pub fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok());
        let fits =
            |text: &&str| (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        Self(given.filter(fits).map_or_else(|| Uuid::now_v7().to_string(), str::to_owned))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn of(value: &str) -> RequestId {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_bytes(value.as_bytes()).expect("a header"));
        RequestId::of(&headers)
    }

    #[test]
    fn a_request_id_that_could_break_a_log_is_replaced() {
        assert_eq!(of("abc-1").as_str(), "abc-1");
        for bad in ["", "a b", "é", &"x".repeat(129)] {
            assert_ne!(of(bad).as_str(), bad);
            assert_eq!(of(bad).as_str().len(), 36);
        }
    }
}
