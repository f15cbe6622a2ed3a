//! Cursors are opaque: hexadecimal, so that nobody reads an order or an id out of them by habit.

use std::{fmt, str::FromStr};

use keyrack_api_types::problem::FieldError;
use serde::{Deserialize, Deserializer, de};

use crate::problem::Problem;

/// The place in a list after which a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor<T>(pub T);

impl<T: fmt::Display> Cursor<T> {
    /// For `next_cursor`.
    pub fn write(place: &T) -> String {
        hex::encode(place.to_string())
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Cursor<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let bytes = hex::decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let place = bytes.and_then(|text| text.parse().ok());
        place.map(Self).ok_or_else(|| de::Error::custom("is not a cursor of this list"))
    }
}

/// How many items a page has. More than `max` is refused, not clamped: a client that counts on its
/// own number must learn that it is not used.
pub fn limit(given: Option<u16>, usual: u16, max: u16) -> Result<u16, Problem> {
    let limit = given.unwrap_or(usual);
    if (1..=max).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::invalid(vec![FieldError {
        pointer: "/limit".to_owned(),
        code: "OUT_OF_RANGE".into(),
        detail: format!("must be 1 to {max}"),
    }]))
}
