//! Values that can be read and still make no sense, and settings as the durations that they are.

use std::{collections::BTreeSet, net::SocketAddr, num::NonZeroU64, time::Duration};

use secrecy::{ExposeSecret, SecretString};

use super::{Database, Http, Operations, Provider, Settings, Workers};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    #[error("it must be set to a URL that starts with postgres://")]
    NoDatabase,
    #[error("it must be an http:// or https:// URL")]
    NoUrl,
    #[error("it must be set: the provider takes payments for its owner only")]
    NoSecretKey,
    #[error("it must be set to a URL that starts with nats:// or tls://")]
    NoNats,
    #[error("1 to 64 letters, digits, - and _")]
    StreamName,
    #[error("1 to 3600 seconds")]
    Tolerance,
    #[error("shards are numbered from 1, each once")]
    ShardNumbers,
    #[error("keys must be kept for at least the replay window")]
    ShorterThanWindow,
    #[error("at least 1 and at most 2000")]
    Horizon,
    #[error("at most 8 secrets, and none of them empty")]
    WebhookSecrets,
    #[error(
        "at least 1 and at most 3600: no signature is made in no time, so zero would refuse or check nothing"
    )]
    WebhookTolerance,
}

impl Settings {
    pub(super) fn check(&self) -> Result<(), (&'static str, Wrong)> {
        let must = |holds: bool, name, wrong| if holds { Ok(()) } else { Err((name, wrong)) };
        must(is_database(&self.directory.database_url), "directory.database_url", Wrong::NoDatabase)?;
        let mut seen = BTreeSet::new();
        for shard in &self.shards {
            must(is_database(&shard.database_url), "shards.database_url", Wrong::NoDatabase)?;
            must(shard.id.0 >= 1 && seen.insert(shard.id), "shards.id", Wrong::ShardNumbers)?;
        }
        let url = &self.provider.base_url;
        let fine = url.is_empty() || url.starts_with("http://") || url.starts_with("https://");
        must(fine, "provider.base_url", Wrong::NoUrl)?;
        let secrets = &self.provider.webhook_secrets;
        let fine = secrets.len() <= 8 && secrets.iter().all(|secret| !secret.expose_secret().is_empty());
        must(fine, "provider.webhook_secrets", Wrong::WebhookSecrets)?;
        let fine = (1..=3600).contains(&self.provider.webhook_tolerance_s);
        must(fine, "provider.webhook_tolerance_s", Wrong::WebhookTolerance)?;
        self.payments.check()?;
        self.messaging.check()?;
        let Operations { replay_window_hours: window, key_retention_days: kept, .. } = self.operations;
        let covers = u64::from(kept.get()) * 24 >= u64::from(window.get());
        must(covers, "operations.key_retention_days", Wrong::ShorterThanWindow)?;
        must(self.inventory.horizon_days.get() <= 2000, "inventory.horizon_days", Wrong::Horizon)
    }
}

fn is_database(url: &SecretString) -> bool {
    let url = url.expose_secret();
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

const fn ms(value: NonZeroU64) -> Duration {
    Duration::from_millis(value.get())
}

const fn s(value: NonZeroU64) -> Duration {
    Duration::from_secs(value.get())
}

impl Http {
    pub const fn drain(&self) -> Duration {
        ms(self.drain_ms)
    }
}

impl Database {
    pub const fn acquire_timeout(&self) -> Duration {
        ms(self.acquire_timeout_ms)
    }

    pub const fn lock_timeout(&self) -> Duration {
        ms(self.lock_timeout_ms)
    }

    pub const fn statement_timeout(&self) -> Duration {
        ms(self.statement_timeout_ms)
    }
}

impl Operations {
    pub const fn copy_wait(&self) -> Duration {
        ms(self.copy_wait_ms)
    }

    pub fn replay_window(&self) -> Duration {
        Duration::from_hours(self.replay_window_hours.get().into())
    }

    pub fn key_retention(&self) -> Duration {
        Duration::from_hours(24 * u64::from(self.key_retention_days.get()))
    }

    pub fn provider_call_retention(&self) -> Duration {
        Duration::from_hours(24 * u64::from(self.provider_call_retention_days.get()))
    }

    pub fn guest_session_retention(&self) -> Duration {
        Duration::from_hours(24 * u64::from(self.guest_session_retention_days.get()))
    }

    pub fn pms_batch_retention(&self) -> Duration {
        Duration::from_hours(24 * u64::from(self.pms_batch_retention_days.get()))
    }
}

impl Provider {
    pub const fn deadline(&self) -> Duration {
        ms(self.deadline_ms)
    }

    pub const fn auth_timeout(&self) -> Duration {
        s(self.auth_timeout_s)
    }

    pub const fn webhook_tolerance(&self) -> Duration {
        Duration::from_secs(self.webhook_tolerance_s)
    }

    pub const fn action_timeout(&self) -> Duration {
        s(self.action_timeout_s)
    }
}

impl Workers {
    pub const fn listen(&self) -> SocketAddr {
        SocketAddr::new(self.listen_address, self.port)
    }

    pub const fn expiry_interval(&self) -> Duration {
        ms(self.expiry_interval_ms)
    }

    pub const fn reconciliation_interval(&self) -> Duration {
        ms(self.reconciliation_interval_ms)
    }

    pub const fn settlement_interval(&self) -> Duration {
        s(self.settlement_interval_s)
    }

    pub const fn relay_interval(&self) -> Duration {
        ms(self.relay_interval_ms)
    }

    pub const fn horizon_interval(&self) -> Duration {
        s(self.horizon_interval_s)
    }

    pub const fn key_retention_interval(&self) -> Duration {
        s(self.key_retention_interval_s)
    }
}
