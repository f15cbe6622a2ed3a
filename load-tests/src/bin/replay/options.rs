use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use chrono::NaiveDate;
use clap::Parser;
use reqwest::Url;
use secrecy::SecretString;

use crate::workload::Choice;

/// Replays the bookings of two real hotels through the HTTP API of a sandbox, in the order in which
/// they were made, with their changes, cancellations and no-shows, and checks every answer.
///
/// Exit code: 0 all is well; 1 something is wrong, or not all was replayed; 2 it could not run.
#[derive(Parser, Debug)]
#[command(name = "replay", version)]
pub(crate) struct Options {
    /// The archive of the bookings.
    #[arg(long, value_name = "FILE", default_value = "../shared/data/hotel-bookings/hotel_bookings.csv.zip")]
    pub(crate) bookings: PathBuf,

    /// When the archive is not there, say so and end with exit code 0.
    #[arg(long)]
    pub(crate) skip_if_absent: bool,

    /// Only rows that were booked on this day or later.
    #[arg(long, value_name = "DATE")]
    pub(crate) from: Option<NaiveDate>,

    /// Only the first N rows, in the order in which the bookings were made, and all that became of them.
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<NonZeroUsize>,

    /// Leave out the rows that were cancelled later or whose guest did not come.
    #[arg(long)]
    pub(crate) without_cancelled: bool,

    /// Book every stay as it was in the end, and change none.
    #[arg(long)]
    pub(crate) without_changes: bool,

    /// Guests who book at the same time.
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) clients: u16,

    /// Give up after so many minutes.
    #[arg(long, value_name = "N", default_value = "180", value_parser = clap::value_parser!(u64).range(1..=10_080))]
    max_minutes: u64,

    /// The executable `keyrack`, which runs the sandbox and `verify` [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    pub(crate) keyrack: Option<PathBuf>,

    /// Use a sandbox that runs already, on this machine, with its clock before the first booking; needs --data-dir.
    #[arg(long, value_name = "URL", requires = "data_dir")]
    pub(crate) base_url: Option<Url>,

    /// Of the running sandbox [default: what its credentials.json says].
    #[arg(
        long,
        value_name = "TOKEN",
        env = "KEYRACK_OPERATOR_TOKEN",
        hide_env_values = true,
        requires = "base_url"
    )]
    pub(crate) operator_token: Option<SecretString>,

    /// The sandbox's data. Without --base-url the sandbox is started here, in an empty folder, and
    /// the folder stays [default: a temporary folder, which stays when something is wrong].
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

impl Options {
    pub(crate) fn choice(&self) -> Choice {
        Choice {
            without_cancelled: self.without_cancelled,
            without_changes: self.without_changes,
            from: self.from,
            most: self.rows,
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(self.max_minutes * 60)
    }

    pub(crate) fn clients(&self) -> usize {
        usize::from(self.clients)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_options_fit_together() {
        Options::command().debug_assert();
    }

    #[test]
    fn a_running_sandbox_is_used_only_with_its_folder_since_verify_needs_it() {
        let url = ["replay", "--base-url", "http://127.0.0.1:8080"];
        assert!(Options::try_parse_from(url).is_err());
        assert!(Options::try_parse_from(url.into_iter().chain(["--data-dir", "sandbox"])).is_ok());
    }
}
