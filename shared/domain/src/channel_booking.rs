//! A booking that a channel brings under an identifier of its own.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{code::ChannelCode, ids::HotelId};

/// The text is not 1 to 64 visible ASCII characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 64 visible ASCII characters")]
pub struct NotABookingId;

/// As the channel writes it; never folded or trimmed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChannelBookingId(String);

impl ChannelBookingId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChannelBookingId {
    type Err = NotABookingId;

    fn from_str(text: &str) -> Result<Self, NotABookingId> {
        let fits = (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(NotABookingId) }
    }
}

impl TryFrom<String> for ChannelBookingId {
    type Error = NotABookingId;

    fn try_from(text: String) -> Result<Self, NotABookingId> {
        text.parse()
    }
}

impl From<ChannelBookingId> for String {
    fn from(id: ChannelBookingId) -> Self {
        id.0
    }
}

impl fmt::Display for ChannelBookingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One booking intention. Two channels may use the same text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelBookingKey {
    pub hotel: HotelId,
    pub channel: ChannelCode,
    pub booking: ChannelBookingId,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChannelBookingState {
    /// It has a reservation.
    Active,
    /// For good: a booking is not brought back to life under its identifier.
    Cancelled,
    /// It names a room type or rate plan that the hotel does not have. Nothing is guessed.
    Unmapped,
}

impl ChannelBookingState {
    pub const ALL: [Self; 3] = [Self::Active, Self::Cancelled, Self::Unmapped];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Cancelled => "CANCELLED",
            Self::Unmapped => "UNMAPPED",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_taken_as_it_is_or_not_at_all() {
        for good in ["1", "BDC-4711/2", "x~!", &"x".repeat(64)] {
            assert_eq!(good.parse::<ChannelBookingId>().map(String::from).as_deref(), Ok(good));
        }
        for bad in ["", " ", "a b", "é", "a\0", &"x".repeat(65)] {
            assert_eq!(bad.parse::<ChannelBookingId>(), Err(NotABookingId), "{bad:?}");
        }
    }

    #[test]
    fn a_state_is_read_by_its_name() {
        for state in ChannelBookingState::ALL {
            assert_eq!(ChannelBookingState::from_name(state.as_str()), Some(state));
            assert_eq!(serde_json::to_value(state).expect("json"), state.as_str());
        }
    }
}
