//! `with-postgres [--migrated FOLDER] COMMAND...`: starts one PostgreSQL for the command, names it in the
//! command's environment, and ends it afterwards, whatever the command did.
//!
//! It stands here, below everything that needs a database to be built: it brings the database against
//! which the store's queries are checked.

use std::{
    env,
    error::Error,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use keyrack_runtime::private_postgres::{
    PrivatePostgres,
    scratch::{self, TEST_DATABASE_PREFIX, TEST_SERVER_VARIABLE},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use secrecy::{ExposeSecret, SecretString};
use tokio::{
    process::{Child, Command},
    signal::unix::{SignalKind, signal},
};

const USAGE: &str = "usage: with-postgres [--migrated FOLDER] COMMAND...";

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1).peekable();
    let migrations = match arguments.next_if(|argument| argument == "--migrated") {
        Some(_) => arguments.next().map(PathBuf::from),
        None => None,
    };
    let Some(program) = arguments.next() else {
        eprintln!("{USAGE}");
        return Ok(ExitCode::from(2));
    };
    let postgres = scratch::start("").await?;
    let ended = run(&postgres, migrations, program, arguments.collect()).await;
    postgres.stop().await?;
    ended
}

async fn run(
    postgres: &PrivatePostgres,
    migrations: Option<PathBuf>,
    program: OsString,
    arguments: Vec<OsString>,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut command = Command::new(program);
    command.args(arguments).env(TEST_SERVER_VARIABLE, postgres.url("postgres").expose_secret());
    if let Some(folder) = migrations {
        command.env("DATABASE_URL", migrated(postgres, &folder).await?.expose_secret());
    }
    let mut terminate = signal(SignalKind::terminate())?;
    // A terminal sends it to the command too, which ends by it; the server ends after the command.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut child = command.spawn()?;
    loop {
        tokio::select! {
            status = child.wait() => {
                let code = status?.code().and_then(|code| u8::try_from(code).ok());
                return Ok(ExitCode::from(code.unwrap_or(1)));
            }
            _ = interrupt.recv() => {}
            _ = terminate.recv() => hand_on(&child, Signal::SIGTERM),
        }
    }
}

/// A database on which the folder's files were run in the order of their names.
async fn migrated(postgres: &PrivatePostgres, folder: &Path) -> Result<SecretString, Box<dyn Error>> {
    let name = format!("{TEST_DATABASE_PREFIX}migrated");
    postgres.ensure_database(&name).await?;
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    for file in files {
        postgres.run_sql(&name, fs::read_to_string(file)?).await?;
    }
    Ok(postgres.url(&name))
}

fn hand_on(child: &Child, signal: Signal) {
    if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
        // An error means that it has just ended.
        let _ = kill(Pid::from_raw(pid), signal);
    }
}
