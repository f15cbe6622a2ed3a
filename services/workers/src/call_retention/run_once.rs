use std::{error::Error, time::Duration};

use async_trait::async_trait;
use keyrack_booking::{Desk, forget_calls};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct CallRetention {
    desk: Desk,
    keep: Duration,
}

impl CallRetention {
    pub(crate) const fn new(desk: Desk, keep: Duration) -> Self {
        Self { desk, keep }
    }
}

#[async_trait]
impl Worker for CallRetention {
    fn name(&self) -> &'static str {
        "call_retention"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (_, ledger) in self.desk.ledgers() {
            let removed = forget_calls::run_once(ledger.database(), self.keep).await?;
            metrics::counter!(names::PROVIDER_CALLS_REMOVED).increment(removed as u64);
            progress.done += removed;
            progress.more_is_due |= removed >= usize::from(forget_calls::MAX_REMOVED);
        }
        Ok(progress)
    }
}
