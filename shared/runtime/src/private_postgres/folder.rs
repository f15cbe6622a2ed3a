//! What stands in the folder: `data`, `password`, `postgres.log`, and the lock that says it is taken.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rand::RngExt;
use secrecy::{ExposeSecret, SecretString};

use super::{
    PrivatePostgresError, Result, USER,
    binaries::{Binaries, run},
    file_error,
    owner::Owner,
};

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    pub(super) owner: Owner,
    /// Held for as long as we use the folder; the kernel lets go of it when we die.
    _lock: Option<File>,
}

impl Folder {
    pub(super) fn take(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(file_error("cannot make the folder", path))?;
        let path = path.canonicalize().map_err(file_error("cannot find the folder", path))?;
        let lock = lock(&path)?;
        let owner = Owner::of(&path.join("data"))?;
        owner.must_reach(&path)?;
        Ok(Self { path, owner, _lock: Some(lock) })
    }

    /// Without taking it: for a process that only asks whether a server runs here.
    pub(super) fn look_at(path: PathBuf) -> Self {
        let path = path.canonicalize().unwrap_or(path);
        Self { path, owner: Owner::Ourselves, _lock: None }
    }

    pub(super) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("postgres.log")
    }

    fn password_file(&self) -> PathBuf {
        self.path.join("password")
    }

    /// None when there is no data yet.
    pub(super) fn data_version(&self) -> Result<Option<u32>> {
        let file = self.data().join("PG_VERSION");
        match fs::read_to_string(&file) {
            Ok(version) => Ok(version.trim().parse().ok()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(file_error("cannot read the version of the data", &file)(e)),
        }
    }

    pub(super) fn password(&self) -> Result<SecretString> {
        let file = self.password_file();
        let text = fs::read_to_string(&file).map_err(file_error("cannot read the password", &file))?;
        Ok(text.trim().into())
    }

    /// Built beside its place and moved there when complete: a crash in the middle leaves no half
    /// of a data folder behind that the next start would take for a whole one.
    pub(super) fn init(&self, binaries: &Binaries, durable: bool) -> Result<()> {
        let half = self.path.join("data.new");
        if half.exists() {
            fs::remove_dir_all(&half).map_err(file_error("cannot remove a half-made folder", &half))?;
        }
        DirBuilder::new().mode(0o700).create(&half).map_err(file_error("cannot make the folder", &half))?;
        self.owner.give(&half)?;
        self.write_password()?;
        let mut initdb = self.owner.command(&binaries.program("initdb"));
        initdb.arg("--pgdata").arg(&half).arg("--pwfile").arg(self.password_file());
        initdb.args(["--encoding=UTF8", "--locale=C", "--username", USER]);
        initdb.args(["--auth-host=scram-sha-256", "--auth-local=reject", "--no-instructions"]);
        if !durable {
            initdb.arg("--no-sync");
        }
        run(initdb, "initdb", "")?;
        let data = self.data();
        fs::rename(&half, &data).map_err(file_error("cannot move the new data to its place", &data))
    }

    fn write_password(&self) -> Result<()> {
        let file = self.password_file();
        let password = SecretString::from(hex::encode(rand::rng().random::<[u8; 16]>()));
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&file)
            .and_then(|mut f| f.write_all(password.expose_secret().as_bytes()))
            .map_err(file_error("cannot write the password", &file))?;
        self.owner.give(&file)
    }

    /// A new log for each start; the former one is kept beside it.
    pub(super) fn new_log(&self) -> Result<File> {
        let log = self.log();
        if log.exists() {
            let former = self.path.join("postgres.log.1");
            fs::rename(&log, &former).map_err(file_error("cannot move the former log", &log))?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        options.open(&log).map_err(file_error("cannot open the log", &log))
    }

    /// The last lines, for an error message.
    pub(super) fn log_tail(&self) -> String {
        const BYTES: u64 = 2000;
        let read = || -> io::Result<String> {
            let mut file = File::open(self.log())?;
            let start = file.metadata()?.len().saturating_sub(BYTES);
            file.seek(SeekFrom::Start(start))?;
            let mut tail = Vec::new();
            file.read_to_end(&mut tail)?;
            Ok(String::from_utf8_lossy(&tail).into_owned())
        };
        read().unwrap_or_default()
    }
}

fn lock(path: &Path) -> Result<File> {
    let place = path.join("lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(&place).map_err(file_error("cannot open the lock", &place))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(PrivatePostgresError::InUse { folder: path.to_owned() }),
        Err(TryLockError::Error(e)) => Err(file_error("cannot take the lock", &place)(e)),
    }
}
