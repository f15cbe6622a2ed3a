//! Who did something, for the audit.

use crate::{ids::PrincipalId, principal::Caller};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Actor {
    Caller(Caller),
    /// A payment provider, by a notice that it signed.
    Provider {
        request_id: String,
    },
    /// One of our own workers, by the clock.
    Worker,
}

impl Actor {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Caller(caller) => caller.role.as_str(),
            Self::Provider { .. } => "provider",
            Self::Worker => "worker",
        }
    }

    pub const fn principal(&self) -> Option<PrincipalId> {
        match self {
            Self::Caller(caller) => Some(caller.principal),
            Self::Provider { .. } | Self::Worker => None,
        }
    }

    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Caller(caller) => Some(&caller.request_id),
            Self::Provider { request_id } => Some(request_id),
            Self::Worker => None,
        }
    }
}
