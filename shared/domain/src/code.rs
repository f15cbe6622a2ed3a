//! Codes by which hotels name their own things: the hotel, its room types and rate plans.
//! Case-sensitive; never guessed, folded or trimmed.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The text is not `[A-Za-z0-9_-]{1,32}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 32 of A-Z, a-z, 0-9, underscore and hyphen")]
pub struct NotACode;

macro_rules! code {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NotACode;

            fn from_str(text: &str) -> Result<Self, NotACode> {
                let fits = (1..=32).contains(&text.len())
                    && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
                if fits { Ok(Self(text.to_owned())) } else { Err(NotACode) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotACode;

            fn try_from(text: String) -> Result<Self, NotACode> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(code: $name) -> Self {
                code.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

code!(
    /// The public address of a hotel, `HTL-204`.
    HotelCode
);
code!(
    /// `RT-DLX`
    RoomTypeCode
);
code!(
    /// `FLEX`
    RatePlanCode
);
code!(
    /// Who sells for the hotel under booking identifiers of its own.
    ChannelCode
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_one_to_thirty_two_plain_characters() {
        for good in ["a", "HTL-204", "rt_dlx", &"x".repeat(32)] {
            assert!(good.parse::<HotelCode>().is_ok(), "{good:?}");
        }
        for bad in ["", " ", "HTL 204", "é", "a/b", "a\0", &"x".repeat(33)] {
            assert_eq!(bad.parse::<HotelCode>(), Err(NotACode), "{bad:?}");
        }
    }
}
