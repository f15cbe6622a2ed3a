use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::{Desk, roll_horizon};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct RollingHorizon {
    desk: Desk,
}

impl RollingHorizon {
    pub(crate) const fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[async_trait]
impl Worker for RollingHorizon {
    fn name(&self) -> &'static str {
        "horizon"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (_, ledger) in self.desk.ledgers() {
            let rolled = roll_horizon::run_once(ledger.database(), self.desk.settings().horizon).await?;
            metrics::counter!(names::HORIZON_NIGHTS_OPENED).increment(rolled.nights as u64);
            progress.done += rolled.nights;
        }
        Ok(progress)
    }
}
