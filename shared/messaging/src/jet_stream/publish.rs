use async_nats::jetstream::message::PublishMessage;
use async_trait::async_trait;
use futures::future::join_all;

use super::JetStream;
use crate::{Broker, Message, NotPublished};

#[async_trait]
impl Broker for JetStream {
    /// All are sent, then all acknowledgements are waited for. The server knows a copy by the event's id.
    async fn publish(&self, messages: &[Message]) -> Result<(), NotPublished> {
        let mut acknowledged = Vec::with_capacity(messages.len());
        for message in messages {
            let payload = serde_json::to_vec(message).map_err(|error| not_published(&error))?;
            let publish =
                PublishMessage::build().message_id(message.event_id.to_string()).payload(payload.into());
            let sent = self.context.send_publish(self.subject(message.hotel), publish).await;
            acknowledged.push(sent.map_err(|error| not_published(&error))?);
        }
        for answer in join_all(acknowledged.into_iter().map(IntoFuture::into_future)).await {
            answer.map_err(|error| not_published(&error))?;
        }
        Ok(())
    }
}

fn not_published(error: &dyn std::error::Error) -> NotPublished {
    NotPublished { why: error.to_string(), source: None }
}
