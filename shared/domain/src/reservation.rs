//! A reservation: a confirmed stay, with a version that rises with each change.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReservationState {
    Confirmed,
    CheckedIn,
    CheckedOut,
    Cancelled,
    NoShow,
}

impl ReservationState {
    pub const ALL: [Self; 5] =
        [Self::Confirmed, Self::CheckedIn, Self::CheckedOut, Self::Cancelled, Self::NoShow];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "CONFIRMED",
            Self::CheckedIn => "CHECKED_IN",
            Self::CheckedOut => "CHECKED_OUT",
            Self::Cancelled => "CANCELLED",
            Self::NoShow => "NO_SHOW",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    pub fn becomes(self, to: Self) -> Result<Self, NoSuchMove> {
        use ReservationState::{Cancelled, CheckedIn, CheckedOut, Confirmed, NoShow};
        match (self, to) {
            (Confirmed, CheckedIn | Cancelled | NoShow)
            | (CheckedIn, CheckedOut)
            // A no-show that came after all.
            | (NoShow, Confirmed) => Ok(to),
            (from, to) => Err(NoSuchMove { from, to }),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a reservation that is {from:?} cannot become {to:?}")]
pub struct NoSuchMove {
    pub from: ReservationState,
    pub to: ReservationState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_moves_along_these_arrows_only() {
        let arrows = [
            ("CONFIRMED", "CHECKED_IN"),
            ("CONFIRMED", "CANCELLED"),
            ("CONFIRMED", "NO_SHOW"),
            ("CHECKED_IN", "CHECKED_OUT"),
            ("NO_SHOW", "CONFIRMED"),
        ];
        for from in ReservationState::ALL {
            for to in ReservationState::ALL {
                let allowed = arrows.contains(&(from.as_str(), to.as_str()));
                assert_eq!(from.becomes(to).is_ok(), allowed, "{from:?} -> {to:?}");
            }
        }
    }
}
