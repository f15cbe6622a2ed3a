//! What stands in the sandbox's folder: `postgres/`, `credentials.json`, the simulator's journal and the secret
//! of its notices, and the lock that says that it is taken.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use secrecy::SecretString;
use uuid::Uuid;

use crate::failure::Failure;

pub(crate) struct Folder {
    path: PathBuf,
    /// Held for as long as we run; the kernel lets go of it when we are killed.
    _lock: File,
}

impl Folder {
    pub(crate) fn take(path: &Path) -> Result<Self, Failure> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Failure::File { path, source }
        };
        fs::create_dir_all(path).map_err(failed(path))?;
        let path = path.canonicalize().map_err(failed(path))?;
        let place = path.join("lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(&place).map_err(failed(&place))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Failure::FolderInUse(path)),
            Err(TryLockError::Error(error)) => Err(failed(&place)(error)),
        }
    }

    pub(crate) fn postgres(&self) -> PathBuf {
        postgres_under(&self.path)
    }

    pub(crate) fn credentials(&self) -> PathBuf {
        self.path.join("credentials.json")
    }

    pub(crate) fn simulator_journal(&self) -> PathBuf {
        self.path.join("payment-simulator.journal")
    }

    /// What the simulator signs its notices with and their receiver checks them with. Made when missing; for
    /// its owner alone, and never logged.
    pub(crate) fn webhook_secret(&self) -> Result<SecretString, Failure> {
        let path = self.path.join("webhook-secret");
        let failed = |source| Failure::File { path: path.clone(), source };
        match fs::read_to_string(&path) {
            Ok(text) if !text.trim().is_empty() => return Ok(text.trim().into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(failed(source)),
        }
        // Two of 122 random bits each.
        let text = format!("whsec_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&path).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(text.into())
    }
}

/// Also for those who look at a sandbox that somebody else runs.
pub(crate) fn postgres_under(data_dir: &Path) -> PathBuf {
    data_dir.join("postgres")
}
