//! What an earlier process of ours left behind when it was killed: a server that still runs, or the
//! `postmaster.pid` of one that does not.
//!
//! We hold the folder's lock here, so nobody else uses that server. A process counts as of this data
//! folder only when its working folder is the data folder (PostgreSQL's processes all change into it);
//! a process id alone proves nothing, since they are used again.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{PrivatePostgresError, Result, folder::Folder};

/// Ends a server that still runs on the data, and forgets one that does not.
pub(super) fn end(folder: &Folder, patience: Duration) -> Result<()> {
    let data = folder.data();
    if let Some(postmaster) = Postmaster::read(&data)?
        && runs_in(postmaster.pid, &data)
    {
        tracing::warn!(pid = postmaster.pid, "stopping the PostgreSQL that an earlier process left behind");
        stop(postmaster.pid, &data, patience)?;
    }
    // The postmaster may be gone and its sessions still there; they notice it within moments.
    let deadline = Instant::now() + patience;
    while let Some(pid) = any_process_in(&data) {
        if Instant::now() > deadline {
            return Err(PrivatePostgresError::DoesNotEnd { pid });
        }
        pause();
    }
    // Nothing runs in the data folder. Without this a start would be refused when some other process
    // has got the old process id by now.
    match fs::remove_file(data.join("postmaster.pid")) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(PrivatePostgresError::File {
            what: "cannot remove the mark of a dead server",
            path: data.join("postmaster.pid"),
            source: e,
        }),
        _ => Ok(()),
    }
}

/// The port of the server that runs on the data and is ready.
pub(super) fn live_port(folder: &Folder) -> Result<Option<u16>> {
    let data = folder.data();
    let postmaster = Postmaster::read(&data)?;
    Ok(postmaster.filter(|p| p.ready && runs_in(p.pid, &data)).map(|p| p.port))
}

/// Whether the server with this process id says that it takes connections.
pub(super) fn is_ready(data: &Path, pid: i32) -> bool {
    matches!(Postmaster::read(data), Ok(Some(p)) if p.pid == pid && p.ready)
}

#[derive(Debug, PartialEq, Eq)]
struct Postmaster {
    pid: i32,
    port: u16,
    ready: bool,
}

impl Postmaster {
    fn read(data: &Path) -> Result<Option<Self>> {
        let file = data.join("postmaster.pid");
        match fs::read_to_string(&file) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(PrivatePostgresError::File {
                what: "cannot read who runs on the data",
                path: file,
                source,
            }),
        }
    }

    /// Lines: process id, data folder, start time, port, socket folder, address, shared memory, status.
    /// The later ones appear as the server gets on.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim);
        let pid = lines.next()?.parse().ok()?;
        let port = lines.nth(2).and_then(|p| p.parse().ok()).unwrap_or(0);
        let ready = lines.nth(3) == Some("ready");
        Some(Self { pid, port, ready })
    }
}

fn stop(pid: i32, data: &Path, patience: Duration) -> Result<()> {
    for signal in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGKILL] {
        if runs_in(pid, data) {
            // An error means that it has just ended.
            let _ = kill(Pid::from_raw(pid), signal);
        }
        let deadline = Instant::now() + patience / 3;
        while runs_in(pid, data) && Instant::now() < deadline {
            pause();
        }
    }
    if runs_in(pid, data) { Err(PrivatePostgresError::DoesNotEnd { pid }) } else { Ok(()) }
}

fn runs_in(pid: i32, data: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data)
}

fn any_process_in(data: &Path) -> Option<i32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .find(|pid| runs_in(*pid, data))
}

/// Nothing signals the end of a process that is not our child.
fn pause() {
    std::thread::park_timeout(Duration::from_millis(20));
}

#[cfg(test)]
mod tests {
    use super::Postmaster;

    #[test]
    fn the_mark_of_a_server_tells_its_port_and_whether_it_is_ready() {
        let ready = "4711\n/d/data\n1768030000\n50123\n\n127.0.0.1\n  1 2\nready   \n";
        assert_eq!(Postmaster::parse(ready), Some(Postmaster { pid: 4711, port: 50123, ready: true }));
        let starting = ready.replace("ready", "starting");
        assert_eq!(Postmaster::parse(&starting), Some(Postmaster { pid: 4711, port: 50123, ready: false }));
        assert_eq!(Postmaster::parse("4711\n"), Some(Postmaster { pid: 4711, port: 0, ready: false }));
        assert_eq!(Postmaster::parse(""), None);
    }
}
