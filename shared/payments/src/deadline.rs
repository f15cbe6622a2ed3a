use std::time::Duration;

use tokio::time::Instant;

/// When a call to a provider is given up: real time, on this process's monotonic clock. Not a
/// [`Moment`](keyrack_domain::clock::Moment): moving the sandbox's clock does not hurry a network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    pub fn after(wait: Duration) -> Self {
        Self(Instant::now() + wait)
    }

    pub const fn at(instant: Instant) -> Self {
        Self(instant)
    }

    pub const fn instant(self) -> Instant {
        self.0
    }

    pub fn is_past(self) -> bool {
        Instant::now() >= self.0
    }
}
