//! Which edition of a hotel's rule was used: of a tax, or of a rate plan's terms.

use std::fmt;

use serde::{Deserialize, Serialize};

/// From 1; rises with every edit. The first is not written where a rule is kept: what was kept before rules had
/// versions was of the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RuleVersion(pub i32);

impl RuleVersion {
    pub const FIRST: Self = Self(1);

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    pub(crate) fn is_first(&self) -> bool {
        *self == Self::FIRST
    }
}

impl Default for RuleVersion {
    fn default() -> Self {
        Self::FIRST
    }
}

impl fmt::Display for RuleVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
