use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::{Desk, refund};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct Refunds {
    desk: Desk,
}

impl Refunds {
    pub(crate) const fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[async_trait]
impl Worker for Refunds {
    fn name(&self) -> &'static str {
        "refunds"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (shard, ledger) in self.desk.ledgers() {
            let sent = refund::run_once(&self.desk, ledger).await?;
            let parked = refund::needing_attention(ledger).await?;
            metrics::gauge!(names::REFUNDS_NEEDING_ATTENTION, "shard" => shard.to_string())
                .set(u32::try_from(parked)?);
            progress.done += sent.settled;
            progress.more_is_due |= sent.is_full();
        }
        Ok(progress)
    }
}
