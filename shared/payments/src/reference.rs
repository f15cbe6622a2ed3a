//! The names under which a provider knows our calls. They derive from the attempt and from nothing
//! else, so that a repeat, a resolver and a restarted process all name the same charge.

use std::fmt;

use keyrack_domain::ids::AttemptId;

/// One call at the provider.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reference {
    Authorization(AttemptId),
    Capture(AttemptId),
    Void(AttemptId),
    Refund(RefundTry),
}

/// One try of one refund of an attempt. `try_number` rises only after a definite failure, never
/// after an unknown outcome: a new name is a new payment back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RefundTry {
    pub attempt: AttemptId,
    /// The refund's number within its attempt, from 1.
    pub number: u32,
    /// From 1.
    pub try_number: u32,
}

impl Reference {
    pub const fn attempt(self) -> AttemptId {
        match self {
            Self::Authorization(attempt) | Self::Capture(attempt) | Self::Void(attempt) => attempt,
            Self::Refund(refund) => refund.attempt,
        }
    }
}

impl From<RefundTry> for Reference {
    fn from(refund: RefundTry) -> Self {
        Self::Refund(refund)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authorization(attempt) => write!(f, "{attempt}-auth"),
            Self::Capture(attempt) => write!(f, "{attempt}-capture"),
            Self::Void(attempt) => write!(f, "{attempt}-void"),
            Self::Refund(RefundTry { attempt, number, try_number }) => {
                write!(f, "{attempt}-refund-{number}-{try_number}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use keyrack_domain::ids::HotelId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn references_derive_from_the_attempt() {
        let attempt = AttemptId::new(HotelId(204), Uuid::from_u128(7));
        let name = "att_000000cc00000000000000000000000000000007";
        let refund = RefundTry { attempt, number: 2, try_number: 3 };
        for (reference, suffix) in [
            (Reference::Authorization(attempt), "auth"),
            (Reference::Capture(attempt), "capture"),
            (Reference::Void(attempt), "void"),
            (Reference::Refund(refund), "refund-2-3"),
        ] {
            assert_eq!(reference.to_string(), format!("{name}-{suffix}"));
            assert_eq!(reference.attempt(), attempt);
        }
    }
}
