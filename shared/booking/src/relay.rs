//! The relay: what is committed in the outbox is published, then marked. A death between the two publishes it
//! again, so delivery is at least once and never exactly once. It asks for what is not published and remembers
//! no place: transactions commit out of the order of their `seq`.

use std::time::Duration;

use keyrack_db::{Database, DbError};
use keyrack_domain::ids::HotelId;
use keyrack_messaging::{Broker, Message, NotPublished};
use keyrack_store::{processed_events, relay};
use tokio::time::timeout;
use uuid::Uuid;

use crate::{Fault, entropy, event_message};

/// Events of one run: what one mark writes.
pub const MAX_EVENTS: u16 = 1_000;
/// Marks that one run of their retention removes.
pub const MAX_REMOVED: u16 = 500;
/// Longer than [`PUBLISH_WITHIN`]: while it lasts nobody else publishes for the same hotels.
const LEASE: Duration = Duration::from_secs(20);
const PUBLISH_WITHIN: Duration = Duration::from_secs(10);
/// After a failure the part waits, so that the others get their turn.
const PUT_OFF: Duration = Duration::from_secs(1);

/// What one run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Relayed {
    pub published: usize,
    /// Something waited: more may.
    pub found: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    #[error(transparent)]
    NotPublished(#[from] NotPublished),
    #[error("not published within {0:?}")]
    TooSlow(Duration),
    #[error(transparent)]
    Fault(#[from] Fault),
}

struct Leased {
    part: i16,
    lease: Uuid,
    messages: Vec<Message>,
}

/// One bounded run over one shard: the events of the hotels whose oldest has waited longest. Several at once, and
/// in several processes, divide the hotels among them.
pub async fn run_once(shard: &Database, broker: &dyn Broker) -> Result<Relayed, RelayError> {
    let Some(leased) = lease(shard).await? else { return Ok(Relayed::default()) };
    let published = match timeout(PUBLISH_WITHIN, broker.publish(&leased.messages)).await {
        Ok(published) => published.map_err(RelayError::from),
        Err(_late) => Err(RelayError::TooSlow(PUBLISH_WITHIN)),
    };
    match published {
        Ok(()) => {
            mark(shard, &leased).await?;
            Ok(Relayed { published: leased.messages.len(), found: true })
        }
        Err(error) => {
            put_off(shard, &leased).await?;
            Err(error)
        }
    }
}

async fn lease(shard: &Database) -> Result<Option<Leased>, Fault> {
    let lease = entropy::id();
    let leased: Result<_, DbError> = shard
        .transaction("lease_relay_part", move |connection| {
            Box::pin(async move {
                let Some(part) = relay::lease_part(connection, lease, LEASE).await? else { return Ok(None) };
                let events = relay::waiting(connection, part, i64::from(MAX_EVENTS)).await?;
                Ok(Some((part, events)))
            })
        })
        .await;
    let Some((part, events)) = leased? else { return Ok(None) };
    let messages = events.into_iter().map(event_message::message).collect::<Result<_, _>>()?;
    Ok(Some(Leased { part, lease, messages }))
}

async fn mark(shard: &Database, leased: &Leased) -> Result<(), Fault> {
    let (part, lease) = (leased.part, leased.lease);
    let events: Vec<(HotelId, i64)> = leased.messages.iter().map(|one| (one.hotel, one.seq)).collect();
    let (marked, ours): (u64, bool) = shard
        .transaction("mark_published", move |connection| {
            let events = events.clone();
            Box::pin(async move {
                let marked = relay::mark_published(connection, &events).await?;
                Ok::<_, DbError>((marked, relay::give_back(connection, part, lease, None).await?))
            })
        })
        .await?;
    if !ours || marked < leased.messages.len() as u64 {
        tracing::warn!(part, marked, "a lease lapsed while publishing: events went out twice");
    }
    Ok(())
}

/// Where the lease is lost meanwhile another has the part, which is as good.
async fn put_off(shard: &Database, leased: &Leased) -> Result<bool, Fault> {
    let (part, lease) = (leased.part, leased.lease);
    let put_off: Result<bool, DbError> = shard
        .transaction("put_off_relay_part", move |connection| {
            Box::pin(async move { relay::give_back(connection, part, lease, Some(PUT_OFF)).await })
        })
        .await;
    Ok(put_off?)
}

/// What was acted on before `keep` ago cannot come again, and is forgotten, a bounded number: how many.
pub async fn forget_processed(database: &Database, keep: Duration) -> Result<usize, Fault> {
    let removed: Result<u64, DbError> = database
        .transaction("forget_processed", move |connection| {
            Box::pin(
                async move { processed_events::remove_older(connection, keep, i64::from(MAX_REMOVED)).await },
            )
        })
        .await;
    usize::try_from(removed?).map_err(Fault::internal)
}
