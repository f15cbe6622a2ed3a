//! The sandbox's clock.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::instant::Instant;

/// `POST /v1/sandbox/clock`: exactly one of the two. Forward only.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveClock {
    /// Seconds to go ahead.
    #[serde(default)]
    pub advance_s: Option<u32>,
    /// The instant to go to.
    #[serde(default)]
    pub now: Option<Instant>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct SandboxClock {
    /// What the clock showed when the workers had seen the move. It runs.
    pub now: Instant,
}
