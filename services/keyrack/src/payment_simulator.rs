//! `keyrack payment-simulator`: the provider of an installation that takes no real money.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
};

use keyrack_payment_simulator::{Settings, run as run_simulator};
use keyrack_runtime::Stop;
use keyrack_telemetry::log::{self, LogFormat};
use tokio::runtime::Handle;

use crate::{failure::Failure, listening::listen, stdout::say};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// On loopback; 0 takes a free one.
    #[arg(long, default_value_t = 8081)]
    port: u16,
    /// Remembers charges over a restart.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    log::set_up(LogFormat::Text, "info")?;
    let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, args.port)))?;
    let stop = Stop::new();
    stop.listen_to_signals(runtime).map_err(Failure::Signals)?;
    let settings = Settings { journal: args.journal, ..Settings::default() };
    let running = run_simulator(listener, settings, runtime)?;
    say(&format!("keyrack payment-simulator is ready at {}", running.base_url()))?;
    stop.requested().await;
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}
