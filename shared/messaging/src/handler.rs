use std::{error::Error, fmt};

use async_trait::async_trait;

use crate::Message;

/// What the effect needs is out of reach. The messages come again, all of them.
#[derive(Debug, thiserror::Error)]
#[error("{handler} cannot act now")]
pub struct NotNow {
    pub handler: &'static str,
    pub source: Box<dyn Error + Send + Sync>,
}

/// Somebody who acts on events.
#[async_trait]
pub trait Handler: fmt::Debug + Send + Sync {
    /// Stable: a broker keeps by this name what has been handled. Letters, digits, `_` and `-`.
    fn name(&self) -> &'static str;

    /// `Ok` once the effect of every message is durable. A message that can never have one is no reason to
    /// fail: the handler puts it aside where an operator finds it.
    async fn handle(&self, messages: &[Message]) -> Result<(), NotNow>;
}
