//! What stands in the sandbox's folder: `postgres/`, `credentials.json`, the simulator's journal, and the
//! lock that says that it is taken.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

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
}

/// Also for those who look at a sandbox that somebody else runs.
pub(crate) fn postgres_under(data_dir: &Path) -> PathBuf {
    data_dir.join("postgres")
}
