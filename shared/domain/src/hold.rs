//! A hold: inventory claimed for 600 s at a fixed amount. `ACTIVE -> CONSUMED | EXPIRED | RELEASED`, forward only.

use serde::{Deserialize, Serialize};

use crate::clock::Moment;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HoldState {
    /// Its units are in `held`.
    Active,
    /// A reservation took its units over into `confirmed`.
    Consumed,
    /// Time ran out and its units went back.
    Expired,
    /// Given up by its owner; its units went back at once.
    Released,
}

/// A hold that is not ACTIVE moves nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the hold is {0:?} already")]
pub struct Closed(pub HoldState);

impl HoldState {
    pub const ALL: [Self; 4] = [Self::Active, Self::Consumed, Self::Expired, Self::Released];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Consumed => "CONSUMED",
            Self::Expired => "EXPIRED",
            Self::Released => "RELEASED",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    pub const fn consume(self) -> Result<Self, Closed> {
        self.close(Self::Consumed)
    }

    pub const fn expire(self) -> Result<Self, Closed> {
        self.close(Self::Expired)
    }

    pub const fn release(self) -> Result<Self, Closed> {
        self.close(Self::Released)
    }

    const fn close(self, to: Self) -> Result<Self, Closed> {
        match self {
            Self::Active => Ok(to),
            closed => Err(Closed(closed)),
        }
    }
}

/// May the expiry worker release it? Past its end, and past any deferral for a payment in flight.
pub fn is_due(expires_at: Moment, deferred_until: Option<Moment>, now: Moment) -> bool {
    now.is_past(expires_at) && deferred_until.is_none_or(|until| now.is_past(until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_active_hold_moves_and_only_forward() {
        for from in HoldState::ALL {
            for (to, moved) in [
                (HoldState::Consumed, from.consume()),
                (HoldState::Expired, from.expire()),
                (HoldState::Released, from.release()),
            ] {
                let expected = if from == HoldState::Active { Ok(to) } else { Err(Closed(from)) };
                assert_eq!(moved, expected, "{from:?} -> {to:?}");
            }
            assert_eq!(HoldState::from_name(from.as_str()), Some(from));
        }
    }
}
