//! For one machine: nothing to install, nothing kept in between. What is published has had its effect when
//! the relay hears so, and stays in the outbox until then.

use std::{error::Error, sync::Arc};

use async_trait::async_trait;
use futures::future::join_all;

use crate::{Broker, Handler, Message, NotPublished};

#[derive(Debug)]
pub struct InProcess {
    handlers: Vec<Arc<dyn Handler>>,
}

impl InProcess {
    pub const fn new(handlers: Vec<Arc<dyn Handler>>) -> Self {
        Self { handlers }
    }
}

#[async_trait]
impl Broker for InProcess {
    /// One that cannot act holds up the messages, not the other handlers.
    async fn publish(&self, messages: &[Message]) -> Result<(), NotPublished> {
        let handled = join_all(self.handlers.iter().map(|handler| handler.handle(messages))).await;
        match handled.into_iter().find_map(Result::err) {
            None => Ok(()),
            Some(not_now) => {
                let source: Box<dyn Error + Send + Sync> = not_now.source;
                Err(NotPublished { why: format!("{} cannot act now", not_now.handler), source: Some(source) })
            }
        }
    }
}
