use std::{error::Error, fmt};

use async_trait::async_trait;

use crate::Message;

/// Not all of the messages are known to be kept: they are published again, all of them.
#[derive(Debug, thiserror::Error)]
#[error("not published: {why}")]
pub struct NotPublished {
    pub why: String,
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// Where the relay publishes to.
#[async_trait]
pub trait Broker: fmt::Debug + Send + Sync {
    /// `Ok` once every message is kept by the broker, or has had its effect at every handler. Messages of a
    /// hotel are in the order of their `seq`.
    async fn publish(&self, messages: &[Message]) -> Result<(), NotPublished>;
}
