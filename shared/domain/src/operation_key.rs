//! The client's name for one intention, and what that intention was.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// `Idempotency-Key`: 1 to 255 visible ASCII characters. It recognizes a repeat; it authenticates nobody.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OperationKey(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 255 visible ASCII characters")]
pub struct NotAKey;

impl OperationKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OperationKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let visible = (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if visible { Ok(Self(text.to_owned())) } else { Err(NotAKey) }
    }
}

impl TryFrom<String> for OperationKey {
    type Error = NotAKey;

    fn try_from(text: String) -> Result<Self, NotAKey> {
        text.parse()
    }
}

impl From<OperationKey> for String {
    fn from(key: OperationKey) -> Self {
        key.0
    }
}

impl fmt::Display for OperationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 over the validated, normalized input and its contract version. Everything that changes
/// behaviour is in it; spelling and the order of properties are not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fingerprint(pub [u8; 32]);

/// Rises when the meaning of the same normalized input changes.
pub const CONTRACT_VERSION: i16 = 1;

/// The call that a key belongs to, `POST /v1/holds`: the same text on two endpoints is two keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Endpoint(pub &'static str);

impl Endpoint {
    pub const BOOK: Self = Self("POST /v1/bookings");
    pub const CONFIRM_CHANGE: Self = Self("POST /v1/reservations/{id}/changes/{change}/confirm");

    /// No call of anybody's: charges of a schedule, collected when they are due.
    pub const COLLECT_CHARGE: Self = Self("collect_charge");

    /// The endpoint of this name among those that open attempts.
    pub fn of_attempts(name: &str) -> Option<Self> {
        [Self::BOOK, Self::CONFIRM_CHANGE, Self::COLLECT_CHARGE]
            .into_iter()
            .find(|endpoint| endpoint.0 == name)
    }
}
