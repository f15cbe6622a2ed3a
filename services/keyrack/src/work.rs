//! `keyrack work`: the background workers alone, with what watches over them. Several such processes
//! share the work.

use std::process::ExitCode;

use keyrack_db::Points;
use keyrack_runtime::Stop;
use tokio::runtime::Handle;

use crate::{
    configuration::ConfigurationFile,
    failure::Failure,
    installation,
    listening::{base_url, listen},
    serving::{Serving, drain},
    stdout::say,
    working,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    configuration: ConfigurationFile,
    /// Wins over `workers.port` of the settings; 0 takes a free one.
    #[arg(long)]
    port: Option<u16>,
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    let mut settings = args.configuration.load()?;
    settings.workers.port = args.port.unwrap_or(settings.workers.port);
    let listener = listen(settings.workers.listen())?;
    let stop = Stop::new();
    stop.listen_to_signals(runtime).map_err(Failure::Signals)?;
    let shards = installation::shards(&settings, &Points::default(), runtime)?;
    let provider = installation::provider(&settings, &shards)?;
    installation::check_schema(&settings, &shards).await?;
    let desk = installation::desk(&settings, shards.clone(), provider, runtime, &stop)?;
    let mut serving = Serving::start_health(listener, &shards, runtime, &stop)?;
    working::start(&settings, &desk, runtime, &stop).await?;
    say(&format!("keyrack work is ready at {}", base_url(serving.address())))?;
    let outcome = tokio::select! {
        () = stop.requested() => Ok(ExitCode::SUCCESS),
        failure = serving.failed() => Err(failure),
    };
    drain(Some(serving), &stop, settings.http.drain()).await;
    installation::close(&shards).await;
    outcome
}
