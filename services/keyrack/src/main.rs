//! The one executable. One subcommand a file; what they share: `configuration` (settings and log),
//! `installation` (databases, schema, desk), `serving` (the API), `credentials`, `failure`.

mod configuration;
mod credentials;
mod dev;
mod doctor;
mod failure;
mod installation;
mod listening;
mod migrate;
mod openapi;
mod payment_simulator;
mod repair;
mod seed;
mod serve;
mod serving;
mod stdout;
mod verify;
mod whose;
mod work;
mod working;

use std::{process::ExitCode, time::Duration};

use clap::{Parser, Subcommand};
use tokio::runtime::{Builder, Handle};

use crate::failure::Failure;

/// Hotel booking that never sells a room twice and never loses a payment.
#[derive(Debug, Parser)]
#[command(name = "keyrack", version)]
struct Keyrack {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A sandbox in one process: database, payment simulator, workers, API, demo hotels.
    Dev(dev::Args),
    /// The API alone.
    Serve(serve::Args),
    /// The background workers alone.
    Work(work::Args),
    /// Bring every database to this program's schema.
    Migrate(migrate::Args),
    /// Set up the demo hotels, and credentials for them and for an operator.
    Seed(seed::Args),
    /// Check the invariants on a live database, without a write. Exit code: 0 clean, 1 violations, 2
    /// could not check.
    Verify(verify::Args),
    /// Show where a hotel's counters differ from the facts, and set them right when told to. Exit
    /// code: 0 they are right, 1 a difference is left, 2 could not look.
    Repair(repair::Args),
    /// Check an installation and say what to do about what is wrong. Exit code: 0 nothing, 1 something.
    Doctor(doctor::Args),
    /// Print the OpenAPI document.
    Openapi,
    /// A payment provider for `serve` and `work` that can be told what to do; `dev` brings its own.
    PaymentSimulator(payment_simulator::Args),
}

impl Command {
    async fn run(self, runtime: &Handle) -> Result<ExitCode, Failure> {
        match self {
            Self::Dev(args) => dev::run(args, runtime).await,
            Self::Serve(args) => serve::run(args, runtime).await,
            Self::Work(args) => work::run(args, runtime).await,
            Self::Migrate(args) => migrate::run(args, runtime).await,
            Self::Seed(args) => seed::run(args, runtime).await,
            Self::Verify(args) => verify::run(args, runtime).await,
            Self::Repair(args) => repair::run(args, runtime).await,
            Self::Doctor(args) => doctor::run(args, runtime).await,
            Self::Openapi => openapi::run(),
            Self::PaymentSimulator(args) => payment_simulator::run(args, runtime).await,
        }
    }

    /// What the exit code says when a command cannot do its work. 1 is an answer of some.
    const fn exit_code_of_failure(&self) -> u8 {
        match self {
            Self::Verify(_) | Self::Repair(_) => 2,
            _ => 1,
        }
    }
}

/// One runtime for ledger, workers and payments. It outlives the HTTP server, whose threads have
/// runtimes of their own that end with it.
fn main() -> ExitCode {
    let Keyrack { command } = Keyrack::parse();
    let exit_code_of_failure = command.exit_code_of_failure();
    let outcome = Builder::new_multi_thread()
        .thread_name("keyrack")
        .enable_all()
        .build()
        .map_err(Failure::Runtime)
        .and_then(|runtime| {
            let outcome = runtime.block_on(command.run(runtime.handle()));
            // Only what a second signal has cut off can still be there.
            runtime.shutdown_timeout(Duration::from_secs(1));
            outcome
        });
    outcome.unwrap_or_else(|failure| {
        failure.tell();
        ExitCode::from(exit_code_of_failure)
    })
}
