//! When a worker runs.

use std::{fmt, time::Duration};

use rand::RngExt;

#[derive(Debug, Clone, Copy)]
pub struct Cadence {
    /// Between the end of a run and the start of the next, while nothing more is due.
    pub interval: Duration,
    /// A run that takes longer is dropped and counts as failed.
    pub longest_run: Duration,
    /// While more is due, runs follow each other at once, but only so many; then one interval passes.
    pub runs_in_a_row: u32,
    /// After failures the wait doubles up to this, or up to the interval where that is longer.
    pub longest_backoff: Duration,
}

/// The wait after a first failure, where the interval is not shorter: what runs once in an hour is not put off for
/// an hour because a row was locked.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);

impl Cadence {
    pub const fn every(interval: Duration) -> Self {
        Self {
            interval,
            longest_run: Duration::from_mins(1),
            runs_in_a_row: 1000,
            longest_backoff: Duration::from_mins(1),
        }
    }

    /// The wait after so many failures, at least one, without a success between them.
    pub(super) fn wait_after(&self, failures: u32) -> Duration {
        let factor = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        let first = self.interval.min(FIRST_BACKOFF);
        let longest = self.longest_backoff.max(self.interval);
        first.checked_mul(factor).map_or(longest, |wait| wait.min(longest))
    }
}

/// Spreads the runs of several processes over time. A parameter, so that tests have none.
pub struct Jitter(Box<dyn FnMut(Duration) -> Duration + Send>);

impl Jitter {
    /// Between three quarters and five quarters of the wait.
    pub fn random() -> Self {
        Self::from_fn(|wait| wait * 3 / 4 + wait * rand::rng().random_range(0..=50) / 100)
    }

    pub fn none() -> Self {
        Self::from_fn(|wait| wait)
    }

    pub fn from_fn(spread: impl FnMut(Duration) -> Duration + Send + 'static) -> Self {
        Self(Box::new(spread))
    }

    pub(super) fn spread(&mut self, wait: Duration) -> Duration {
        (self.0)(wait)
    }
}

impl fmt::Debug for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jitter")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_with_each_failure_up_to_a_bound() {
        let cadence = Cadence::every(Duration::from_secs(2));
        let waits = [1, 2, 6, 7, 32, 33, u32::MAX].map(|n| cadence.wait_after(n).as_secs());
        assert_eq!(waits, [1, 2, 32, 60, 60, 60, 60]);
        let quick = Cadence::every(Duration::from_millis(50));
        assert_eq!([1, 2, 3].map(|n| quick.wait_after(n).as_millis()), [50, 100, 200]);
    }

    #[test]
    fn what_runs_seldom_is_tried_again_soon_and_in_the_end_as_seldom_as_ever() {
        let slow = Cadence::every(Duration::from_hours(1));
        assert_eq!([1, 2, 3].map(|n| slow.wait_after(n).as_secs()), [1, 2, 4]);
        assert_eq!(slow.wait_after(20), slow.interval);
    }

    #[test]
    fn jitter_stays_within_a_quarter() {
        let mut jitter = Jitter::random();
        for _ in 0..1000 {
            let wait = jitter.spread(Duration::from_secs(4));
            assert!((Duration::from_secs(3)..=Duration::from_secs(5)).contains(&wait), "{wait:?}");
        }
    }
}
