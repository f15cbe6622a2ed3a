use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::{Desk, collect_charge};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct Charges {
    desk: Desk,
}

impl Charges {
    pub(crate) const fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[async_trait]
impl Worker for Charges {
    fn name(&self) -> &'static str {
        "charges"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (shard, ledger) in self.desk.ledgers() {
            let collected = collect_charge::run_once(&self.desk, ledger).await?;
            let given_up = collect_charge::given_up(ledger).await?;
            metrics::gauge!(names::CHARGES_GIVEN_UP, "shard" => shard.to_string())
                .set(u32::try_from(given_up)?);
            progress.done += collected.asked;
            progress.more_is_due |= collected.is_full();
        }
        Ok(progress)
    }
}
