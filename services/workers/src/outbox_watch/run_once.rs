use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::{Desk, consume, outbox_age};
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct OutboxWatch {
    desk: Desk,
}

impl OutboxWatch {
    pub(crate) const fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[async_trait]
impl Worker for OutboxWatch {
    fn name(&self) -> &'static str {
        "outbox_watch"
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        for (shard, ledger) in self.desk.ledgers() {
            let pending = outbox_age::read(ledger).await?;
            let shard = shard.to_string();
            metrics::gauge!(names::OUTBOX_PENDING, "shard" => shard.clone()).set(pending.events);
            metrics::gauge!(names::OUTBOX_AGE_SECONDS, "shard" => shard).set(pending.age.as_secs_f64());
        }
        #[expect(clippy::cast_precision_loss, reason = "counted up to a bound")]
        metrics::gauge!(names::DEAD_LETTERS_WAITING).set(consume::waiting(&self.desk).await? as f64);
        Ok(Progress::NOTHING)
    }
}
