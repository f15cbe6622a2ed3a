//! From a hotel's code or number to the shard on which it lives. Every query of a hotel goes through here.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use keyrack_db::{Database, Shards};
use keyrack_domain::{code::HotelCode, hotel::HotelRef, ids::HotelId};
use keyrack_ledger::Settings as LedgerSettings;
use keyrack_store::{directory, directory::Entry, hotels};

use crate::Fault;

/// Hotels that a process remembers; a handful of bytes each.
const MAX_KNOWN: usize = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum NoHotel {
    #[error("no such hotel")]
    NotFound,
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Cheap to clone; the clones share what they know. Only hotels that exist are remembered: a new one
/// is found at once, and guessing codes fills nothing.
#[derive(Clone, Debug)]
pub struct HotelDirectory {
    shards: Shards,
    known: Arc<RwLock<Known>>,
    replay_window: Duration,
}

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<HotelId, Arc<HotelRef>>,
    by_code: HashMap<HotelCode, HotelId>,
}

impl HotelDirectory {
    pub fn new(shards: Shards) -> Self {
        Self { shards, known: Arc::default(), replay_window: LedgerSettings::default().replay_window }
    }

    /// For so long a call outside the ledger is repeated with its original answer; later the account must
    /// be looked at first.
    #[must_use]
    pub fn replaying_for(self, replay_window: Duration) -> Self {
        Self { replay_window, ..self }
    }

    pub(crate) const fn replay_window(&self) -> Duration {
        self.replay_window
    }

    pub const fn shards(&self) -> &Shards {
        &self.shards
    }

    /// The database in which all rows of the hotel are.
    pub fn database(&self, hotel: &HotelRef) -> Result<&Database, Fault> {
        self.shards.shard(hotel.shard).map_err(Fault::internal)
    }

    pub async fn by_code(&self, code: &HotelCode) -> Result<Arc<HotelRef>, NoHotel> {
        let known = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.by_code.get(code).and_then(|id| known.by_id.get(id)).cloned()
        };
        if let Some(hotel) = known {
            return Ok(hotel);
        }
        let mut connection = self.shards.directory().connection().await.map_err(Fault::from)?;
        let entry = directory::by_code(&mut connection, code).await.map_err(Fault::from)?;
        drop(connection);
        self.read(entry).await
    }

    pub async fn by_id(&self, id: HotelId) -> Result<Arc<HotelRef>, NoHotel> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).by_id.get(&id).cloned();
        if let Some(hotel) = known {
            return Ok(hotel);
        }
        let mut connection = self.shards.directory().connection().await.map_err(Fault::from)?;
        let entry = directory::by_id(&mut connection, id).await.map_err(Fault::from)?;
        drop(connection);
        self.read(entry).await
    }

    /// An entry whose hotel is not on its shard yet is a creation that has not ended: not found.
    async fn read(&self, entry: Option<Entry>) -> Result<Arc<HotelRef>, NoHotel> {
        let Entry { hotel, shard } = entry.ok_or(NoHotel::NotFound)?;
        let database = self.shards.shard(shard).map_err(Fault::internal)?;
        let mut connection = database.connection().await.map_err(Fault::from)?;
        let found = hotels::reference(&mut connection, hotel, shard).await.map_err(Fault::from)?;
        let found = Arc::new(found.ok_or(NoHotel::NotFound)?);
        self.remember(&found);
        Ok(found)
    }

    fn remember(&self, hotel: &Arc<HotelRef>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // To forget everything now and then costs one look-up a hotel, and no bookkeeping for the rest.
        if known.by_id.len() >= MAX_KNOWN {
            *known = Known::default();
        }
        known.by_code.insert(hotel.code.clone(), hotel.id);
        known.by_id.insert(hotel.id, Arc::clone(hotel));
    }
}
