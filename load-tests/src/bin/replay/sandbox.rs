//! The sandbox that the bookings are replayed on: one of our own, or one that runs already.

use std::{
    env, fs, io,
    net::IpAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use chrono::NaiveDate;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::Url;
use secrecy::SecretString;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use crate::options::Options;

/// From an empty folder to a PostgreSQL with demo hotels.
const READY_WITHIN: Duration = Duration::from_secs(180);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
const STOPPED_WITHIN: Duration = Duration::from_secs(60);
const VERIFIED_WITHIN: Duration = Duration::from_secs(900);

/// Where it is set, a sandbox uses that database.
const DATABASE_URL: &str = "DATABASE_URL";

/// Of the sandbox's log, in an error.
const LOG_CHARS: usize = 2_000;

#[derive(Debug, thiserror::Error)]
pub(crate) enum SandboxError {
    #[error("there is no executable {0}; build it, or name it with --keyrack")]
    NoExecutable(PathBuf),
    #[error("{0} is not on this machine: only sandboxes on loopback addresses are used")]
    NotLoopback(Url),
    #[error("{0} is not empty: a new sandbox needs an empty folder")]
    NotEmpty(PathBuf),
    #[error("{path}: {what}")]
    File { path: PathBuf, what: &'static str, source: io::Error },
    #[error("{0} does not tell the address and the operator's token of a sandbox")]
    Credentials(PathBuf),
    #[error("cannot run {program}")]
    Run { program: PathBuf, source: io::Error },
    #[error("the sandbox ended ({status}) before it was ready; it wrote:\n{log}")]
    Ended { status: ExitStatus, log: String },
    #[error("the sandbox was not ready within {} s; it wrote:\n{log}", READY_WITHIN.as_secs())]
    NotReady { log: String },
    #[error("the verification did not end within {} s", VERIFIED_WITHIN.as_secs())]
    VerifyHangs,
}

#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) base_url: Url,
    pub(crate) operator: SecretString,
    keyrack: PathBuf,
    data_dir: PathBuf,
    /// Of a sandbox of our own.
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    temporary: Option<TempDir>,
}

/// What `keyrack verify` wrote, and how it ended.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) status: ExitStatus,
    pub(crate) report: String,
    pub(crate) log: String,
}

impl Sandbox {
    /// `first_day` is that of the first booking: a new sandbox's clock starts on its morning.
    pub(crate) async fn open(options: &Options, first_day: NaiveDate) -> Result<Self, SandboxError> {
        let keyrack = executable(options.keyrack.as_deref())?;
        match (&options.base_url, &options.data_dir) {
            (Some(base_url), Some(data_dir)) => {
                let credentials = || credentials(data_dir).map(|(_, token)| token);
                let operator = options.operator_token.clone().map_or_else(credentials, Ok)?;
                let (base_url, data_dir) = (on_this_machine(base_url.clone())?, data_dir.clone());
                Ok(Self { base_url, operator, keyrack, data_dir, process: None })
            }
            (_, Some(data_dir)) => Self::start(keyrack, data_dir.clone(), None, first_day).await,
            (_, None) => {
                // Readable for the ordinary user that PostgreSQL runs as when we are root.
                let readable = fs::Permissions::from_mode(0o755);
                let folder =
                    tempfile::Builder::new().prefix("keyrack-replay-").permissions(readable).tempdir();
                let folder =
                    folder.map_err(file(&env::temp_dir(), "cannot make a temporary folder in it"))?;
                let data_dir = folder.path().join("sandbox");
                Self::start(keyrack, data_dir, Some(folder), first_day).await
            }
        }
    }

    async fn start(
        keyrack: PathBuf,
        data_dir: PathBuf,
        temporary: Option<TempDir>,
        first_day: NaiveDate,
    ) -> Result<Self, SandboxError> {
        fs::create_dir_all(&data_dir).map_err(file(&data_dir, "cannot make the folder"))?;
        let mut entries = fs::read_dir(&data_dir).map_err(file(&data_dir, "cannot read the folder"))?;
        if entries.next().is_some() {
            return Err(SandboxError::NotEmpty(data_dir));
        }
        let written = Written { output: data_dir.join("replay.out"), log: data_dir.join("replay.log") };
        let create = |path: &Path| fs::File::create(path).map_err(file(path, "cannot write it"));
        let (output, log) = (create(&written.output)?, create(&written.log)?);
        let mut command = Command::new(&keyrack);
        command.args(["dev", "--port", "0", "--clock", &format!("{first_day}T06:00:00Z"), "--data-dir"]);
        command.arg(&data_dir).stdin(Stdio::null()).stdout(output).stderr(log);
        // It is to have a PostgreSQL of its own.
        command.env_remove(DATABASE_URL);
        // Ctrl-C is for us: we stop the sandbox when we have ended what we do with it.
        command.process_group(0);
        let child =
            command.spawn().map_err(|source| SandboxError::Run { program: keyrack.clone(), source })?;
        let mut process = Process { child, temporary };
        match ready(&mut process, &data_dir, &written).await {
            Ok((base_url, operator)) => {
                Ok(Self { base_url, operator, keyrack, data_dir, process: Some(process) })
            }
            Err(error) => {
                process.stop().await;
                Err(error)
            }
        }
    }

