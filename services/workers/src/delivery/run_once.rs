use std::error::Error;

use async_trait::async_trait;
use keyrack_booking::consume::Consumer;
use keyrack_messaging::{Handler, JetStream};
use keyrack_runtime::worker::{Progress, Worker};

#[derive(Debug)]
pub(crate) struct Delivery {
    broker: JetStream,
    consumer: Consumer,
}

impl Delivery {
    pub(crate) const fn new(broker: JetStream, consumer: Consumer) -> Self {
        Self { broker, consumer }
    }
}

#[async_trait]
impl Worker for Delivery {
    fn name(&self) -> &'static str {
        self.consumer.name()
    }

    async fn run_once(&self) -> Result<Progress, Box<dyn Error + Send + Sync>> {
        let done = self.broker.deliver(&self.consumer).await?;
        Ok(Progress { done, more_is_due: done > 0 })
    }
}
