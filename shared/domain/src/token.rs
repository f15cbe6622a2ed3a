//! A bearer token as it is kept and compared: only its hash. The token has 256 random bits, so a
//! slow hash would add nothing.

use std::fmt;

/// SHA-256 of the token's text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// A hash in a log would let somebody who can write to the table pretend to have a token.
impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}
