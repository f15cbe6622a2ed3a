//! `keyrack verify`: the invariants, asked of a live database without a write.

use std::process::ExitCode;

use keyrack_booking::verify::{self, Options};
use keyrack_db::Points;
use tokio::runtime::Handle;

use crate::{failure::Failure, installation, stdout::say, whose::Whose};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    whose: Whose,
    /// Violations told of each invariant of a hotel. All are counted.
    #[arg(long, value_name = "COUNT", default_value_t = Options::default().shown)]
    shown: u32,
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    let settings = args.whose.settings()?;
    let shards = installation::shards(&settings, &Points::default(), runtime)?;
    installation::reach(&settings, &shards).await?;
    let report = verify::run(&shards, Options { shown: args.shown, ..Options::default() }).await;
    installation::close(&shards).await;
    say(&report.to_string())?;
    Ok(ExitCode::from(report.exit_code()))
}
