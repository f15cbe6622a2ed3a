//! NATS JetStream: several machines. One stream per installation, a subject per hotel, one durable consumer
//! per handler. The stream keeps a message until every handler has acknowledged it, and refuses new ones when
//! it is full: then they stay in the outbox.

mod deliver;
mod publish;

use std::time::Duration;

use async_nats::{
    ConnectOptions,
    jetstream::{
        self, Context,
        consumer::{AckPolicy, PullConsumer, pull},
        stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream},
    },
};
use secrecy::{ExposeSecret, SecretString};

/// An answer of the server takes no longer, or it is taken for lost.
const ANSWER: Duration = Duration::from_secs(5);
/// A copy of a message that comes within this time is dropped by the server. What comes later is dropped by
/// the handlers.
const DUPLICATES: Duration = Duration::from_mins(2);

/// Messages of one delivery.
pub(crate) const BATCH: usize = 500;
/// Who has not acknowledged within it is taken for dead, and the messages go to another.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct JetStreamSettings {
    /// Such as `nats://127.0.0.1:4222`, with a user's name and password where the server asks for them.
    pub url: SecretString,
    /// Of the stream, and the first part of its subjects: two installations may share a server.
    pub stream: String,
    /// The stream refuses messages beyond this size.
    pub most_bytes: i64,
}

#[derive(Debug, thiserror::Error)]
pub enum JetStreamError {
    #[error("the address of the NATS server cannot be read")]
    Address,
    #[error("the NATS server cannot be reached")]
    Connect(#[source] async_nats::ConnectError),
    #[error("the stream {stream} cannot be had: {detail}")]
    Stream { stream: String, detail: String },
    #[error("messages cannot be had: {0}")]
    Receive(String),
    #[error(transparent)]
    NotNow(#[from] crate::NotNow),
}

/// A connection to the installation's stream. It comes back by itself when the server does.
#[derive(Clone, Debug)]
pub struct JetStream {
    context: Context,
    stream: Stream,
    name: String,
}

impl JetStream {
    /// The stream exists afterwards, and a durable consumer for each of the handlers: what is published from
    /// now on waits for all of them.
    pub async fn connect(
        settings: &JetStreamSettings,
        handlers: &[&'static str],
    ) -> Result<Self, JetStreamError> {
        let address: async_nats::ServerAddr =
            settings.url.expose_secret().parse().map_err(|_| JetStreamError::Address)?;
        let client = ConnectOptions::new()
            .name("keyrack")
            .request_timeout(Some(ANSWER))
            .connect(address)
            .await
            .map_err(JetStreamError::Connect)?;
        let mut context = jetstream::new(client);
        context.set_timeout(ANSWER);
        let name = settings.stream.clone();
        let failed = |detail: String| JetStreamError::Stream { stream: name.clone(), detail };
        let stream = context
            .get_or_create_stream(config(settings))
            .await
            .map_err(|error| failed(error.to_string()))?;
        let joined = Self { context, stream, name: settings.stream.clone() };
        for handler in handlers {
            joined.consumer(handler).await.map_err(|error| failed(error.to_string()))?;
        }
        Ok(joined)
    }

    fn subject(&self, hotel: keyrack_domain::ids::HotelId) -> String {
        format!("{}.events.{hotel}", self.name)
    }

    async fn consumer(
        &self,
        handler: &'static str,
    ) -> Result<PullConsumer, jetstream::stream::ConsumerError> {
        let config = pull::Config {
            durable_name: Some(handler.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACKNOWLEDGED_WITHIN,
            // Nothing new is handed out while a batch is not acknowledged: what failed comes first.
            max_ack_pending: i64::try_from(BATCH).unwrap_or(i64::MAX),
            ..pull::Config::default()
        };
        self.stream.get_or_create_consumer(handler, config).await
    }
}

fn config(settings: &JetStreamSettings) -> Config {
    Config {
        name: settings.stream.clone(),
        subjects: vec![format!("{}.events.*", settings.stream)],
        retention: RetentionPolicy::Interest,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        max_bytes: settings.most_bytes,
        duplicate_window: DUPLICATES,
        ..Config::default()
    }
}
