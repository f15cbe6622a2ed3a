//! Where hotels live. A list of tables in a file, one line in the environment.

use std::fmt;

use keyrack_domain::ids::ShardId;
use secrecy::SecretString;
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};

use super::{Settings, secret};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardSettings {
    pub id: ShardId,
    #[serde(deserialize_with = "secret")]
    pub database_url: SecretString,
}

impl Settings {
    /// The default set-up has one database, which is the directory and the first shard.
    pub(super) fn with_a_shard(mut self) -> Self {
        if self.shards.is_empty() {
            self.shards =
                vec![ShardSettings { id: ShardId(1), database_url: self.directory.database_url.clone() }];
        }
        self
    }
}

pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ShardSettings>, D::Error> {
    deserializer.deserialize_any(Shards)
}

struct Shards;

impl<'de> Visitor<'de> for Shards {
    type Value = Vec<ShardSettings>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of {id, database_url}, or \"1=URL 2=URL\"")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut shards = Vec::new();
        while let Some(shard) = list.next_element()? {
            shards.push(shard);
        }
        Ok(shards)
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<Self::Value, E> {
        // The text is not repeated in the error: it holds passwords.
        let unreadable = || E::custom("shards are written \"1=URL 2=URL\"");
        let parse = |entry: &str| {
            let (id, url) = entry.split_once('=')?;
            Some(ShardSettings { id: ShardId(id.parse().ok()?), database_url: url.into() })
        };
        line.split_whitespace().map(|entry| parse(entry).ok_or_else(unreadable)).collect()
    }
}
