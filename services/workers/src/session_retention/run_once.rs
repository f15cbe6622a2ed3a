use std::{error::Error, time::Duration};

use async_trait::async_trait;
use keyrack_booking::{Desk, forget_sessions};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct SessionRetention {
    desk: Desk,
    keep: Duration,
}

impl SessionRetention {
    pub(crate) const fn new(desk: Desk, keep: Duration) -> Self {
        Self { desk, keep }
    }
}

#[async_trait]
impl Worker for SessionRetention {
    fn name(&self) -> &'static str {
        "session_retention"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let removed = forget_sessions::run_once(self.desk.shards(), self.keep).await?;
        metrics::counter!(names::GUEST_SESSIONS_REMOVED).increment(removed as u64);
        Ok(Progress { done: removed, more_is_due: removed >= usize::from(forget_sessions::MAX_REMOVED) })
    }
}
