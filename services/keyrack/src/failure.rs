//! Why a command could not do its work, in words that say what to do about it.

use std::{error::Error, io, iter, net::SocketAddr, path::PathBuf};

use keyrack_booking::{Fault, credentials::CreateCredentialError, demo::SeedError, repair::RepairError};
use keyrack_db::DbError;
use keyrack_messaging::JetStreamError;
use keyrack_payment_simulator::StartError;
use keyrack_payments::{BadProviderUrl, BadSignatureSettings, BadStripeSettings};
use keyrack_runtime::{private_postgres::PrivatePostgresError, settings::SettingsError};
use keyrack_telemetry::{InstallError, log::LogError};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the runtime cannot be started")]
    Runtime(#[source] io::Error),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Metrics(#[from] InstallError),
    #[error("cannot listen to signals")]
    Signals(#[source] io::Error),
    #[error("port {} of {} is taken by another program; choose another with --port, or end that one", .0.port(), .0.ip())]
    PortTaken(SocketAddr),
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot use {}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} is in use by another keyrack dev", .0.display())]
    FolderInUse(PathBuf),
    #[error("{} is no credentials file; remove it to get a new one", path.display())]
    CredentialsFile { path: PathBuf, source: serde_json::Error },
    #[error(transparent)]
    OwnPostgres(#[from] PrivatePostgresError),
    #[error("PostgreSQL has ended; see {}", .0.display())]
    PostgresEnded(PathBuf),
    #[error("{database} cannot be reached")]
    Unreachable { database: String, source: DbError },
    #[error("{database} cannot be migrated")]
    Migrate { database: String, source: DbError },
    #[error(
        "a migration needs a session of its own: name PostgreSQL itself in the URLs, and set database.transaction_pooler to false for this command"
    )]
    MigrateThroughPooler,
    #[error("{database} does not have this program's schema: {why}")]
    Schema { database: String, why: String },
    #[error("the database's URL cannot be used")]
    DatabaseUrl(#[source] DbError),
    #[error(
        "this database has hotels and is no sandbox's: dev would add demo hotels to it. Give the sandbox a database of its own"
    )]
    NotASandbox,
    #[error("{0} must name a point, such as place_hold.before_commit:1")]
    AbortAt(&'static str),
    #[error("no sandbox runs in {}", .0.display())]
    NoSandbox(PathBuf),
    #[error("provider.base_url must be set: bookings are paid there")]
    NoProvider,
    #[error(transparent)]
    Provider(#[from] BadProviderUrl),
    #[error("payments.stripe cannot be used")]
    Stripe(#[from] BadStripeSettings),
    #[error("the webhook secrets or the webhook tolerance of the provider cannot be used")]
    Webhooks(#[from] BadSignatureSettings),
    #[error("the broker of messages cannot be used")]
    Broker(#[from] JetStreamError),
    #[error(transparent)]
    Simulator(#[from] StartError),
    #[error("the HTTP server failed")]
    Http(#[source] io::Error),
    #[error("the HTTP server has ended")]
    HttpEnded,
    #[error(transparent)]
    Seed(#[from] SeedError),
    #[error("the credential {name} cannot be made")]
    Credential { name: String, source: CreateCredentialError },
    #[error(transparent)]
    Repair(#[from] RepairError),
    #[error("the answer cannot be written")]
    Stdout(#[source] io::Error),
    #[error("the database did not answer")]
    Database(#[from] DbError),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Failure {
    /// On standard error, with everything that stands behind it: nobody has to ask for a log.
    pub(crate) fn tell(&self) {
        eprintln!("keyrack: {}", reason(self));
    }
}

/// The error and what stands behind it, in one line.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    let causes = iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |told, cause| format!("{told}: {cause}"))
}
