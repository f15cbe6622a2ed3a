use std::{path::PathBuf, time::Duration};

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
            // Half a million bookings with both their calls, at some 200 bytes a line.
            max_references: 1_000_000,
            max_journal_bytes: 512 * 1024 * 1024,
            workers: 2,
        }
    }
}
