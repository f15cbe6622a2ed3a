//! The sandbox's clock: of everything that decides, on every shard alike.

use std::time::Duration;

use chrono::TimeDelta;
use keyrack_db::{DbError, Shards};
use keyrack_domain::clock::Moment;
use keyrack_store::clock;

use crate::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    By(Duration),
    To(Moment),
}

#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The clock goes forward only: what was decided by it stands.
    #[error("the clock shows {now} already")]
    Backwards { now: Moment },
    #[error("the clock cannot go that far")]
    TooFar,
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// No booking needs more, and dates far out have no zones.
const LATEST_YEAR: i32 = 2999;

/// The new time.
pub async fn advance(shards: &Shards, by: Move) -> Result<Moment, MoveError> {
    let (now, ahead) = read(shards).await?;
    let wanted = match by {
        Move::By(time) => now.plus(time),
        Move::To(instant) if now.is_past(instant) => return Err(MoveError::Backwards { now }),
        Move::To(instant) => instant,
    };
    if chrono::Datelike::year(&wanted.0) > LATEST_YEAR {
        return Err(MoveError::TooFar);
    }
    let ahead = ahead.checked_add(&(wanted.0 - now.0)).ok_or(MoveError::TooFar)?;
    for (_, shard) in shards.all() {
        // A shard that somebody has moved further meanwhile stays there.
        let moving: Result<bool, DbError> = shard
            .transaction("move_clock", move |connection| {
                Box::pin(async move { clock::move_forward(connection, ahead).await })
            })
            .await;
        moving.map_err(Fault::from)?;
    }
    Ok(read(shards).await?.0)
}

/// Where a new sandbox's clock starts; before anything was decided by it.
pub async fn start(shards: &Shards, at: Moment) -> Result<(), Fault> {
    let mut ahead = None;
    for (_, shard) in shards.all() {
        let starting: Result<TimeDelta, DbError> = shard
            .transaction("start_clock", move |connection| {
                Box::pin(async move {
                    let same = match ahead {
                        Some(same) => same,
                        None => clock::ahead_for(connection, at).await?,
                    };
                    clock::start(connection, same).await?;
                    Ok(same)
                })
            })
            .await;
        ahead = Some(starting?);
    }
    Ok(())
}

/// What the first shard's clock shows, and how far it is ahead of the real one.
async fn read(shards: &Shards) -> Result<(Moment, TimeDelta), Fault> {
    let (_, shard) = shards.all().next().ok_or_else(|| Fault::internal("no shard is configured"))?;
    let mut connection = shard.connection().await?;
    Ok((clock::now(&mut connection).await?, clock::ahead(&mut connection).await?))
}
