//! A traveler without an account.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::instant::Instant;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GuestSession {
    #[schema(example = "prn_6f9619ff8b864d01b42d00cf4fc964ff")]
    pub principal: String,
    /// For `Authorization: Bearer`. Shown now and never again.
    pub token: String,
    /// In real time, in a sandbox too.
    pub expires_at: Instant,
}

/// A token belongs in no log.
impl fmt::Debug for GuestSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GuestSession({})", self.principal)
    }
}
