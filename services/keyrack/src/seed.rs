//! `keyrack seed`: the demo hotels, and an operator's credential to set up real ones with.

use std::{path::PathBuf, process::ExitCode};

use keyrack_booking::hotel_directory::HotelDirectory;
use keyrack_db::Points;
use tokio::runtime::Handle;

use crate::{
    configuration::ConfigurationFile,
    credentials::{self, Place},
    failure::Failure,
    installation,
    listening::base_url,
    stdout::say,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    configuration: ConfigurationFile,
    /// Where the tokens are written; tokens that stand there and are still good stay.
    #[arg(long, value_name = "FILE", default_value = "credentials.json")]
    credentials: PathBuf,
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    let settings = args.configuration.load()?;
    let shards = installation::shards(&settings, &Points::default(), runtime)?;
    installation::reach(&settings, &shards).await?;
    installation::check_schema(&settings, &shards).await?;
    let place = Place { file: args.credentials, base_url: base_url(settings.listen()), simulator_url: None };
    let hotels = HotelDirectory::new(shards.clone());
    credentials::set_up(&hotels, installation::horizon(&settings), &place).await?;
    installation::close(&shards).await;
    say(&format!("the demo hotels are there; tokens are in {}", place.file.display()))?;
    Ok(ExitCode::SUCCESS)
}
