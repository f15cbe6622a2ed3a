use std::{error::Error, time::Duration};

use async_trait::async_trait;
use keyrack_booking::{Desk, forget_batches};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct BatchRetention {
    desk: Desk,
    keep: Duration,
}

impl BatchRetention {
    pub(crate) const fn new(desk: Desk, keep: Duration) -> Self {
        Self { desk, keep }
    }
}

#[async_trait]
impl Worker for BatchRetention {
    fn name(&self) -> &'static str {
        "batch_retention"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (_, ledger) in self.desk.ledgers() {
            let removed = forget_batches::run_once(ledger.database(), self.keep).await?;
            metrics::counter!(names::PMS_BATCHES_REMOVED).increment(removed as u64);
            progress.done += removed;
            progress.more_is_due |= removed >= usize::from(forget_batches::MAX_REMOVED);
        }
        Ok(progress)
    }
}
