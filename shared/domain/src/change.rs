//! A change of a stay: priced, and carried out when it is confirmed. Until it is COMPLETED the reservation is
//! what it was.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChangeState {
    /// A price promise. Claims nothing.
    Priced,
    /// What it adds is held, and its difference is being paid.
    Started,
    /// The stay is the new one.
    Completed,
    /// Its difference was taken and the stay could not be changed: what was taken goes back.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a change that is {from:?} cannot become {to:?}")]
pub struct NoSuchMove {
    pub from: ChangeState,
    pub to: ChangeState,
}

impl ChangeState {
    pub const ALL: [Self; 4] = [Self::Priced, Self::Started, Self::Completed, Self::Failed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Priced => "PRICED",
            Self::Started => "STARTED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    pub fn becomes(self, to: Self) -> Result<Self, NoSuchMove> {
        use ChangeState::{Completed, Failed, Priced, Started};
        match (self, to) {
            // Nothing to pay: it is done at once.
            (Priced, Started | Completed)
            // A card that was declined leaves the promise as it was.
            | (Started, Completed | Priced | Failed) => Ok(to),
            (from, to) => Err(NoSuchMove { from, to }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_moves_is_exactly_this() {
        use ChangeState::{Completed, Failed, Priced, Started};
        let allowed = [
            (Priced, Started),
            (Priced, Completed),
            (Started, Completed),
            (Started, Priced),
            (Started, Failed),
        ];
        for from in ChangeState::ALL {
            for to in ChangeState::ALL {
                assert_eq!(from.becomes(to).is_ok(), allowed.contains(&(from, to)), "{from:?} -> {to:?}");
            }
            assert_eq!(ChangeState::from_name(from.as_str()), Some(from));
        }
    }
}
