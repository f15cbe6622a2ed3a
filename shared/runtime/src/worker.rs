//! Background work: what every worker shares, so that a worker itself is one function, `run_once`,
//! that a test can call without any loop.

mod cadence;
mod run_loop;
mod watch;

use std::error::Error;

use async_trait::async_trait;

pub use cadence::{Cadence, Jitter};
pub use run_loop::Workers;
pub use watch::{Ended, WorkerWatch};

/// What one run achieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Things done: holds expired, nights opened, keys removed.
    pub done: usize,
    /// More is due already: the next run follows at once.
    pub more_is_due: bool,
}

impl Progress {
    /// Nothing was due.
    pub const NOTHING: Self = Self { done: 0, more_is_due: false };

    /// Of a run that takes at most `bound` things: a full batch means that more may be waiting.
    pub const fn of_batch(done: usize, bound: usize) -> Self {
        Self { done, more_is_due: done >= bound }
    }
}

/// Several processes may run the same worker at once; a run divides the work by its locks.
#[async_trait]
pub trait Worker: Send + Sync + 'static {
    /// Of the metrics' label.
    fn name(&self) -> &'static str;

    /// One bounded piece of work. May be dropped at any await (when it takes too long, or at the end of
    /// a stop), and is run again after an error.
    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>>;
}
