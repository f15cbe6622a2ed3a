//! Who takes the payments, and what it has to know.

use std::{fmt, time::Duration};

use secrecy::{ExposeSecret, SecretString};
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};

use super::{Wrong, secret};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payments {
    pub provider: ProviderKind,
    pub stripe: Stripe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// At `provider.base_url`.
    Simulator,
    Stripe,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stripe {
    #[serde(deserialize_with = "secret")]
    pub secret_key: SecretString,
    pub base_url: String,
    /// Empty: none.
    return_url: String,
    #[serde(deserialize_with = "secrets")]
    pub webhook_secrets: Vec<SecretString>,
    webhook_tolerance_s: u64,
}

impl Stripe {
    pub fn return_url(&self) -> Option<String> {
        Some(self.return_url.clone()).filter(|url| !url.is_empty())
    }

    pub const fn webhook_tolerance(&self) -> Duration {
        Duration::from_secs(self.webhook_tolerance_s)
    }
}

impl Payments {
    pub(super) fn check(&self) -> Result<(), (&'static str, Wrong)> {
        let must = |holds: bool, name, wrong| if holds { Ok(()) } else { Err((name, wrong)) };
        let is_web = |url: &str| url.starts_with("http://") || url.starts_with("https://");
        let Stripe { secret_key, base_url, return_url, webhook_tolerance_s, .. } = &self.stripe;
        let has_key = !secret_key.expose_secret().is_empty();
        let takes_payments = self.provider == ProviderKind::Stripe;
        must(has_key || !takes_payments, "payments.stripe.secret_key", Wrong::NoSecretKey)?;
        must(is_web(base_url), "payments.stripe.base_url", Wrong::NoUrl)?;
        let returns = return_url.is_empty() || is_web(return_url);
        must(returns, "payments.stripe.return_url", Wrong::NoUrl)?;
        let tolerates = (1..=3600).contains(webhook_tolerance_s);
        must(tolerates, "payments.stripe.webhook_tolerance_s", Wrong::Tolerance)
    }
}

/// A list in a file, one line in the environment.
fn secrets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SecretString>, D::Error> {
    deserializer.deserialize_any(Secrets)
}

struct Secrets;

impl<'de> Visitor<'de> for Secrets {
    type Value = Vec<SecretString>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of secrets, or one line of them with spaces between")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut secrets = Vec::new();
        while let Some(secret) = list.next_element::<String>()? {
            secrets.push(secret.into());
        }
        Ok(secrets)
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<Self::Value, E> {
        Ok(line.split_whitespace().map(SecretString::from).collect())
    }
}
