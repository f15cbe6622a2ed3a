use std::{error::Error, time::Duration};

use async_trait::async_trait;
use keyrack_booking::{Desk, relay};
use keyrack_runtime::worker::{Progress, Worker};

#[derive(Debug)]
pub(crate) struct MarkRetention {
    desk: Desk,
    keep: Duration,
}

impl MarkRetention {
    pub(crate) const fn new(desk: Desk, keep: Duration) -> Self {
        Self { desk, keep }
    }
}

#[async_trait]
impl Worker for MarkRetention {
    fn name(&self) -> &'static str {
        "mark_retention"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for database in self.desk.databases() {
            let marks = relay::forget_processed(database, self.keep).await?;
            progress.done += marks;
            progress.more_is_due |= marks >= usize::from(relay::MAX_REMOVED);
        }
        Ok(progress)
    }
}
