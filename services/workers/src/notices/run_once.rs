use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::{Desk, receive_notice::unmatched};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct Notices {
    desk: Desk,
}

impl Notices {
    pub(crate) const fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[async_trait]
impl Worker for Notices {
    fn name(&self) -> &'static str {
        "notices"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let matched = unmatched::run_once(&self.desk).await?;
        let (waiting, oldest_s) = unmatched::waiting(&self.desk).await?;
        metrics::gauge!(names::UNMATCHED_NOTICES).set(u32::try_from(waiting)?);
        metrics::gauge!(names::UNMATCHED_NOTICE_AGE_SECONDS).set(oldest_s);
        Ok(Progress { done: matched.applied, more_is_due: matched.is_full() })
    }
}
