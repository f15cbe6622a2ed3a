//! How events come to those who act on them.

use std::{
    num::{NonZeroU32, NonZeroU64},
    time::Duration,
};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::{Wrong, secret};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Messaging {
    pub broker: BrokerKind,
    /// Of having acted on an event.
    pub mark_retention_days: NonZeroU32,
    pub nats: Nats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokerKind {
    /// Whoever publishes hands them on.
    InProcess,
    Nats,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nats {
    #[serde(deserialize_with = "secret")]
    pub url: SecretString,
    pub stream: String,
    pub most_megabytes: NonZeroU64,
}

impl Messaging {
    pub const fn mark_retention(&self) -> Duration {
        Duration::from_secs(self.mark_retention_days.get() as u64 * 24 * 3600)
    }

    pub(super) fn check(&self) -> Result<(), (&'static str, Wrong)> {
        let must = |holds: bool, name, wrong| if holds { Ok(()) } else { Err((name, wrong)) };
        let url = self.nats.url.expose_secret();
        let is_nats = url.starts_with("nats://") || url.starts_with("tls://");
        must(is_nats || self.broker == BrokerKind::InProcess, "messaging.nats.url", Wrong::NoNats)?;
        let stream = &self.nats.stream;
        let is_name = !stream.is_empty()
            && stream.len() <= 64
            && stream.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        must(is_name, "messaging.nats.stream", Wrong::StreamName)
    }
}
