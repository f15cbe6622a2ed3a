//! RFC 9457 `application/problem+json`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::code::Code;

/// What went wrong, what is known, and what is safe to do next.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// The page of the code: `/problems/room_night_unavailable`.
    pub r#type: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
    /// The path that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    pub code: Code,
    /// `X-Request-Id`; name it when you ask us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// As in the `Retry-After` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
    /// What is wrong with the input, place by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    pub next: Next,
    /// Facts of this code (`night`, `available`, ...), members of the document itself.
    #[serde(flatten)]
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub facts: Map<String, Value>,
}

/// One thing that is wrong with the input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// RFC 6901 pointer into the body (`/guest/name`); a query parameter is `/` and its name.
    pub pointer: String,
    /// `UNKNOWN_FIELD`, `MISSING`, `INVALID_STAY`, ...
    pub code: Cow<'static, str>,
    pub detail: String,
}

/// What is safe to do now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Next {
    pub action: Action,
    /// Seconds to wait before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_s: Option<u64>,
    /// Where to look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The same request with the same key: it is done once, whatever happened.
    RetrySameKey,
    /// A new key: after correcting the input, or with another payment method.
    NewKey,
    /// A new quote first.
    Requote,
    /// Read `at` before anything else.
    LookUp,
    /// The customer must act, at `at`.
    Act,
    /// This is final.
    None,
}

impl Next {
    pub const fn new(action: Action) -> Self {
        Self { action, after_s: None, at: None }
    }

    pub const fn after(action: Action, seconds: u64) -> Self {
        Self { action, after_s: Some(seconds), at: None }
    }

    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.at = Some(place.into());
        self
    }
}
