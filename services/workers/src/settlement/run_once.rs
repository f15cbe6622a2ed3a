use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::{Desk, compare_settlement};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct Comparison {
    desk: Desk,
}

impl Comparison {
    pub(crate) const fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[async_trait]
impl Worker for Comparison {
    fn name(&self) -> &'static str {
        "settlement"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let compared = compare_settlement::run_once(&self.desk).await?;
        let open = compare_settlement::open_findings(&self.desk).await?;
        metrics::gauge!(names::SETTLEMENT_FINDINGS_OPEN).set(u32::try_from(open)?);
        let done = compared.given_back + compared.applied + compared.found + compared.returned;
        Ok(Progress { done, more_is_due: compared.more })
    }
}
