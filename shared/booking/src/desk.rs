//! What every use case needs: where hotels live, the ledgers of their shards, the provider, the settings.

use std::{collections::BTreeMap, future::Future, sync::Arc, time::Duration};

use keyrack_db::{Database, Shards};
use keyrack_domain::{
    code::HotelCode,
    horizon::Horizon,
    hotel::HotelRef,
    ids::{HotelId, ReservationId, ShardId},
    notice::ProviderName,
    principal::Caller,
};
use keyrack_ledger::{Ledger, Settings as LedgerSettings};
use keyrack_payments::{NoticeReader, PaymentProvider};
use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::task::TaskTracker;

use crate::{
    Fault,
    call_notes::CallNotes,
    hotel_directory::{HotelDirectory, NoHotel},
    measured_provider::MeasuredProvider,
};

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub ledger: LedgerSettings,
    /// ACTIVE holds that one principal may have at a hotel.
    pub hold_cap: u32,
    /// How long one payment call may take, in real time.
    pub provider_deadline: Duration,
    /// How long the release of a hold waits for a payment in flight.
    pub auth_timeout: Duration,
    /// The same, where the customer has to act first.
    pub action_timeout: Duration,
    pub horizon: Horizon,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ledger: LedgerSettings::default(),
            hold_cap: 5,
            provider_deadline: Duration::from_secs(10),
            auth_timeout: Duration::from_secs(120),
            action_timeout: Duration::from_secs(300),
            horizon: Horizon::default(),
        }
    }
}

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Desk {
    hotels: HotelDirectory,
    ledgers: Arc<BTreeMap<ShardId, Ledger>>,
    provider: Arc<dyn PaymentProvider>,
    notes: CallNotes,
    readers: Arc<BTreeMap<ProviderName, Arc<dyn NoticeReader>>>,
    settings: Settings,
    runtime: Handle,
    work: TaskTracker,
}

impl Desk {
    /// `runtime` outlives the HTTP server: on it runs what may not end with a request. Whoever stops the
    /// process waits for `work` to be done.
    pub fn new(
        shards: Shards,
        provider: Arc<dyn PaymentProvider>,
        settings: Settings,
        runtime: Handle,
        work: TaskTracker,
    ) -> Self {
        let ledgers = shards.all().map(|(id, database)| (id, Ledger::new(database.clone(), settings.ledger)));
        let ledgers = Arc::new(ledgers.collect());
        let hotels = HotelDirectory::new(shards).replaying_for(settings.ledger.replay_window);
        let notes = CallNotes::new(hotels.clone(), runtime.clone(), work.clone());
        Self {
            ledgers,
            hotels,
            provider: Arc::new(MeasuredProvider { provider, notes: notes.clone() }),
            notes,
            readers: Arc::default(),
            settings,
            runtime,
            work,
        }
    }

    /// Notices of that provider are read by this reader; those of others are of nobody.
    #[must_use]
    pub fn reading(mut self, provider: ProviderName, reader: Arc<dyn NoticeReader>) -> Self {
        Arc::make_mut(&mut self.readers).insert(provider, reader);
        self
    }

    pub(crate) fn reader(&self, provider: &ProviderName) -> Option<&dyn NoticeReader> {
        self.readers.get(provider).map(AsRef::as_ref)
    }

    pub const fn hotels(&self) -> &HotelDirectory {
        &self.hotels
    }

    pub const fn shards(&self) -> &Shards {
        self.hotels.shards()
    }

    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Every database: the directory's, and those of the shards. Where the directory is a shard, that comes twice.
    pub fn databases(&self) -> impl Iterator<Item = &Database> {
        std::iter::once(self.shards().directory()).chain(self.shards().all().map(|(_, database)| database))
    }

    pub fn ledgers(&self) -> impl Iterator<Item = (ShardId, &Ledger)> {
        self.ledgers.iter().map(|(id, ledger)| (*id, ledger))
    }

    pub(crate) fn provider(&self) -> &dyn PaymentProvider {
        self.provider.as_ref()
    }

    pub(crate) const fn notes(&self) -> &CallNotes {
        &self.notes
    }

    pub(crate) fn ledger(&self, hotel: &HotelRef) -> Result<&Ledger, Fault> {
        self.ledgers.get(&hotel.shard).ok_or_else(|| Fault::internal(keyrack_db::NoSuchShard(hotel.shard)))
    }

    /// The hotel that an id names; `None` for an id of no hotel of ours.
    pub(crate) async fn hotel_of(&self, id: HotelId) -> Result<Option<Arc<HotelRef>>, Fault> {
        match self.hotels.by_id(id).await {
            Ok(hotel) => Ok(Some(hotel)),
            Err(NoHotel::NotFound) => Ok(None),
            Err(NoHotel::Fault(fault)) => Err(fault),
        }
    }

    /// The hotel of a reservation, for whoever runs it. For everybody else there is none.
    pub(crate) async fn hotel_run_by(
        &self,
        caller: &Caller,
        hotel: &HotelCode,
        reservation: ReservationId,
    ) -> Result<Arc<HotelRef>, NoHotel> {
        let hotel = self.hotels.by_code(hotel).await?;
        let is_theirs = reservation.hotel() == hotel.id && caller.runs(hotel.id);
        if is_theirs { Ok(hotel) } else { Err(NoHotel::NotFound) }
    }

    /// Starts work that goes on when its caller goes away.
    pub(crate) fn go_on<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.work.spawn_on(work, &self.runtime)
    }
}
