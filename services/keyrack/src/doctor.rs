//! `keyrack doctor`: is this installation fit to take bookings, and if not, what is to be done?

mod clock;
mod postgres;
mod provider;

use std::{fmt, process::ExitCode};

use keyrack_db::Points;
use tokio::runtime::Handle;

use crate::{failure::Failure, installation, stdout::say, whose::Whose};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    whose: Whose,
}

/// One line of the report.
enum Finding {
    Good(String),
    /// Works, and somebody should know.
    Note(String),
    /// With what is to be done about it.
    Bad(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good(text) => write!(f, "ok    {text}"),
            Self::Note(text) => write!(f, "note  {text}"),
            Self::Bad(text) => write!(f, "BAD   {text}"),
        }
    }
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    let settings = args.whose.settings()?;
    let shards = installation::shards(&settings, &Points::default(), runtime)?;
    let mut findings = vec![time_zones()];
    for (name, database) in installation::databases(&settings, &shards) {
        findings.extend(postgres::look_at(&name, database, &settings).await);
    }
    findings.push(clock::look_at(&shards).await);
    findings.push(provider::look_at(&settings).await);
    installation::close(&shards).await;
    for finding in &findings {
        say(&finding.to_string())?;
    }
    let is_bad = findings.iter().any(|finding| matches!(finding, Finding::Bad(_)));
    Ok(if is_bad { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Rules change some weeks after they are published; only a new release of the program learns of them.
fn time_zones() -> Finding {
    Finding::Note(format!(
        "time zones are those of tzdata {}, compiled in; a country that has changed its clocks since needs a newer release",
        chrono_tz::IANA_TZDB_VERSION
    ))
}
