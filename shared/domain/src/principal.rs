//! Who is asking, and as what.

use serde::{Deserialize, Serialize};

use crate::ids::{HotelId, PrincipalId};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Guest,
    /// The whole installation.
    Operator,
    /// One hotel.
    Staff,
    Pms,
    Channel,
    Provider,
}

impl Role {
    pub const ALL: [Self; 6] =
        [Self::Guest, Self::Operator, Self::Staff, Self::Pms, Self::Channel, Self::Provider];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Operator => "operator",
            Self::Staff => "staff",
            Self::Pms => "pms",
            Self::Channel => "channel",
            Self::Provider => "provider",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// An authenticated caller. Identity in a request body is never read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    pub principal: PrincipalId,
    pub role: Role,
    /// The one hotel of a staff, PMS, channel or provider credential.
    pub hotel: Option<HotelId>,
    /// `X-Request-Id`, for audit and logs.
    pub request_id: String,
}

impl Caller {
    /// May this caller work behind the desk of that hotel?
    pub fn runs(&self, hotel: HotelId) -> bool {
        match self.role {
            Role::Operator => true,
            Role::Staff => self.hotel == Some(hotel),
            Role::Guest | Role::Pms | Role::Channel | Role::Provider => false,
        }
    }
}
