//! What is wrong with an input, field by field. Everything that is wrong is told at once.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// JSON pointer into the request body (RFC 6901), `/changes/0/first_night`.
    pub pointer: String,
    /// Stable, upper snake case: `PAST_DATE`.
    pub code: &'static str,
    /// For a person: the rule, and what would do.
    pub detail: Cow<'static, str>,
}

impl FieldError {
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { pointer: pointer.into(), code, detail: detail.into() }
    }
}
