//! A PostgreSQL of our own under a folder, for the sandbox and for tests: nobody has to install a
//! cluster, and no database that is not ours is ever touched.
//!
//! It listens on loopback only, on a free port, and asks for a random password that stands in a file
//! which only its owner can read. It ends with us: by [`PrivatePostgres::stop`], by drop, and, when we
//! are killed, by the kernel's parent-death signal.

mod binaries;
mod exit;
mod folder;
mod leftovers;
mod owner;
pub mod scratch;
mod server;

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
    time::Duration,
};

use secrecy::{ExposeSecret, SecretString};

pub use binaries::Binaries;
use folder::Folder;
use server::Server;

/// The superuser of the private server, and the name of the sandbox's database.
pub const USER: &str = "keyrack";

#[derive(Debug, Clone)]
pub struct PrivatePostgresSettings {
    /// Made when missing; holds the data, the password, the log.
    pub folder: PathBuf,
    /// Whether a commit waits for the disk. Only tests go without.
    pub durable: bool,
    pub max_connections: u16,
    /// A session that sits in an open transaction without a statement ends after this; zero is never.
    pub idle_in_transaction_timeout: Duration,
    /// How long start and stop may take, each.
    pub patience: Duration,
}

impl PrivatePostgresSettings {
    pub fn durable(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            durable: true,
            max_connections: 100,
            idle_in_transaction_timeout: Duration::from_secs(30),
            patience: Duration::from_mins(1),
        }
    }

    /// For tests: nothing survives a power cut, and nothing has to.
    pub fn for_tests(folder: impl Into<PathBuf>) -> Self {
        Self { durable: false, max_connections: 300, ..Self::durable(folder) }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PrivatePostgresError {
    #[error(
        "PostgreSQL's server programs (initdb, postgres) {wanted} are not installed; on Debian: apt-get install postgresql"
    )]
    NotInstalled { wanted: String },
    #[error(
        "PostgreSQL runs as the user {user} and cannot reach {}; choose another folder or open it with chmod o+x",
        folder.display()
    )]
    Unreachable { folder: PathBuf, user: String },
    #[error("{} belongs to another user (uid {uid}); choose another folder", folder.display())]
    NotOurs { folder: PathBuf, uid: u32 },
    #[error("{} is in use by another process", folder.display())]
    InUse { folder: PathBuf },
    #[error("PostgreSQL refuses to run as root, and there is neither a user postgres nor a user nobody")]
    NoOrdinaryUser,
    #[error("{program} failed ({status}): {output}")]
    Program { program: &'static str, status: ExitStatus, output: String },
    #[error("PostgreSQL did not get ready: {reason}; the end of {}:\n{tail}", log.display())]
    NotReady { reason: String, log: PathBuf, tail: String },
    #[error("PostgreSQL (process {pid}) does not end")]
    DoesNotEnd { pid: i32 },
    #[error("{what} ({})", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot start {program}")]
    Spawn { program: String, source: io::Error },
    #[error("the task that handles PostgreSQL was cancelled")]
    Cancelled,
}

type Result<T, E = PrivatePostgresError> = std::result::Result<T, E>;

fn file_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PrivatePostgresError {
    let path = path.to_owned();
    move |source| PrivatePostgresError::File { what, path, source }
}

/// Where a private server listens and how to get in.
#[derive(Debug, Clone)]
pub struct Address {
    port: u16,
    password: SecretString,
}

impl Address {
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// `postgres://keyrack:...@127.0.0.1:port/database`
    pub fn url(&self, database: &str) -> SecretString {
        let password = self.password.expose_secret();
        format!("postgres://{USER}:{password}@127.0.0.1:{}/{database}", self.port).into()
    }
}

/// A running private server; ends when dropped.
#[derive(Debug)]
pub struct PrivatePostgres {
    address: Address,
    folder: Folder,
    binaries: Binaries,
    server: Server,
}

impl PrivatePostgres {
    pub async fn start(settings: PrivatePostgresSettings) -> Result<Self> {
        in_background(move || Self::start_blocking(&settings)).await
    }

    /// As [`start`](Self::start), for callers outside of a runtime.
    pub fn start_blocking(settings: &PrivatePostgresSettings) -> Result<Self> {
        let folder = Folder::take(&settings.folder)?;
        leftovers::end(&folder, settings.patience)?;
        let binaries = Binaries::find(folder.data_version()?)?;
        if folder.data_version()?.is_none() {
            folder.init(&binaries, settings.durable)?;
        }
        let (server, port) = Server::start(&binaries, &folder, settings)?;
        let address = Address { port, password: folder.password()? };
        Ok(Self { address, folder, binaries, server })
    }

    /// The server that another process runs in this folder, if one does.
    pub fn running_in(folder: impl Into<PathBuf>) -> Result<Option<Address>> {
        let folder = Folder::look_at(folder.into());
        match leftovers::live_port(&folder)? {
            None => Ok(None),
            Some(port) => Ok(Some(Address { port, password: folder.password()? })),
        }
    }

    pub const fn address(&self) -> &Address {
        &self.address
    }

    pub fn url(&self, database: &str) -> SecretString {
        self.address.url(database)
    }

    pub const fn pid(&self) -> i32 {
        self.server.pid()
    }

    /// Makes the database when it is not there yet.
    pub async fn ensure_database(&self, name: &str) -> Result<()> {
        let createdb = self.binaries.createdb(&self.address, name);
        in_background(move || createdb.run()).await
    }

    /// Runs a script of psql as the superuser, up to its first error.
    pub async fn run_sql(&self, database: &str, script: String) -> Result<()> {
        let psql = self.binaries.psql(&self.address, database);
        in_background(move || psql.run(&script)).await
    }

    /// Returns once the server is gone, whoever ended it.
    pub async fn ended(&self) {
        self.server.ended().await;
    }

    /// Fast shutdown: sessions are cut, the data is left clean. Harder means follow when it takes
    /// longer than the patience of the settings.
    pub async fn stop(self) -> Result<()> {
        in_background(move || self.server.stop()).await
    }

    pub fn log(&self) -> PathBuf {
        self.folder.log()
    }
}

async fn in_background<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(PrivatePostgresError::Cancelled))
}
