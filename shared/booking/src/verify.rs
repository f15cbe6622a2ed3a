//! `keyrack verify`: the invariants of every hotel, asked of a live database without a write.

mod report;

use std::{error::Error, time::Duration};

use keyrack_db::{Database, DbError, PgConnection, Shards};
use keyrack_domain::ids::{HoldId, HotelId};
use keyrack_store::{
    drift,
    verify::{self, Invariant, Listed},
};

pub use self::report::{Finding, HotelReport, Report, Standing};

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Of each statement; one reads a whole hotel.
    pub statement_timeout: Duration,
    /// Violations told of each invariant of a hotel. All are counted.
    pub shown: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { statement_timeout: Duration::from_secs(120), shown: 50 }
    }
}

/// Hotels of one read of the directory.
const PAGE: i64 = 500;

/// Never fails: what could not be asked stands in the report, with the reason.
pub async fn run(shards: &Shards, options: Options) -> Report {
    let mut report = Report::default();
    let mut after = HotelId(0);
    loop {
        let page = match page(shards.directory(), after).await {
            Ok(page) => page,
            Err(error) => {
                report.directory = Some(reason(&error));
                return report;
            }
        };
        let Some(last) = page.last() else { return report };
        after = last.hotel;
        for listed in page {
            let finding = match shards.shard(listed.shard) {
                Ok(shard) => ask(shard, listed.hotel, options).await.unwrap_or_else(|e| unasked(&e)),
                Err(error) => unasked(&error),
            };
            report.hotels.push(HotelReport { code: listed.code, shard: listed.shard, finding });
        }
    }
}

async fn page(directory: &Database, after: HotelId) -> Result<Vec<Listed>, DbError> {
    let mut connection = directory.connection().await?;
    verify::listed(&mut connection, after, PAGE).await
}

/// One hotel, at one instant.
async fn ask(shard: &Database, hotel: HotelId, options: Options) -> Result<Finding, DbError> {
    shard
        .snapshot("verify", options.statement_timeout, move |connection| {
            Box::pin(ask_all(connection, hotel, options.shown.into()))
        })
        .await
}

async fn ask_all(connection: &mut PgConnection, hotel: HotelId, shown: i64) -> Result<Finding, DbError> {
    if !verify::is_there(connection, hotel).await? {
        return Ok(Finding::Absent);
    }
    let marked: Vec<HoldId> = drift::marked(connection, hotel).await?;
    let mut standings = Vec::with_capacity(Invariant::ALL.len());
    let mut broken = None;
    for invariant in Invariant::ALL {
        let standing = match &broken {
            // PostgreSQL answers nothing more in a transaction that has met an error.
            Some(reason) => Standing::NotChecked(format!("after an error of an earlier one: {reason}")),
            None => ask_one(connection, hotel, invariant, shown)
                .await
                .unwrap_or_else(|error| Standing::NotChecked(broken.insert(reason(&error)).clone())),
        };
        standings.push((invariant, standing));
    }
    Ok(Finding::Asked { standings, marked })
}

async fn ask_one(
    connection: &mut PgConnection,
    hotel: HotelId,
    invariant: Invariant,
    shown: i64,
) -> Result<Standing, DbError> {
    let violations = match invariant {
        Invariant::Counters => verify::counters(connection, hotel, shown).await?,
        Invariant::Money => verify::money(connection, hotel, shown).await?,
        Invariant::AtMostOne => verify::at_most_one(connection, hotel, shown).await?,
        Invariant::Events => verify::events(connection, hotel, shown).await?,
        Invariant::Projection => return Ok(Standing::NotInThisRelease),
        Invariant::Refunds => verify::refunds(connection, hotel, shown).await?,
    };
    Ok(Standing::Checked(violations))
}

fn unasked(error: &(dyn Error + 'static)) -> Finding {
    let reason = reason(error);
    let standing = |invariant| {
        let standing = match invariant {
            Invariant::Projection => Standing::NotInThisRelease,
            _ => Standing::NotChecked(reason.clone()),
        };
        (invariant, standing)
    };
    Finding::Asked { standings: Invariant::ALL.into_iter().map(standing).collect(), marked: Vec::new() }
}

/// The error and what stands behind it.
fn reason(error: &(dyn Error + 'static)) -> String {
    let behind = std::iter::successors(error.source(), |error| (**error).source());
    behind.fold(error.to_string(), |told, source| format!("{told}: {source}"))
}
