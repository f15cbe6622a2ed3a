//! The names under which a provider knows our calls. They derive from the attempt and from nothing
//! else, so that a repeat, a resolver and a restarted process all name the same charge.

use std::{fmt, str::FromStr};

use keyrack_domain::ids::AttemptId;
use serde::{Deserialize, Serialize};

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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a reference of ours")]
pub struct NotOurReference;

/// Exactly what [`Display`](fmt::Display) writes, in one spelling.
impl FromStr for Reference {
    type Err = NotOurReference;

    fn from_str(text: &str) -> Result<Self, NotOurReference> {
        let (attempt, call) = text.split_once('-').ok_or(NotOurReference)?;
        let attempt: AttemptId = attempt.parse().map_err(|_| NotOurReference)?;
        let reference = match call {
            "auth" => Self::Authorization(attempt),
            "capture" => Self::Capture(attempt),
            "void" => Self::Void(attempt),
            other => refund_call(attempt, other).ok_or(NotOurReference)?.into(),
        };
        // `+1` and `01` are numbers, and no spelling of ours.
        if reference.to_string() == text { Ok(reference) } else { Err(NotOurReference) }
    }
}

fn refund_call(attempt: AttemptId, call: &str) -> Option<RefundTry> {
    let (number, try_number) = call.strip_prefix("refund-")?.split_once('-')?;
    let from_one = |text: &str| text.parse().ok().filter(|number: &u32| *number >= 1);
    Some(RefundTry { attempt, number: from_one(number)?, try_number: from_one(try_number)? })
}

#[cfg(test)]
mod tests {
    use keyrack_domain::ids::HotelId;
    use proptest::prelude::*;
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

    #[test]
    fn what_is_not_written_by_us_is_no_reference() {
        let name = "att_000000cc00000000000000000000000000000007";
        for text in [
            "",
            "-",
            "re_123",
            name,
            &format!("{name}-"),
            &format!("{name}-AUTH"),
            &format!("{name}-auth "),
            &format!("{name}-refund-1"),
            &format!("{name}-refund-0-1"),
            &format!("{name}-refund-1-0"),
            &format!("{name}-refund-01-1"),
            &format!("{name}-refund-+1-1"),
            &format!("{name}-refund-1-1-1"),
            &format!("{name}-refund-4294967296-1"),
            &format!("{}-auth", name.replace("cc", "CC")),
        ] {
            assert_eq!(text.parse::<Reference>(), Err(NotOurReference), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_reference_is_read_as_it_was_written(
            hotel in 0..=i32::MAX,
            uuid in any::<u128>(),
            number in 1..=u32::MAX,
            try_number in 1..=u32::MAX,
        ) {
            let attempt = AttemptId::new(HotelId(hotel), Uuid::from_u128(uuid));
            for reference in [
                Reference::Authorization(attempt),
                Reference::Capture(attempt),
                Reference::Void(attempt),
                RefundTry { attempt, number, try_number }.into(),
            ] {
                prop_assert_eq!(reference.to_string().parse(), Ok(reference));
            }
        }

        #[test]
        fn no_text_at_all_makes_the_reader_panic(text in ".{0,80}") {
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert_eq!(reference.to_string(), text);
            }
        }
    }
}
