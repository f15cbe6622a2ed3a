//! Configuration. The list of all settings with their defaults is `docs/keyrack.sample.toml`: it is
//! compiled in as the lowest layer, so it is complete and true by construction.

mod limits;
mod messaging;
mod payments;
mod sandbox;
mod secrets;
mod shards;

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    num::{NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize},
    path::{Path, PathBuf},
};

use config::{Config, ConfigError, Environment, File, FileFormat};
use keyrack_telemetry::log::LogFormat;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

pub use limits::Wrong;
pub use messaging::{BrokerKind, Messaging, Nats};
pub use payments::{Payments, ProviderKind, Stripe};
pub use shards::ShardSettings;

const SAMPLE: &str = include_str!("../../../docs/keyrack.sample.toml");

/// Their own names in the environment; no settings.
const NOT_SETTINGS: [&str; 2] = ["KEYRACK_TEST_", "KEYRACK_WRITE_"];

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    #[serde(deserialize_with = "shards::read")]
    pub shards: Vec<ShardSettings>,
    pub http: Http,
    pub directory: Directory,
    pub database: Database,
    pub holds: Holds,
    pub operations: Operations,
    pub provider: Provider,
    pub payments: Payments,
    pub inventory: Inventory,
    pub messaging: Messaging,
    pub workers: Workers,
    pub log: Log,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    pub listen_address: IpAddr,
    /// Zero takes a free one.
    pub port: u16,
    pub body_limit_bytes: NonZeroUsize,
    /// At a stop, for requests and workers under way.
    pub drain_ms: NonZeroU64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Directory {
    #[serde(deserialize_with = "secret")]
    pub database_url: SecretString,
}

/// Bounds of this process, for each database.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    pub pool_connections: NonZeroU32,
    pub acquire_timeout_ms: NonZeroU64,
    /// Of one lock.
    pub lock_timeout_ms: NonZeroU64,
    pub statement_timeout_ms: NonZeroU64,
    /// The URLs name poolers in transaction mode.
    pub transaction_pooler: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holds {
    /// ACTIVE holds of one principal.
    pub most_active_per_hotel: NonZeroU32,
}

/// Retryable operations.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    /// How long a copy waits for its original.
    pub copy_wait_ms: NonZeroU64,
    pub replay_window_hours: NonZeroU32,
    pub key_retention_days: NonZeroU32,
    /// Of what the payment provider was asked, for the timeline of a booking.
    pub provider_call_retention_days: NonZeroU32,
    /// Of guest sessions, from their end on.
    pub guest_session_retention_days: NonZeroU32,
    /// Of what the batches of hotels' systems came to.
    pub pms_batch_retention_days: NonZeroU32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Empty: this process calls no provider.
    pub base_url: String,
    /// Of one call, in real time.
    pub deadline_ms: NonZeroU64,
    /// How long the release of a hold waits for a payment in flight.
    pub auth_timeout_s: NonZeroU64,
    /// With which the provider signs its notices. Empty: none are received.
    #[serde(deserialize_with = "secrets::read")]
    pub webhook_secrets: Vec<SecretString>,
    /// How far the time of a signature may lie from now, before or after.
    pub webhook_tolerance_s: u64,
    /// The same, where the customer has to act first.
    pub action_timeout_s: NonZeroU64,
    /// Of a sandbox: whether its provider tells by itself what happens.
    pub sandbox_notices: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// Nights ahead of today that are open for sale.
    pub horizon_days: NonZeroU16,
}

/// Background workers; the intervals are waits between runs that found nothing to do.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workers {
    /// Of a process that has workers alone: health and metrics.
    pub listen_address: IpAddr,
    /// Zero takes a free one.
    pub port: u16,
    pub expiry_interval_ms: NonZeroU64,
    pub reconciliation_interval_ms: NonZeroU64,
    pub settlement_interval_s: NonZeroU64,
    pub horizon_interval_s: NonZeroU64,
    pub relay_interval_ms: NonZeroU64,
    pub key_retention_interval_s: NonZeroU64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub format: LogFormat,
    pub filter: String,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings file {} is not there", .0.display())]
    NoFile(PathBuf),
    #[error("{0}")]
    Unreadable(ConfigError),
    #[error("{0} is wrong: {1}")]
    Wrong(&'static str, Wrong),
}

impl Settings {
    /// From the defaults, a file, and an environment; the later wins.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        Self::read(file, environment)?.checked()
    }

    fn read(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let mut layers = Config::builder().add_source(File::from_str(SAMPLE, FileFormat::Toml));
        if let Some(path) = file {
            if !path.is_file() {
                return Err(SettingsError::NoFile(path.to_owned()));
            }
            layers = layers.add_source(File::from(path).format(FileFormat::Toml));
        }
        for variables in by_precedence(environment) {
            let environment = Environment::with_prefix("KEYRACK").prefix_separator("_").separator("__");
            layers = layers.add_source(environment.source(Some(variables)));
        }
        layers.build().and_then(Config::try_deserialize).map_err(SettingsError::Unreadable)
    }

    fn checked(self) -> Result<Self, SettingsError> {
        self.check().map_err(|(name, wrong)| SettingsError::Wrong(name, wrong))?;
        Ok(self.with_a_shard())
    }

    pub const fn listen(&self) -> SocketAddr {
        SocketAddr::new(self.http.listen_address, self.http.port)
    }
}

/// `DATABASE_URL` is common to many programs; our own names say more and win.
fn by_precedence(environment: impl IntoIterator<Item = (String, String)>) -> [HashMap<String, String>; 2] {
    let mut shared = HashMap::new();
    let mut ours = HashMap::new();
    for (name, value) in environment {
        if name == "DATABASE_URL" {
            shared.insert("KEYRACK_DIRECTORY__DATABASE_URL".to_owned(), value);
        } else if name.starts_with("KEYRACK_") && !NOT_SETTINGS.iter().any(|prefix| name.starts_with(prefix))
        {
            ours.insert(name, value);
        }
    }
    [shared, ours]
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
    String::deserialize(deserializer).map(SecretString::from)
}
