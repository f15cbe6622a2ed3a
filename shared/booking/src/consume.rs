//! Acting on events: what every handler shares, so that a handler itself is its effect alone. An event has its
//! effect once: its id is written in the transaction of the effect. One on which nobody can act is put aside, and
//! holds up those of its own key alone.

mod letters;

use std::{collections::BTreeMap, error::Error, fmt, sync::Arc};

use async_trait::async_trait;
use futures::future::BoxFuture;
use keyrack_db::{Database, DbError, PgConnection, RetriedAs};
use keyrack_domain::ids::ShardId;
use keyrack_messaging::{Handler, Message, NotNow};
use keyrack_store::{dead_letters, processed_events};

pub use letters::{Letter, LetterError, Resolution, discard, list, replay, waiting};

use crate::{Desk, event_message};

/// New tries of an event that fails by itself, before it is put aside.
const TRIES: usize = 3;

/// Why an event has had no effect.
#[derive(Debug, thiserror::Error)]
pub enum NoEffect {
    /// It can never have one, as it is: it cannot be read, or says what cannot be.
    #[error("{0}")]
    Never(String),
    #[error(transparent)]
    Database(#[from] DbError),
}

impl RetriedAs for NoEffect {
    fn database_error(&self) -> Option<&DbError> {
        match self {
            Self::Never(_) => None,
            Self::Database(error) => Some(error),
        }
    }
}

/// Where an effect is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the database of the event's hotel.
    Shard,
    /// In the directory's: of all hotels.
    Directory,
}

/// What a handler does.
#[async_trait]
pub trait Effect: fmt::Debug + Send + Sync + 'static {
    /// Stable: by it is kept what was acted on.
    fn name(&self) -> &'static str;

    fn place(&self) -> Place {
        Place::Shard
    }

    /// Whether it acts on events of this type.
    fn concerns(&self, kind: &str) -> bool;

    /// What has to stay in order: where an event is put aside, later ones of the same key wait behind it.
    fn key(&self, _message: &Message) -> Option<String> {
        None
    }

    async fn apply(&self, connection: &mut PgConnection, messages: &[Message]) -> Result<(), NoEffect>;
}

/// Everybody who acts on events: the one list. A name in it is never given to another.
pub fn consumers(_desk: &Desk) -> Vec<Consumer> {
    Vec::new()
}

/// An effect as a handler of messages.
#[derive(Clone, Debug)]
pub struct Consumer {
    desk: Desk,
    effect: Arc<dyn Effect>,
}

impl Consumer {
    pub fn new(desk: Desk, effect: impl Effect) -> Self {
        Self { desk, effect: Arc::new(effect) }
    }

    async fn database(
        &self,
        message: &Message,
    ) -> Result<(Option<ShardId>, Database), Box<dyn Error + Send + Sync>> {
        match self.effect.place() {
            Place::Directory => Ok((None, self.desk.shards().directory().clone())),
            Place::Shard => {
                let hotel = self.desk.hotel_of(message.hotel).await?.ok_or("an event of an unknown hotel")?;
                Ok((Some(hotel.shard), self.desk.ledger(&hotel)?.database().clone()))
            }
        }
    }

    /// All of one database in one transaction; after a failure one by one, so that none harms another.
    async fn act(&self, database: &Database, messages: Vec<Message>) -> Result<(), NoEffect> {
        match self.together(database, &messages).await {
            Ok(()) => return Ok(()),
            Err(NoEffect::Database(error @ (DbError::Unavailable(_) | DbError::CommitUnknown(_)))) => {
                return Err(error.into());
            }
            Err(error) => {
                tracing::info!(handler = self.effect.name(), %error, events = messages.len(), "one by one");
            }
        }
        for message in messages {
            self.alone(database, message).await?;
        }
        Ok(())
    }

