//! The replay of real bookings: see `load-tests/README.md`.

mod api;
mod archive;
mod clock;
mod counters;
mod guest;
mod hotels;
mod options;
mod progress;
mod replay;
mod row;
mod rules;
#[cfg(test)]
mod sample;
mod sandbox;
mod set_up;
mod summary;
mod tally;
mod timings;
mod told;
mod workload;

use std::{io, process::ExitCode, time::Instant};

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    api::{Api, CallError},
    archive::ArchiveError,
    hotels::{Hotels, NoHotels},
    options::Options,
    progress::Progress,
    replay::Replay,
    sandbox::{Sandbox, SandboxError},
    tally::{Tally, with_sources},
    timings::Timings,
    workload::Workload,
};

/// Exit codes beside 0.
const SOMETHING_IS_WRONG: u8 = 1;
const COULD_NOT_RUN: u8 = 2;

#[derive(Debug, thiserror::Error)]
enum CannotRun {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("the hotels cannot be set up")]
    SetUp(#[source] CallError),
    #[error("the counters cannot be compared")]
    Counters(#[source] CallError),
    #[error(transparent)]
    Hotels(#[from] NoHotels),
    #[error("there is nothing to replay in the archive")]
    Nothing,
    #[error("interrupted")]
    Interrupted,
    #[error("cannot listen to signals, or start")]
    Io(#[from] io::Error),
    #[error("cannot measure")]
    Timings(#[from] hdrhistogram::CreationError),
    #[error("cannot show the progress")]
    Progress(#[from] indicatif::style::TemplateError),
    #[error("cannot make calls")]
    Client(#[from] reqwest::Error),
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(SOMETHING_IS_WRONG),
        Err(CannotRun::Archive(absent @ ArchiveError::Absent(_))) if options.skip_if_absent => {
            eprintln!("SKIPPED: {absent}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("replay: {}", with_sources(&error));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Whether all is well.
fn run(options: &Options) -> Result<bool, CannotRun> {
    let rows = archive::read(&options.bookings)?;
    let workload = Workload::choose(rows, options.all, options.rows);
    let first_day = workload.days.first().ok_or(CannotRun::Nothing)?.date;
    let hotels = Hotels::of(&workload)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        eprintln!("{} rows to replay; opening the sandbox", workload.census.chosen);
        let sandbox = Sandbox::open(options, first_day).await?;
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let ended = tokio::select! {
            ended = on(&sandbox, options, &workload, &hotels) => ended,
            _ = interrupt.recv() => Err(CannotRun::Interrupted),
            _ = terminate.recv() => Err(CannotRun::Interrupted),
        };
        sandbox.close(!matches!(ended, Ok(true) | Err(CannotRun::Interrupted))).await;
        ended
    })
}

async fn on(
    sandbox: &Sandbox,
    options: &Options,
    workload: &Workload,
    hotels: &Hotels,
) -> Result<bool, CannotRun> {
    let api = Api::new(&sandbox.base_url, Timings::new()?)?;
    let operator = &sandbox.operator;
    set_up::create(&api, operator, hotels).await.map_err(CannotRun::SetUp)?;
    let progress = Progress::new(workload.census.chosen)?;
    let started = Instant::now();
    let replay = Replay {
        api: &api,
        operator,
        hotels,
        clients: options.clients(),
        give_up_at: started + options.patience(),
    };
    let tally = replay.run(workload, &progress).await;
    let elapsed = started.elapsed();
    progress.end();
    summary::rows(workload.census, &tally, options.all);
    summary::calls(&api.timings, elapsed);
    let checked = check(sandbox, &api, hotels, &tally).await?;
    Ok(checked && tally.wrong == 0 && tally.stopped.is_none())
}

/// The counters and the invariants, once no hold is left.
async fn check(sandbox: &Sandbox, api: &Api, hotels: &Hotels, tally: &Tally) -> Result<bool, CannotRun> {
    let operator = &sandbox.operator;
    clock::let_holds_expire(api, operator).await.map_err(CannotRun::Counters)?;
    let compared = counters::compare(api, operator, hotels, tally).await.map_err(CannotRun::Counters)?;
    summary::counters(&compared);
    let verified = sandbox.verify().await?;
    summary::verified(&verified);
    Ok(compared.differences == 0 && verified.status.success())
}
