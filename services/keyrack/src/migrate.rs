//! `keyrack migrate`: the schema of every database. Run before the new release's processes start.

use std::process::ExitCode;

use keyrack_db::Points;
use tokio::runtime::Handle;

use crate::{configuration::ConfigurationFile, failure::Failure, installation, stdout::say};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    configuration: ConfigurationFile,
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    let settings = args.configuration.load()?;
    let shards = installation::shards(&settings, &Points::default(), runtime)?;
    installation::reach(&settings, &shards).await?;
    installation::migrate(&settings, &shards).await?;
    installation::close(&shards).await;
    say("the schema is current")?;
    Ok(ExitCode::SUCCESS)
}