    async fn alone(&self, database: &Database, message: Message) -> Result<(), NoEffect> {
        let one = [message];
        let mut failure = None;
        for _ in 0..TRIES {
            match self.together(database, &one).await {
                Ok(()) => return Ok(()),
                Err(NoEffect::Database(error)) if error.is_for_now() => return Err(error.into()),
                Err(error) => failure = Some(error),
            }
        }
        let [message] = one;
        let why = failure.map_or_else(String::new, |error| error.to_string());
        tracing::error!(
            handler = self.effect.name(),
            hotel = %message.hotel,
            event = %message.event_id,
            error = why,
            "an event is put aside: a dead letter"
        );
        self.put_aside(database, message, why).await
    }

    async fn put_aside(&self, database: &Database, message: Message, why: String) -> Result<(), NoEffect> {
        let effect = Arc::clone(&self.effect);
        database
            .transaction("put_event_aside", move |connection| {
                let (effect, message, why) = (Arc::clone(&effect), message.clone(), why.clone());
                Box::pin(async move {
                    let id = (message.hotel, message.event_id);
                    let fresh = processed_events::claim(connection, effect.name(), &[id]).await?;
                    if fresh.contains(&message.event_id) {
                        letter(connection, effect.as_ref(), &message, &why).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    async fn together(&self, database: &Database, messages: &[Message]) -> Result<(), NoEffect> {
        let (effect, messages) = (Arc::clone(&self.effect), messages.to_vec());
        database
            .transaction("consume_events", move |connection| {
                let (effect, messages) = (Arc::clone(&effect), messages.clone());
                Box::pin(async move { apply(connection, effect.as_ref(), messages).await })
            })
            .await
    }
}

/// The part of a transaction that all effects share.
fn apply<'c>(
    connection: &'c mut PgConnection,
    effect: &'c dyn Effect,
    mut messages: Vec<Message>,
) -> BoxFuture<'c, Result<(), NoEffect>> {
    Box::pin(async move {
        let ids: Vec<_> = messages.iter().map(|one| (one.hotel, one.event_id)).collect();
        let mut fresh = processed_events::claim(connection, effect.name(), &ids).await?;
        // A copy in the same batch is a copy too.
        messages.retain(|one| fresh.remove(&one.event_id));
        let keys: Vec<_> =
            messages.iter().filter_map(|one| effect.key(one).map(|key| (one.hotel, key))).collect();
        if !keys.is_empty() {
            let blocked = dead_letters::blocked(connection, effect.name(), &keys).await?;
            let waits =
                |one: &Message| effect.key(one).is_some_and(|key| blocked.contains(&(one.hotel, key)));
            let (behind, free): (Vec<_>, Vec<_>) = messages.into_iter().partition(waits);
            for message in &behind {
                letter(connection, effect, message, "waits behind an earlier event").await?;
            }
            messages = free;
        }
        if messages.is_empty() { Ok(()) } else { effect.apply(connection, &messages).await }
    })
}

async fn letter(
    connection: &mut PgConnection,
    effect: &dyn Effect,
    message: &Message,
    error: &str,
) -> Result<(), DbError> {
    let key = effect.key(message);
    let new = dead_letters::NewLetter {
        handler: effect.name(),
        event: &event_message::row(message),
        key: key.as_deref(),
        error,
    };
    dead_letters::insert(connection, &new).await
}

#[async_trait]
impl Handler for Consumer {
    fn name(&self) -> &'static str {
        self.effect.name()
    }

    async fn handle(&self, messages: &[Message]) -> Result<(), NotNow> {
        let not_now = |source| NotNow { handler: self.effect.name(), source };
        let mut by_database: BTreeMap<Option<ShardId>, (Database, Vec<Message>)> = BTreeMap::new();
        for message in messages.iter().filter(|one| self.effect.concerns(&one.kind)) {
            let (place, database) = self.database(message).await.map_err(not_now)?;
            by_database.entry(place).or_insert_with(|| (database, Vec::new())).1.push(message.clone());
        }
        for (database, messages) in by_database.into_values() {
            self.act(&database, messages).await.map_err(|error| not_now(error.into()))?;
        }
        Ok(())
    }
}
