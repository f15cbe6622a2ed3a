//! What came back, and what can be asked of it.

use reqwest::{Response, header::HeaderMap};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// Null where the body is not JSON.
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("a body");
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Self { status, headers, text, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("visible"))
    }

    pub(crate) fn is_replay(&self) -> bool {
        self.header("idempotency-replayed") == Some("true")
    }

    /// A JSON pointer, `/total/amount`.
    pub(crate) fn at(&self, pointer: &str) -> &Value {
        self.body.pointer(pointer).unwrap_or(&Value::Null)
    }

    pub(crate) fn text_at(&self, pointer: &str) -> String {
        self.at(pointer).as_str().unwrap_or_else(|| panic!("{pointer} in {}", self.text)).to_owned()
    }

    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// A problem document with this status and code.
    pub(crate) fn expect_problem(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.at("/code").as_str()), (status, Some(code)), "{}", self.text);
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(self.at("/status"), status);
        assert_eq!(self.at("/type").as_str(), Some(format!("/problems/{}", code.to_lowercase()).as_str()));
        assert_eq!(self.at("/request_id").as_str(), self.header("x-request-id"));
        assert!(self.at("/next/action").is_string(), "{}", self.text);
        self
    }

    /// 422 with an error at this place.
    pub(crate) fn expect_invalid(self, pointer: &str, code: &str) -> Self {
        let answer = self.expect_problem(422, "INVALID");
        let errors = answer.at("/errors").as_array().expect("errors");
        let found = errors.iter().any(|error| error["pointer"] == pointer && error["code"] == code);
        assert!(found, "{pointer} {code} in {}", answer.text);
        answer
    }
}
