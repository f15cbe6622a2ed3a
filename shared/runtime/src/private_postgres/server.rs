//! The server process: start, readiness, end.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{
    Binaries, PrivatePostgresError, PrivatePostgresSettings, Result, exit::Exit, folder::Folder, leftovers,
    owner::Owner,
};

/// Between the choice of a free port and the server's use of it someone else may take it.
const TRIES: u32 = 5;
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Server {
    pid: i32,
    exit: Arc<Exit>,
    patience: Duration,
}

impl Server {
    pub(super) fn start(
        binaries: &Binaries,
        folder: &Folder,
        settings: &PrivatePostgresSettings,
    ) -> Result<(Self, u16)> {
        let mut tries = 0;
        loop {
            tries += 1;
            let port = free_port()?;
            let command = command(binaries, folder, settings, port)?;
            let (pid, exit) = spawn(command)?;
            let server = Self { pid, exit, patience: settings.patience };
            match server.become_ready(folder) {
                Ok(()) => return Ok((server, port)),
                Err(e) if tries == TRIES || !folder.log_tail().contains("could not bind") => return Err(e),
                Err(_) => {}
            }
        }
    }

    fn become_ready(&self, folder: &Folder) -> Result<()> {
        let not_ready = |reason| {
            Err(PrivatePostgresError::NotReady { reason, log: folder.log(), tail: folder.log_tail() })
        };
        let deadline = Instant::now() + self.patience;
        while !leftovers::is_ready(&folder.data(), self.pid) {
            if self.exit.wait(LOOK_EVERY) {
                return not_ready(format!("it ended ({})", self.exit.how()));
            }
            if Instant::now() > deadline {
                return not_ready(format!("it took longer than {:?}", self.patience));
            }
        }
        Ok(())
    }

    pub(super) const fn pid(&self) -> i32 {
        self.pid
    }

    pub(super) async fn ended(&self) {
        self.exit.ended().await;
    }

    pub(super) fn stop(&self) -> Result<()> {
        // Fast shutdown, immediate shutdown, and what cannot be refused.
        for signal in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGKILL] {
            if !self.exit.wait(Duration::ZERO) {
                // An error means that it ended this very moment.
                let _ = kill(Pid::from_raw(self.pid), signal);
            }
            if self.exit.wait(self.patience / 3) {
                return Ok(());
            }
        }
        Err(PrivatePostgresError::DoesNotEnd { pid: self.pid })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::error!(%error, "the private PostgreSQL was left running");
        }
    }
}

fn command(
    binaries: &Binaries,
    folder: &Folder,
    settings: &PrivatePostgresSettings,
    port: u16,
) -> Result<Command> {
    let log = folder.new_log()?;
    let for_errors = log.try_clone().map_err(|source| PrivatePostgresError::File {
        what: "cannot share the log",
        path: folder.log(),
        source,
    })?;
    let on_off = if settings.durable { "on" } else { "off" };
    let mut command = ending_with_us(&folder.owner, &binaries.program("postgres"));
    command.arg("-D").arg(folder.data());
    for setting in [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        // No socket: the password is the only way in.
        "unix_socket_directories=".to_owned(),
        format!("max_connections={}", settings.max_connections),
        format!("idle_in_transaction_session_timeout={}", settings.idle_in_transaction_timeout.as_millis()),
        // Below the product's lock time-out of half a second: a deadlock is told as one, not as a lock that was late.
        "deadlock_timeout=200ms".to_owned(),
        // A session that is beginning while its client stands still holds up every DROP DATABASE.
        "authentication_timeout=10s".to_owned(),
        format!("fsync={on_off}"),
        format!("full_page_writes={on_off}"),
        "timezone=UTC".to_owned(),
        "log_timezone=UTC".to_owned(),
        "log_line_prefix=%m [%p] %d ".to_owned(),
    ] {
        command.arg("-c").arg(setting);
    }
    command.stdin(Stdio::null()).stdout(log).stderr(for_errors);
    // Ctrl-C at a terminal reaches the whole process group; the database has to outlive our own drain.
    command.process_group(0);
    Ok(command)
}

/// setpriv (util-linux) asks the kernel for a signal at our death, after which the server shuts down
/// by itself. Where it is missing, the next start ends what was left behind.
fn ending_with_us(owner: &Owner, postgres: &Path) -> Command {
    const SETPRIV: &str = "/usr/bin/setpriv";
    if !Path::new(SETPRIV).exists() {
        return owner.command(postgres);
    }
    let mut command = Command::new(SETPRIV);
    if let Owner::Other { uid, gid, .. } = owner {
        command.arg(format!("--reuid={uid}")).arg(format!("--regid={gid}")).arg("--clear-groups");
    }
    command.args(["--pdeathsig", "INT", "--"]).arg(postgres).current_dir("/");
    command
}

/// The kernel sends the signal when the *thread* that started the child ends, so the child gets a
/// thread of its own, which lives exactly as long as it does.
fn spawn(mut command: Command) -> Result<(i32, Arc<Exit>)> {
    let program = command.get_program().display().to_string();
    let spawn_error = |source| PrivatePostgresError::Spawn { program: program.clone(), source };
    let exit = Arc::new(Exit::default());
    let (tell, told) = mpsc::channel::<io::Result<i32>>();
    let watcher = Arc::clone(&exit);
    let keep = move || match command.spawn() {
        Err(e) => drop(tell.send(Err(e))),
        Ok(child) => {
            let _ = tell.send(pid_of(&child));
            watcher.watch(child);
        }
    };
    thread::Builder::new().name("private-postgres".into()).spawn(keep).map_err(spawn_error)?;
    let pid = told.recv().unwrap_or_else(|e| Err(io::Error::other(e))).map_err(spawn_error)?;
    Ok((pid, exit))
}

fn pid_of(child: &Child) -> io::Result<i32> {
    i32::try_from(child.id()).map_err(io::Error::other)
}

fn free_port() -> Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).map(|a| a.port()).map_err(
        |source| PrivatePostgresError::File { what: "no free port", path: "127.0.0.1".into(), source },
    )
}
