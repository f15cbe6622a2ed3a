use async_nats::jetstream::{AckKind, Message as Received};
use futures::StreamExt;

use super::{BATCH, JetStream, JetStreamError};
use crate::{Handler, Message};

impl JetStream {
    /// Hands what waits for this handler to it, up to a bound: how many messages it took. Nothing is
    /// acknowledged before its effect is durable.
    pub async fn deliver(&self, handler: &dyn Handler) -> Result<usize, JetStreamError> {
        let received = self.fetch(handler.name()).await?;
        let mut messages = Vec::with_capacity(received.len());
        let mut readable = Vec::with_capacity(received.len());
        for one in received {
            match serde_json::from_slice::<Message>(&one.payload) {
                Ok(message) => {
                    messages.push(message);
                    readable.push(one);
                }
                // Nobody but we publish here. It would come again for ever.
                Err(error) => {
                    tracing::error!(handler = handler.name(), %error, "what is no message of ours was dropped");
                    answer(&one, AckKind::Term).await;
                }
            }
        }
        if messages.is_empty() {
            return Ok(0);
        }
        let handled = handler.handle(&messages).await;
        for one in &readable {
            answer(one, if handled.is_ok() { AckKind::Ack } else { AckKind::Nak(None) }).await;
        }
        handled?;
        Ok(messages.len())
    }

    async fn fetch(&self, handler: &'static str) -> Result<Vec<Received>, JetStreamError> {
        let failed = |error: &dyn std::error::Error| JetStreamError::Receive(error.to_string());
        let consumer = self.consumer(handler).await.map_err(|error| failed(&error))?;
        let mut batch =
            consumer.fetch().max_messages(BATCH).messages().await.map_err(|error| failed(&error))?;
        let mut received = Vec::new();
        while let Some(one) = batch.next().await {
            received.push(one.map_err(|error| JetStreamError::Receive(error.to_string()))?);
        }
        Ok(received)
    }
}

/// What is not heard by the server makes the message come again.
async fn answer(message: &Received, kind: AckKind) {
    if let Err(error) = message.ack_with(kind).await {
        tracing::warn!(%error, "an acknowledgement was not sent: the message comes again");
    }
}
