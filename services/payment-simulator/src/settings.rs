use std::{path::PathBuf, time::Duration};

use crate::courier::Webhook;

/// How this provider behaves, and its bounds. All durations are real time.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Remembers charges over a restart. `None`: they live as long as the process.
    pub journal: Option<PathBuf>,
    /// How long the capture of a `pm_slow` takes. Longer than the client's deadline of 10 s.
    pub slow_capture: Duration,
    /// The longest that a call stays without an answer; then the connection is cut.
    pub silence: Duration,
    /// The longest that a control call waits for what it was asked to wait for.
    pub control_patience: Duration,
    /// `None`: nothing is told by itself.
    pub webhook: Option<Webhook>,
    /// How often a notice is sent that is not taken.
    pub webhook_tries: u32,
    /// Before the second try; it doubles with each, up to the longest.
    pub webhook_backoff: Duration,
    pub webhook_longest_backoff: Duration,
    /// Events whose notices wait to be sent. Those of more count as undelivered at once.
    pub max_notices: usize,
    pub max_references: usize,
    pub max_journal_bytes: u64,
    pub workers: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            journal: None,
            slow_capture: Duration::from_secs(11),
            silence: Duration::from_secs(60),
            control_patience: Duration::from_secs(10),
            webhook: None,
            webhook_tries: 10,
            webhook_backoff: Duration::from_secs(1),
            webhook_longest_backoff: Duration::from_secs(90),
            max_notices: 10_000,
            // Half a million bookings with both their calls, at some 200 bytes a line.
            max_references: 1_000_000,
            max_journal_bytes: 512 * 1024 * 1024,
            workers: 2,
        }
    }
}
