use std::{error::Error, time::Duration};

use async_trait::async_trait;
use keyrack_booking::{Desk, relay};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct EventRetention {
    desk: Desk,
    keep: Duration,
}

impl EventRetention {
    pub(crate) const fn new(desk: Desk, keep: Duration) -> Self {
        Self { desk, keep }
    }
}

#[async_trait]
impl Worker for EventRetention {
    fn name(&self) -> &'static str {
        "event_retention"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (_, ledger) in self.desk.ledgers() {
            let events = relay::forget_published(ledger.database(), self.keep).await?;
            metrics::counter!(names::EVENTS_REMOVED).increment(events as u64);
            progress.done += events;
            progress.more_is_due |= events >= usize::from(relay::MAX_REMOVED);
        }
        for database in self.desk.databases() {
            let marks = relay::forget_processed(database, self.keep).await?;
            progress.done += marks;
            progress.more_is_due |= marks >= usize::from(relay::MAX_REMOVED);
        }
        Ok(progress)
    }
}
