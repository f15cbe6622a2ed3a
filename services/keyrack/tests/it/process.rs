//! A process of the program, and what it says.

use std::{
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Output, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// Of a start on a machine that compiles beside it.
const PATIENCE: Duration = Duration::from_secs(180);

/// Ended with the test that started it.
pub(crate) struct Process {
    child: Child,
    pid: Pid,
    stdout: Lines<BufReader<ChildStdout>>,
}

/// The program, with nothing of the environment that could configure it.
pub(crate) fn keyrack(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyrack"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("KEYRACK_")) {
        command.env_remove(name);
    }
    command.env_remove("DATABASE_URL").args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs a command that ends by itself.
pub(crate) async fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = keyrack(arguments);
    command.envs(environment.iter().copied());
    timeout(PATIENCE, command.output()).await.expect("the command ends").expect("the command runs")
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("text")
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("text")
}

impl Process {
    /// Returns when it has said that it is ready, with what it said.
    pub(crate) async fn start(arguments: &[&str], environment: &[(&str, &str)]) -> (Self, String) {
        let mut command = keyrack(arguments);
        command.envs(environment.iter().copied()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw).expect("a process id");
        let stdout = child.stdout.take().expect("its output");
        let mut stdout = BufReader::new(stdout).lines();
        let line = timeout(PATIENCE, stdout.next_line()).await.expect("it gets ready").expect("its output");
        (Self { child, pid, stdout }, line.expect("it says that it is ready"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid, signal).expect("it runs");
    }

    async fn ended(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.child.wait()).await.expect("it ends").expect("its end")
    }

    /// Waits for the end that it was told to have.
    pub(crate) async fn has_aborted(mut self) {
        assert_eq!(self.ended().await.signal(), Some(Signal::SIGABRT as i32));
    }

    /// Returns when it is gone: until then it has its folder.
    pub(crate) async fn kill(mut self) {
        self.signal(Signal::SIGKILL);
        assert_eq!(self.ended().await.signal(), Some(Signal::SIGKILL as i32));
    }

    /// Stops it, and has no more to say about it.
    pub(crate) async fn stop_cleanly(self) {
        assert_eq!(self.stop().await.0.code(), Some(0));
    }

    /// Asks it to stop, as a supervisor does; returns what else it said on its output.
    pub(crate) async fn stop(mut self) -> (ExitStatus, Vec<String>) {
        self.signal(Signal::SIGTERM);
        let status = self.ended().await;
        let mut rest = Vec::new();
        while let Some(line) = self.stdout.next_line().await.expect("its output") {
            rest.push(line);
        }
        (status, rest)
    }
}
