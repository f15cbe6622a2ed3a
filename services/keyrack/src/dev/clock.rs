//! The sandbox's clock: where it starts, and how it is moved.

use std::{fmt, str::FromStr, time::Duration};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use keyrack_api::sandbox::{SandboxClock, WaitFor};
use keyrack_booking::{
    Fault,
    demo::SeedError,
    sandbox_clock::{self, Move, MoveError},
};
use keyrack_db::Shards;
use keyrack_domain::{clock::Moment, code::HotelCode};
use keyrack_runtime::worker::WorkerWatch;
use keyrack_store::directory;
use tokio::time::timeout;

use crate::failure::Failure;

/// So that the documentation's example, a stay in November 2026, lies ahead.
const WORKED_EXAMPLE: &str = "2026-01-10T06:00:00Z";

/// Of the workers, to see a new time and to do what is due then. A jump over years opens a horizon.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    Real,
    At(Moment),
}

impl Default for Start {
    fn default() -> Self {
        WORKED_EXAMPLE.parse().unwrap_or(Self::Real)
    }
}

impl FromStr for Start {
    type Err = chrono::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "real" => Ok(Self::Real),
            instant => Ok(Self::At(Moment(DateTime::parse_from_rfc3339(instant)?.with_timezone(&Utc)))),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real => f.write_str("real"),
            Self::At(moment) => moment.fmt(f),
        }
    }
}

/// A sandbox is new as long as it has no hotel. Later its clock stays as it is, whatever is asked for: what
/// was decided by it stands.
pub(super) async fn start_if_new(shards: &Shards, start: Start) -> Result<(), Failure> {
    let mut connection = shards.directory().connection().await?;
    let hotels = directory::hotels_by_shard(&mut connection).await?;
    // The demo hotels are made before any other.
    let example: HotelCode = "HTL-204".parse().map_err(|_| SeedError::Name)?;
    let is_ours = directory::by_code(&mut connection, &example).await?.is_some();
    drop(connection);
    match start {
        _ if !hotels.is_empty() && !is_ours => Err(Failure::NotASandbox),
        Start::At(moment) if hotels.is_empty() => Ok(sandbox_clock::start(shards, moment).await?),
        Start::At(_) | Start::Real => Ok(()),
    }
}

/// Moves it, and waits for the workers of this process.
pub(super) struct Clock {
    shards: Shards,
    workers: WorkerWatch,
}

impl Clock {
    pub(super) const fn new(shards: Shards, workers: WorkerWatch) -> Self {
        Self { shards, workers }
    }
}

#[async_trait]
impl SandboxClock for Clock {
    async fn advance(&self, by: Move, wait: WaitFor) -> Result<Moment, MoveError> {
        sandbox_clock::advance(&self.shards, by).await?;
        let waited = async {
            match wait {
                WaitFor::Seen => self.workers.all_have_run().await,
                WaitFor::Drained => self.workers.nothing_is_due().await,
            }
        };
        match timeout(PATIENCE, waited).await {
            // By nothing: what it shows now.
            Ok(Ok(())) => sandbox_clock::advance(&self.shards, Move::By(Duration::ZERO)).await,
            Ok(Err(ended)) => Err(Fault::internal(ended).into()),
            Err(late) => Err(Fault::internal(late).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_an_instant_or_the_real_time() {
        assert_eq!(Start::default().to_string(), WORKED_EXAMPLE);
        assert_eq!("real".parse(), Ok(Start::Real));
        assert_eq!("2013-06-30T22:00:00+02:00".parse::<Start>().unwrap().to_string(), "2013-06-30T20:00:00Z");
        assert!("2013-06-30".parse::<Start>().is_err());
    }
}
