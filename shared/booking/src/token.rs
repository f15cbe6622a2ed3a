//! Bearer tokens: shown once, kept as a hash.

use keyrack_domain::token::TokenHash;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

/// A token that nobody has seen yet.
#[derive(Debug)]
pub(crate) struct FreshToken {
    pub(crate) text: SecretString,
    pub(crate) hash: TokenHash,
}

/// What a token is for can be read from its first letters, by people and by scanners for leaked secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TokenKind {
    GuestSession,
    ApiKey,
}

impl FreshToken {
    pub(crate) fn new(kind: TokenKind, secret: [u8; 32]) -> Self {
        let prefix = match kind {
            TokenKind::GuestSession => "krg",
            TokenKind::ApiKey => "krk",
        };
        let text = format!("{prefix}_{}", hex::encode(secret));
        let hash = TokenHash(Sha256::digest(&text).into());
        Self { text: text.into(), hash }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_token_is_kept_as_the_sha_256_of_its_text_and_shows_itself_only_when_asked() {
        let token = FreshToken::new(TokenKind::ApiKey, [7; 32]);
        assert_eq!(token.text.expose_secret(), format!("krk_{}", "07".repeat(32)));
        let expected: [u8; 32] = Sha256::digest(token.text.expose_secret()).into();
        assert_eq!(token.hash, TokenHash(expected));
        assert!(!format!("{token:?}").contains("0707"));
    }
}
