use std::{error::Error, sync::Arc};

use async_trait::async_trait;
use keyrack_booking::{Desk, relay};
use keyrack_messaging::Broker;
use keyrack_runtime::worker::{Progress, Worker};
use keyrack_telemetry::names;

#[derive(Debug)]
pub(crate) struct Relay {
    desk: Desk,
    broker: Arc<dyn Broker>,
}

impl Relay {
    pub(crate) const fn new(desk: Desk, broker: Arc<dyn Broker>) -> Self {
        Self { desk, broker }
    }
}

#[async_trait]
impl Worker for Relay {
    fn name(&self) -> &'static str {
        "relay"
    }

    /// Of each shard the hotels whose events have waited longest. A failure holds up those hotels alone.
    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let mut progress = Progress::NOTHING;
        for (shard, ledger) in self.desk.ledgers() {
            match relay::run_once(ledger.database(), self.broker.as_ref()).await {
                Ok(relayed) => {
                    metrics::counter!(names::EVENTS_PUBLISHED).increment(relayed.published as u64);
                    progress.done += relayed.published;
                    progress.more_is_due |= relayed.found;
                }
                Err(error) => {
                    metrics::counter!(names::RELAY_FAILURES).increment(1);
                    tracing::warn!(%shard, error = &error as &dyn Error, "events wait to be published");
                }
            }
        }
        Ok(progress)
    }
}
