//! The replay of real bookings: see `load-tests/README.md`.

mod accounts;
mod api;
mod archive;
mod changing;
mod charges;
mod clock;
mod closing;
mod counters;
mod course;
mod ending;
mod fee;
mod guest;
mod hotels;
mod options;
mod priced;
mod progress;
mod replay;
mod reserved;
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

use std::{
    io,
    pin::pin,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use clap::Parser;
use indicatif::HumanCount;
use keyrack_domain::money::{Currency, NotACurrency};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    api::{Api, CallError},
    archive::ArchiveError,
    charges::{Book, ChargesError},
    hotels::{Hotels, NoHotels},
    options::Options,
    progress::Progress,
    replay::Replay,
    sandbox::{Sandbox, SandboxError},
    tally::{Stopped, Tally, with_sources},
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
    #[error("cannot read what the payment provider has taken before")]
    Charges(#[from] ChargesError),
    #[error(transparent)]
    Currency(#[from] NotACurrency),
    #[error("cannot make calls")]
    Client(#[from] reqwest::Error),
}

#[derive(Debug, thiserror::Error)]
enum CheckFailed {
    #[error("the counters cannot be compared")]
    Counters(#[from] CallError),
    #[error("the payment provider's book cannot be read")]
    Charges(#[from] ChargesError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// How a replay came out.
#[derive(Clone, Copy, Debug)]
enum Verdict {
    Well,
    /// Nothing is wrong, but not every row was replayed.
    Unfinished,
    Wrong,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(Verdict::Well) => ExitCode::SUCCESS,
        Ok(Verdict::Unfinished | Verdict::Wrong) => ExitCode::from(SOMETHING_IS_WRONG),
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

fn run(options: &Options) -> Result<Verdict, CannotRun> {
    let rows = archive::read(&options.bookings)?;
    let workload = Workload::choose(rows, options.choice());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let stop = AtomicBool::new(false);
        let mut work = pin!(on_a_sandbox(options, &workload, &stop));
        loop {
            tokio::select! {
                ended = &mut work => return ended,
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if stop.swap(true, Ordering::Relaxed) {
                return Err(CannotRun::Interrupted);
            }
            eprintln!("Stopping after the bookings under way, with a summary. Once more stops at once.");
        }
    })
}

async fn on_a_sandbox(
    options: &Options,
    workload: &Workload,
    stop: &AtomicBool,
) -> Result<Verdict, CannotRun> {
    let first_day = workload.days.first().ok_or(CannotRun::Nothing)?.date;
    let hotels = Hotels::of(workload)?;
    eprintln!("{} rows to replay; opening the sandbox", HumanCount(workload.census.chosen as u64));
    let sandbox = Sandbox::open(options, first_day).await?;
    let ended = replay_and_check(&sandbox, options, workload, &hotels, stop).await;
    sandbox.close(!matches!(ended, Ok(Verdict::Well | Verdict::Unfinished))).await;
    ended
}

async fn replay_and_check(
    sandbox: &Sandbox,
    options: &Options,
    workload: &Workload,
    hotels: &Hotels,
    stop: &AtomicBool,
) -> Result<Verdict, CannotRun> {
    let api = Api::new(&sandbox.base_url, Timings::new()?)?;
    let operator = &sandbox.operator;
    set_up::create(&api, operator, hotels).await.map_err(CannotRun::SetUp)?;
    let currency: Currency = hotels::CURRENCY.parse()?;
    let before = Book::read(&api, currency).await?;
    let progress = Progress::new(workload.census.events())?;
    let started = Instant::now();
    let give_up_at = started + options.patience();
    let replay = Replay { api: &api, operator, hotels, clients: options.clients(), give_up_at, stop };
    let tally = replay.run(workload, &progress).await;
    let elapsed = started.elapsed();
    progress.end();
    summary::rows(workload.census, &tally);
    summary::calls(&api.timings, elapsed);
    let checked = check(sandbox, &api, hotels, &tally, (before, currency)).await.unwrap_or_else(|error| {
        println!("The checks at the end failed: {}", with_sources(&error));
        false
    });
    Ok(match tally.stopped {
        _ if !checked || tally.wrong_in_all() > 0 => Verdict::Wrong,
        Some(Stopped::Call(_) | Stopped::TooManyWrong) => Verdict::Wrong,
        Some(Stopped::OutOfTime | Stopped::Interrupted) => Verdict::Unfinished,
        None => Verdict::Well,
    })
}

/// The counters, the money and the invariants, once no hold is left and every refund is sent.
async fn check(
    sandbox: &Sandbox,
    api: &Api,
    hotels: &Hotels,
    tally: &Tally,
    (before, currency): (Book, Currency),
) -> Result<bool, CheckFailed> {
    let operator = &sandbox.operator;
    clock::let_holds_expire(api, operator).await?;
    let compared = counters::compare(api, operator, hotels, tally).await?;
    summary::counters(&compared);
    let book = Book::read(api, currency).await?.since(before);
    let agrees = summary::money(tally, &book, currency);
    let verified = sandbox.verify().await?;
    summary::verified(&verified);
    Ok(compared.differences == 0 && agrees && verified.status.success())
}
