//! The databases of an installation, and the desk in front of them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use keyrack_booking::{
    Desk, Settings as DeskSettings, hotel_directory::HotelDirectory, stored_ids::StoredIds,
};
use keyrack_db::{Database, Limits, Points, Schema, Shards};
use keyrack_domain::horizon::Horizon;
use keyrack_domain::notice::ProviderName;
use keyrack_payments::{
    NoticeReader, PaymentProvider, ProviderIds, SignatureCheck, SimulatorNotices, SimulatorProvider,
    StripeNotices, StripeProvider, StripeSettings,
};
use keyrack_runtime::{
    Stop,
    settings::{ProviderKind, Settings},
};
use secrecy::{ExposeSecret, SecretString};
use tokio::{runtime::Handle, time::timeout};

use crate::failure::Failure;

const REACH_WITHIN: Duration = Duration::from_secs(5);
const CLOSE_WITHIN: Duration = Duration::from_secs(3);

/// Connects to nothing yet.
pub(crate) fn shards(settings: &Settings, points: &Points, runtime: &Handle) -> Result<Shards, Failure> {
    let bounds = &settings.database;
    let limits = Limits {
        connections: bounds.pool_connections.get(),
        acquire_timeout: bounds.acquire_timeout(),
        lock_timeout: bounds.lock_timeout(),
        statement_timeout: bounds.statement_timeout(),
        behind_transaction_pooler: bounds.transaction_pooler,
    };
    let connect = |url: &SecretString| {
        let database =
            Database::connect_lazily(url, limits, runtime.clone()).map_err(Failure::DatabaseUrl)?;
        Ok::<_, Failure>(database.with_points(points.clone()))
    };
    let url = &settings.directory.database_url;
    let directory = connect(url)?;
    let mut shards = BTreeMap::new();
    for shard in &settings.shards {
        // The bound on connections is one a database: where the directory is a shard, so is its pool.
        let is_the_directory = shard.database_url.expose_secret() == url.expose_secret();
        let database = if is_the_directory { directory.clone() } else { connect(&shard.database_url)? };
        shards.insert(shard.id, database);
    }
    Ok(Shards::new(directory, shards))
}

/// Every database once, with the name that messages give it.
pub(crate) fn databases<'s>(
    settings: &'s Settings,
    shards: &'s Shards,
) -> impl Iterator<Item = (String, &'s Database)> {
    let directory_url = settings.directory.database_url.expose_secret();
    let is_the_directory = move |id| {
        settings.shards.iter().any(|s| s.id == id && s.database_url.expose_secret() == directory_url)
    };
    let directory = ("the directory's database".to_owned(), shards.directory());
    let shards = shards.all().filter(move |(id, _)| !is_the_directory(*id));
    let shards = shards.map(|(id, database)| (format!("the database of shard {id}"), database));
    std::iter::once(directory).chain(shards)
}

/// Connections that are still in use after this are left to the end of the process.
pub(crate) async fn close(shards: &Shards) {
    if timeout(CLOSE_WITHIN, shards.close()).await.is_err() {
        tracing::warn!(within = ?CLOSE_WITHIN, "connections are still in use");
    }
}

pub(crate) async fn migrate(settings: &Settings, shards: &Shards) -> Result<(), Failure> {
    if settings.database.transaction_pooler {
        return Err(Failure::MigrateThroughPooler);
    }
    for (name, database) in databases(settings, shards) {
        keyrack_db::migrate(database).await.map_err(|source| Failure::Migrate { database: name, source })?;
    }
    Ok(())
}

/// A process that works on another schema would fail call by call. One whose database is away waits for it.
pub(crate) async fn check_schema(settings: &Settings, shards: &Shards) -> Result<(), Failure> {
    for (name, database) in databases(settings, shards) {
        match database.schema().await {
            Ok(Schema::Current) => {}
            Ok(schema) => return Err(Failure::Schema { database: name, why: tell(&schema) }),
            Err(error) => tracing::warn!(database = name, %error, "starting without a look at the schema"),
        }
    }
    Ok(())
}

