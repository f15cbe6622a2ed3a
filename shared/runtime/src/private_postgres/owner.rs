//! The ordinary user that PostgreSQL runs as. It refuses to run as root, so root steps down.

use std::{
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use nix::unistd::{Gid, Uid, User, geteuid};

use super::{PrivatePostgresError, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// We are an ordinary user already.
    Ourselves,
    Other {
        uid: Uid,
        gid: Gid,
        name: String,
    },
}

impl Owner {
    /// Whoever owns the data that is there; otherwise `postgres`, otherwise `nobody`, for root.
    pub(super) fn of(data: &Path) -> Result<Self> {
        let owner = data.metadata().ok().map(|m| m.uid());
        if !geteuid().is_root() {
            return match owner {
                Some(uid) if uid != geteuid().as_raw() => {
                    Err(PrivatePostgresError::NotOurs { folder: data.to_owned(), uid })
                }
                _ => Ok(Self::Ourselves),
            };
        }
        let user = match owner {
            Some(uid) if uid != 0 => User::from_uid(Uid::from_raw(uid)).ok().flatten(),
            _ => None,
        };
        let named = |name| User::from_name(name).ok().flatten();
        user.or_else(|| named("postgres"))
            .or_else(|| named("nobody"))
            .map(|user| Self::Other { uid: user.uid, gid: user.gid, name: user.name })
            .ok_or(PrivatePostgresError::NoOrdinaryUser)
    }

    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Self::Other { uid, gid, .. } = self {
            command.uid(uid.as_raw()).gid(gid.as_raw());
        }
        // The caller's working folder may be one that the other user cannot be in.
        command.current_dir("/");
        command
    }

    pub(super) fn give(&self, path: &Path) -> Result<()> {
        match self {
            Self::Ourselves => Ok(()),
            Self::Other { uid, gid, .. } => {
                chown(path, Some(uid.as_raw()), Some(gid.as_raw())).map_err(|source| {
                    PrivatePostgresError::File { what: "cannot change the owner", path: path.into(), source }
                })
            }
        }
    }

    /// The kernel is asked, not the mode bits: access lists and mounts count too.
    pub(super) fn must_reach(&self, folder: &Path) -> Result<()> {
        let Self::Other { name, .. } = self else { return Ok(()) };
        let mut from_the_top: Vec<&Path> = folder.ancestors().collect();
        from_the_top.reverse();
        match from_the_top.into_iter().find(|folder| !self.can_enter(folder)) {
            None => Ok(()),
            Some(closed) => {
                Err(PrivatePostgresError::Unreachable { folder: PathBuf::from(closed), user: name.clone() })
            }
        }
    }

    fn can_enter(&self, folder: &Path) -> bool {
        let mut test = self.command(Path::new("/bin/sh"));
        test.args(["-c", "test -x \"$1\"", "sh"]).arg(folder);
        test.stdin(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}