    /// The six invariants, asked of the running sandbox.
    pub(crate) async fn verify(&self) -> Result<Verified, SandboxError> {
        let mut command = Command::new(&self.keyrack);
        command.args(["verify", "--data-dir"]).arg(&self.data_dir).stdin(Stdio::null()).kill_on_drop(true);
        let run = |source| SandboxError::Run { program: self.keyrack.clone(), source };
        let output =
            timeout(VERIFIED_WITHIN, command.output()).await.map_err(|_| SandboxError::VerifyHangs)?;
        let output = output.map_err(run)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Verified { status: output.status, report: text(&output.stdout), log: text(&output.stderr) })
    }

    /// Ends a sandbox of our own. Its folder goes too, unless it is to be looked at.
    pub(crate) async fn close(self, keep: bool) {
        let Some(mut process) = self.process else { return };
        process.stop().await;
        if let Some(folder) = process.temporary.take()
            && keep
        {
            eprintln!("The sandbox's data stays in {}", folder.keep().display());
        }
    }
}

impl Process {
    async fn stop(&mut self) {
        self.terminate();
        if timeout(STOPPED_WITHIN, self.child.wait()).await.is_err() {
            eprintln!("The sandbox does not stop and is killed.");
            // It may have ended just now; then there is nothing to kill.
            drop(self.child.kill().await);
        }
    }

    fn terminate(&self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(id) = id {
            // It may have ended by itself; then there is nothing to end.
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
    }
}

/// When we are dropped with the sandbox still there, it must not be left behind.
impl Drop for Process {
    fn drop(&mut self) {
        self.terminate();
    }
}

/// Its one line on standard output tells the address, and comes when it serves.
async fn ready(
    process: &mut Process,
    data_dir: &Path,
    written: &Written,
) -> Result<(Url, SecretString), SandboxError> {
    let give_up_at = Instant::now() + READY_WITHIN;
    loop {
        let ended = process.child.try_wait().map_err(file(data_dir, "cannot wait for its sandbox"))?;
        if let Some(status) = ended {
            return Err(SandboxError::Ended { status, log: written.tail() });
        }
        if read(&written.output).contains("http://") {
            let (base_url, operator) = credentials(data_dir)?;
            return Ok((on_this_machine(base_url)?, operator));
        }
        if Instant::now() > give_up_at {
            return Err(SandboxError::NotReady { log: written.tail() });
        }
        sleep(BETWEEN_LOOKS).await;
    }
}

/// What a sandbox of our own writes, beside its data.
struct Written {
    output: PathBuf,
    log: PathBuf,
}

impl Written {
    fn tail(&self) -> String {
        tail(&(read(&self.output) + &read(&self.log)))
    }
}

fn read(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

fn credentials(data_dir: &Path) -> Result<(Url, SecretString), SandboxError> {
    let path = data_dir.join("credentials.json");
    let text = fs::read_to_string(&path).map_err(file(&path, "cannot read it"))?;
    let read = || {
        let json: Value = serde_json::from_str(&text).ok()?;
        let base_url = json.get("base_url")?.as_str()?.parse().ok()?;
        Some((base_url, SecretString::from(json.get("tokens")?.get("operator")?.as_str()?)))
    };
    read().ok_or(SandboxError::Credentials(path))
}

/// The replay moves clocks and fills hotels; nobody else's service may meet it by a mistake in an address.
fn on_this_machine(url: Url) -> Result<Url, SandboxError> {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if loopback && url.scheme() == "http" { Ok(url) } else { Err(SandboxError::NotLoopback(url)) }
}

fn executable(named: Option<&Path>) -> Result<PathBuf, SandboxError> {
    let beside = || env::current_exe().unwrap_or_default().with_file_name("keyrack");
    let path = named.map_or_else(beside, Path::to_owned);
    if path.is_file() { Ok(path) } else { Err(SandboxError::NoExecutable(path)) }
}

fn tail(log: &str) -> String {
    let start = log.char_indices().rev().nth(LOG_CHARS).map_or(0, |(start, _)| start);
    log.get(start..).unwrap_or_default().to_owned()
}

fn file(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> SandboxError + use<> {
    let path = path.to_owned();
    move |source| SandboxError::File { path, what, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sandbox_on_this_machine_is_used() {
        let used = |text: &str| on_this_machine(text.parse().expect("a URL")).is_ok();
        for url in ["http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:8080/", "http://127.9.9.9"] {
            assert!(used(url), "{url}");
        }
        for url in
            ["http://192.0.2.1:8080", "http://hotel.example", "http://localhost.example", "https://127.0.0.1"]
        {
            assert!(!used(url), "{url}");
        }
    }

    #[test]
    fn the_end_of_a_long_log_is_shown() {
        assert_eq!(tail("short"), "short");
        assert!(tail(&format!("{}end", "ä".repeat(5_000))).ends_with("äend"));
    }
}
