//! Who did something, for the audit.

use crate::{ids::PrincipalId, principal::Caller};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Actor {
    Caller(Caller),
    /// One of our own workers, by the clock.
    Worker,
}

impl Actor {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Caller(caller) => caller.role.as_str(),
            Self::Worker => "worker",
        }
    }

    pub const fn principal(&self) -> Option<PrincipalId> {
        match self {
            Self::Caller(caller) => Some(caller.principal),
            Self::Worker => None,
        }
    }

    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Caller(caller) => Some(&caller.request_id),
            Self::Worker => None,
        }
    }
}
