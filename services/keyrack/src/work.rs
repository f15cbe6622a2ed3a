//! `keyrack work`: the background workers alone. Several such processes share the work.

use std::process::ExitCode;

use keyrack_db::Points;
use keyrack_runtime::Stop;
use tokio::runtime::Handle;

use crate::{
    configuration::ConfigurationFile, failure::Failure, installation, serving::drain, stdout::say, working,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    configuration: ConfigurationFile,
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    let settings = args.configuration.load()?;
    let stop = Stop::new();
    stop.listen_to_signals(runtime).map_err(Failure::Signals)?;
    let shards = installation::shards(&settings, &Points::default(), runtime)?;
    let provider = installation::provider(&settings)?;
    installation::check_schema(&settings, &shards).await?;
    let desk = installation::desk(&settings, shards.clone(), provider, runtime, &stop);
    working::start(&settings, &desk, runtime, &stop);
    say("keyrack work is ready")?;
    stop.requested().await;
    drain(None, &stop, settings.http.drain()).await;
    installation::close(&shards).await;
    Ok(ExitCode::SUCCESS)
}
