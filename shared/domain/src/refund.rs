//! A refund: money on its way back, a record of its own.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefundState {
    /// Promised; the provider is asked until it says yes.
    Requested,
    Succeeded,
    /// Asked as often as we do by ourselves; an operator must look.
    NeedsAttention,
}

impl RefundState {
    pub const ALL: [Self; 3] = [Self::Requested, Self::Succeeded, Self::NeedsAttention];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "REQUESTED",
            Self::Succeeded => "SUCCEEDED",
            Self::NeedsAttention => "NEEDS_ATTENTION",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}
