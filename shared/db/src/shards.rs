//! The databases of an installation: the directory, and the shards on which hotels live.

use std::collections::BTreeMap;

use keyrack_domain::ids::ShardId;

use crate::Database;

/// The directory names a shard that this process was not configured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("shard {0} is not configured")]
pub struct NoSuchShard(pub ShardId);

#[derive(Clone, Debug)]
pub struct Shards {
    directory: Database,
    shards: BTreeMap<ShardId, Database>,
}

impl Shards {
    pub const fn new(directory: Database, shards: BTreeMap<ShardId, Database>) -> Self {
        Self { directory, shards }
    }

    pub const fn directory(&self) -> &Database {
        &self.directory
    }

    pub fn shard(&self, id: ShardId) -> Result<&Database, NoSuchShard> {
        self.shards.get(&id).ok_or(NoSuchShard(id))
    }

    /// In order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = (ShardId, &Database)> {
        self.shards.iter().map(|(id, database)| (*id, database))
    }

    pub async fn close(&self) {
        for database in self.shards.values() {
            database.close().await;
        }
        self.directory.close().await;
    }
}
