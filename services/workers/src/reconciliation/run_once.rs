use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::{Desk, reconcile};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct Reconciliation {
    desk: Desk,
}

impl Reconciliation {
    pub(crate) const fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[async_trait]
impl Worker for Reconciliation {
    fn name(&self) -> &'static str {
        "reconciliation"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (shard, ledger) in self.desk.ledgers() {
            let swept = reconcile::run_once(&self.desk, ledger).await?;
            let open = reconcile::open_cases(ledger).await?;
            metrics::gauge!(names::RECONCILIATION_OPEN, "shard" => shard.to_string())
                .set(u32::try_from(open)?);
            progress.done += swept.ended;
            progress.more_is_due |= swept.is_full();
        }
        Ok(progress)
    }
}
