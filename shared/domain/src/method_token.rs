//! The provider's token for a payment method. It stands for a card without being one, and shows
//! itself to nobody but the store and the provider.

use std::{fmt, str::FromStr};

use serde::Deserialize;

/// 1 to 255 visible ASCII characters, and not the number of a card. It has no `Display` and no
/// `Serialize`: it leaves only where [`MethodToken::expose`] is written.
#[derive(Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct MethodToken(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAToken {
    #[error("must be 1 to 255 visible ASCII characters")]
    Shape,
    #[error("must be the provider's token, never the number of a card")]
    CardNumber,
}

impl MethodToken {
    /// For the provider's call, the attempt's row and its fingerprint; never for a log.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for MethodToken {
    type Err = NotAToken;

    fn from_str(text: &str) -> Result<Self, NotAToken> {
        let visible = (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if !visible {
            return Err(NotAToken::Shape);
        }
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let only_digits = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'_'));
        // A form that sends the card itself must fail loudly before anything stores it.
        if only_digits && (12..=19).contains(&digits) {
            return Err(NotAToken::CardNumber);
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for MethodToken {
    type Error = NotAToken;

    fn try_from(text: String) -> Result<Self, NotAToken> {
        text.parse()
    }
}

impl fmt::Debug for MethodToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MethodToken(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_shows_itself_only_when_asked() {
        let token: MethodToken = "pm_ok".parse().expect("a token");
        assert_eq!(token.expose(), "pm_ok");
        assert_eq!(format!("{token:?}"), "MethodToken(hidden)");
    }

    #[test]
    fn card_numbers_and_what_no_provider_issues_are_refused() {
        for card in ["4111111111111111", "4111-1111-1111-1111", "378282246310005", "6011.0009.9013.9424"] {
            assert_eq!(card.parse::<MethodToken>(), Err(NotAToken::CardNumber), "{card}");
        }
        for text in ["", "pm ok", "pm_\u{e9}", "pm_ok\n", &"x".repeat(256)] {
            assert_eq!(text.parse::<MethodToken>(), Err(NotAToken::Shape), "{text:?}");
        }
        for token in ["pm_4111111111111111", "12345678901", &"x".repeat(255)] {
            assert!(token.parse::<MethodToken>().is_ok(), "{token}");
        }
    }
}
