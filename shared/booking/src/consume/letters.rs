//! Dead letters, for operators: which there are, and what becomes of one.

use std::sync::Arc;

use keyrack_db::{Database, DbError, RetriedAs};
use keyrack_domain::{
    hotel::HotelRef,
    ids::{LetterId, PrincipalId},
    principal::Caller,
};
use keyrack_store::dead_letters::{self, LetterRow};

pub use keyrack_store::dead_letters::Resolution;

use super::{Consumer, NoEffect};
use crate::{
    Desk, Fault, event_message,
    ops::{OpsError, Page, must_operate, one_more},
};

/// Counted no further: more are one and the same alarm.
const MOST_COUNTED: i64 = 10_000;
/// Of one line that are acted on in one call.
const MOST_REPLAYED: usize = 100;

/// A letter that waits.
#[derive(Clone, Debug)]
pub struct Letter {
    pub row: LetterRow,
    pub hotel: Arc<HotelRef>,
}

#[derive(Debug, thiserror::Error)]
pub enum LetterError {
    /// Also for everybody but operators.
    #[error("no such letter")]
    NotFound,
    /// It waits still.
    #[error("{first} cannot be acted on: {why}")]
    FailsAgain { first: LetterId, why: String },
    #[error("it was resolved already: {}", .0.as_str())]
    Resolved(Resolution),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<DbError> for LetterError {
    fn from(error: DbError) -> Self {
        Self::Fault(error.into())
    }
}

impl RetriedAs for LetterError {
    fn database_error(&self) -> Option<&DbError> {
        match self {
            Self::Fault(fault) => fault.database_error(),
            Self::NotFound | Self::FailsAgain { .. } | Self::Resolved(_) => None,
        }
    }
}

/// Those that wait, of all hotels, in the order of their arrival.
pub async fn list(
    desk: &Desk,
    caller: &Caller,
    after: Option<LetterId>,
    limit: u16,
) -> Result<Page<Letter, LetterId>, OpsError> {
    must_operate(caller)?;
    let mut rows = Vec::new();
    for database in desk.databases() {
        let mut connection = database.connection().await?;
        rows.extend(dead_letters::page(&mut connection, after.map(LetterId::uuid), one_more(limit)).await?);
    }
    rows.sort_by_key(|row| row.id.uuid());
    // Where the directory's database is a shard's.
    rows.dedup_by_key(|row| row.id);
    let page = Page::first(rows, limit, |row| row.id);
    let mut items = Vec::with_capacity(page.items.len());
    for row in page.items {
        let hotel = crate::ops::hotel_of(desk, row.id.hotel()).await?;
        items.push(Letter { row, hotel });
    }
    Ok(Page { items, next: page.next })
}

/// Acts on it again, and before it on those of its line that came earlier, after it on those that wait behind it.
/// Ends where one fails. One that was acted on already is no failure.
pub async fn replay(
    desk: &Desk,
    caller: &Caller,
    consumers: &[Consumer],
    id: LetterId,
) -> Result<(), LetterError> {
    let (database, row) = find(desk, caller, id).await?;
    match row.resolution {
        None => {}
        Some(Resolution::Replayed) => return Ok(()),
        Some(other) => return Err(LetterError::Resolved(other)),
    }
    let consumer = consumers.iter().find(|one| one.effect.name() == row.handler);
    let consumer = consumer.ok_or(LetterError::NotFound)?;
    for _ in 0..MOST_REPLAYED {
        let Some(first) = first_of_line(&database, &row).await? else { break };
        again(&database, consumer, first, caller.principal).await?;
        if row.key.is_none() {
            break;
        }
    }
    Ok(())
}

/// Gives it up: it has no effect, and what waits behind it goes on when it is replayed.
pub async fn discard(desk: &Desk, caller: &Caller, id: LetterId) -> Result<(), LetterError> {
    let (database, _) = find(desk, caller, id).await?;
    let by = caller.principal;
    database
        .transaction("discard_letter", move |connection| {
            Box::pin(async move {
                let row = dead_letters::lock(connection, id).await?.ok_or(LetterError::NotFound)?;
                match row.resolution {
                    None => Ok(dead_letters::resolve(connection, id, Resolution::Discarded, by).await?),
                    Some(Resolution::Discarded) => Ok(()),
                    Some(other) => Err(LetterError::Resolved(other)),
                }
            })
        })
        .await
}

async fn find(desk: &Desk, caller: &Caller, id: LetterId) -> Result<(Database, LetterRow), LetterError> {
    must_operate(caller).map_err(|_| LetterError::NotFound)?;
    for database in desk.databases() {
        let mut connection = database.connection().await?;
        if let Some(row) = dead_letters::read(&mut connection, id).await? {
            return Ok((database.clone(), row));
        }
    }
    Err(LetterError::NotFound)
}

/// Of a letter without a line, itself.
async fn first_of_line(database: &Database, of: &LetterRow) -> Result<Option<LetterId>, LetterError> {
    let Some(key) = &of.key else { return Ok(Some(of.id)) };
    let mut connection = database.connection().await?;
    Ok(dead_letters::first_of_key(&mut connection, of.id.hotel(), &of.handler, key).await?)
}

async fn again(
    database: &Database,
    consumer: &Consumer,
    id: LetterId,
    by: PrincipalId,
) -> Result<(), LetterError> {
    let effect = Arc::clone(&consumer.effect);
    database
        .transaction("replay_letter", move |connection| {
            let effect = Arc::clone(&effect);
            Box::pin(async move {
                let row = dead_letters::lock(connection, id).await?;
                // Resolved by somebody else meanwhile.
                let Some(row) = row.filter(|row| row.resolution.is_none()) else { return Ok(()) };
                let message = event_message::message(row.event)?;
                effect.apply(connection, &[message]).await.map_err(|error| match error {
                    NoEffect::Database(error) if error.is_for_now() => error.into(),
                    fails => LetterError::FailsAgain { first: id, why: fails.to_string() },
                })?;
                Ok(dead_letters::resolve(connection, id, Resolution::Replayed, by).await?)
            })
        })
        .await
}

/// How many wait, up to a bound.
pub async fn waiting(desk: &Desk) -> Result<i64, Fault> {
    let mut most = 0;
    for database in desk.databases() {
        let mut connection = database.connection().await?;
        most = dead_letters::waiting(&mut connection, MOST_COUNTED).await?.max(most);
    }
    Ok(most)
}
