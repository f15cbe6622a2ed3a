//! `keyrack repair`: sets the counters of a hotel to the facts that they stand for. Shows the difference,
//! and changes something only when told to.

mod apply;
mod plan;

use std::{sync::Arc, time::Duration};

use keyrack_db::{Database, DbError, NoSuchShard, PgConnection, Shards};
use keyrack_domain::{actor::Actor, code::HotelCode, ids::HotelId};
use keyrack_store::{directory, drift, holds};

use self::apply::Application;
pub use self::plan::{Difference, Plan, Verdict};
use crate::Fault;

#[derive(Clone, Debug)]
pub enum Mode {
    Show,
    /// In the name of whoever the audit shall name.
    Apply(Actor),
}

#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    #[error("no such hotel")]
    HotelNotFound,
    #[error(transparent)]
    NoSuchShard(#[from] NoSuchShard),
    /// `Busy` when a night's lock was not had in time: nothing was done, and it may be tried again.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Reads a whole hotel, beside the traffic.
const SHOWN_WITHIN: Duration = Duration::from_secs(120);

/// What differs, or, when applied, what was done about what differed under the locks.
pub async fn run(shards: &Shards, hotel: &HotelCode, mode: Mode) -> Result<Plan, RepairError> {
    let mut connection = shards.directory().connection().await.map_err(Fault::from)?;
    let entry = directory::by_code(&mut connection, hotel).await.map_err(Fault::from)?;
    drop(connection);
    let entry = entry.ok_or(RepairError::HotelNotFound)?;
    let shard = shards.shard(entry.shard)?;
    let plan = match mode {
        Mode::Show => show(shard, entry.hotel).await,
        Mode::Apply(actor) => apply(shard, entry.hotel, actor).await,
    };
    Ok(plan.map_err(Fault::from)?)
}

async fn show(shard: &Database, hotel: HotelId) -> Result<Plan, DbError> {
    shard
        .snapshot("repair_show", SHOWN_WITHIN, move |connection| Box::pin(differences(connection, hotel)))
        .await
}

async fn differences(connection: &mut PgConnection, hotel: HotelId) -> Result<Plan, DbError> {
    let (nights, _) = drift::nights(connection, hotel, None).await?;
    let marked = drift::marked(connection, hotel).await?;
    let units = holds::units(connection, &marked).await?;
    Ok(Plan::new(nights, &marked, &units))
}

async fn apply(shard: &Database, hotel: HotelId, actor: Actor) -> Result<Plan, DbError> {
    let application = Arc::new(Application { hotel, actor, points: shard.points().clone() });
    shard
        .transaction(apply::NAME, move |connection| {
            let application = Arc::clone(&application);
            Box::pin(async move { application.run(connection).await })
        })
        .await
}
