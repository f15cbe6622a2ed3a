use std::{error::Error, time::Duration};

use async_trait::async_trait;
use keyrack_booking::{Desk, forget_keys};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct KeyRetention {
    desk: Desk,
    keep: Duration,
}

impl KeyRetention {
    pub(crate) const fn new(desk: Desk, keep: Duration) -> Self {
        Self { desk, keep }
    }
}

#[async_trait]
impl Worker for KeyRetention {
    fn name(&self) -> &'static str {
        "key_retention"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (_, ledger) in self.desk.ledgers() {
            let removed = forget_keys::run_once(ledger.database(), self.keep).await?;
            metrics::counter!(names::KEYS_REMOVED).increment(removed as u64);
            progress.done += removed;
            progress.more_is_due |= removed >= usize::from(forget_keys::MAX_REMOVED);
        }
        Ok(progress)
    }
}
