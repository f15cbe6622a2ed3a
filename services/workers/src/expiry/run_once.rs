use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::{Desk, expire};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct Expiry {
    desk: Desk,
}

impl Expiry {
    pub(crate) const fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[async_trait]
impl Worker for Expiry {
    fn name(&self) -> &'static str {
        "expiry"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (shard, ledger) in self.desk.ledgers() {
            let done = expire::run_once(ledger).await?;
            metrics::counter!(names::EXPIRED_HOLDS).increment(done.expired as u64);
            let lag = expire::lag(ledger).await?;
            metrics::gauge!(names::EXPIRY_LAG_SECONDS, "shard" => shard.to_string()).set(lag.as_secs_f64());
            progress.done += done.expired;
            // A full page of candidates means that more may be due; one that moved nothing would spin.
            progress.more_is_due |= done.is_full() && done.expired > 0;
        }
        Ok(progress)
    }
}