pub(crate) fn tell(schema: &Schema) -> String {
    match schema {
        Schema::Current => "it is current".to_owned(),
        Schema::Behind { missing } => format!("{missing} migrations are missing; run keyrack migrate"),
        Schema::Newer { version } => {
            format!("migration {version} is of a newer release; use that release's program")
        }
        Schema::Differs { version } => {
            format!(
                "migration {version} is not the one of this release, or did not end; restore or finish it by hand"
            )
        }
    }
}

pub(crate) fn horizon(settings: &Settings) -> Horizon {
    Horizon::days(settings.inventory.horizon_days.get())
}

/// The provider of the settings, which remembers in the hotels' databases what it calls our calls.
pub(crate) fn provider(settings: &Settings, shards: &Shards) -> Result<Arc<dyn PaymentProvider>, Failure> {
    match settings.payments.provider {
        ProviderKind::Simulator => Ok(Arc::new(simulator(settings)?)),
        ProviderKind::Stripe => Ok(Arc::new(stripe(settings, stripe_ids(shards))?)),
    }
}

pub(crate) fn simulator(settings: &Settings) -> Result<SimulatorProvider, Failure> {
    match settings.provider.base_url.as_str() {
        "" => Err(Failure::NoProvider),
        url => Ok(SimulatorProvider::new(url)?),
    }
}

pub(crate) fn stripe(settings: &Settings, ids: Arc<dyn ProviderIds>) -> Result<StripeProvider, Failure> {
    let stripe = &settings.payments.stripe;
    let of_adapter = StripeSettings {
        secret_key: stripe.secret_key.clone(),
        base_url: stripe.base_url.clone(),
        return_url: stripe.return_url(),
    };
    Ok(StripeProvider::new(of_adapter, ids)?)
}

fn stripe_ids(shards: &Shards) -> Arc<dyn ProviderIds> {
    Arc::new(StoredIds::new(HotelDirectory::new(shards.clone()), ProviderName::STRIPE))
}

/// Who reads what the provider tells by itself. `None` where no secret says that it is the provider.
pub(crate) fn notices(settings: &Settings) -> Result<Option<Arc<dyn NoticeReader>>, Failure> {
    let (simulator, stripe) = (&settings.provider, &settings.payments.stripe);
    let (secrets, tolerance) = match settings.payments.provider {
        ProviderKind::Simulator => (&simulator.webhook_secrets, simulator.webhook_tolerance()),
        ProviderKind::Stripe => (&stripe.webhook_secrets, stripe.webhook_tolerance()),
    };
    if secrets.is_empty() {
        return Ok(None);
    }
    let signatures = SignatureCheck::new(secrets.clone(), tolerance)?;
    Ok(Some(match settings.payments.provider {
        ProviderKind::Simulator => Arc::new(SimulatorNotices::new(signatures)),
        ProviderKind::Stripe => Arc::new(StripeNotices::new(signatures)),
    }))
}

/// What goes on after its request is counted as the stop's work, so that the drain waits for it.
pub(crate) fn desk(
    settings: &Settings,
    shards: Shards,
    provider: Arc<dyn PaymentProvider>,
    runtime: &Handle,
    stop: &Stop,
) -> Result<Desk, Failure> {
    let mut of_desk = DeskSettings {
        hold_cap: settings.holds.most_active_per_hotel.get(),
        provider_deadline: settings.provider.deadline(),
        auth_timeout: settings.provider.auth_timeout(),
        action_timeout: settings.provider.action_timeout(),
        horizon: horizon(settings),
        ..DeskSettings::default()
    };
    of_desk.ledger.key_wait = settings.operations.copy_wait();
    of_desk.ledger.replay_window = settings.operations.replay_window();
    let name = provider.name();
    let desk = Desk::new(shards, provider, of_desk, runtime.clone(), stop.work().clone());
    Ok(match notices(settings)? {
        Some(reader) => desk.reading(name, reader),
        None => desk,
    })
}

/// With the cause, which the pool alone could not tell.
pub(crate) async fn reach(settings: &Settings, shards: &Shards) -> Result<(), Failure> {
    for (name, database) in databases(settings, shards) {
        database
            .probe(REACH_WITHIN)
            .await
            .map_err(|source| Failure::Unreachable { database: name, source })?;
    }
    Ok(())
}
