//! The sandbox's clock, as the API needs it. Whoever composes a sandbox implements it: moving the
//! time means to wait for the workers, which no route knows of.

use async_trait::async_trait;
use keyrack_booking::sandbox_clock::{Move, MoveError};
use keyrack_domain::clock::Moment;

/// For what the answer waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitFor {
    /// Every worker has seen the new time.
    Seen,
    /// Besides, no worker has anything due.
    Drained,
}

#[async_trait]
pub trait SandboxClock: Send + Sync {
    /// The time when what was waited for had come.
    async fn advance(&self, by: Move, wait: WaitFor) -> Result<Moment, MoveError>;
}
