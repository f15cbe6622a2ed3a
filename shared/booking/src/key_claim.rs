//! Repeatable calls outside the ledger: the key is claimed in the transaction of its effect.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use keyrack_db::{Database, DbError, PgConnection};
use keyrack_domain::{
    ids::HotelId,
    operation_key::{Endpoint, Fingerprint, OperationKey},
    principal::Caller,
};
use keyrack_store::{
    audit::{self, NewAudit},
    clock, key_claim,
    keys::{self, KeyScope},
    outbox::{self, NewEvent},
};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{Answered, Fault, KeyRefusal, ended::Ended, entropy, hotel_directory::HotelDirectory, key};

/// A copy that is still running was waited for already.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// One try of a call with a key.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) scope: KeyScope,
    fingerprint: Fingerprint,
    /// Tells, after a commit of unknown outcome, whether the record that is found is our own.
    try_id: Uuid,
    replay_window: Duration,
}

impl Call {
    /// `input` is the validated, normalized input: everything in it that changes behaviour, nothing else.
    pub(crate) fn new(
        hotels: &HotelDirectory,
        hotel: HotelId,
        caller: &Caller,
        endpoint: Endpoint,
        key: OperationKey,
        input: &impl Serialize,
    ) -> Result<Self, Fault> {
        let fingerprint = key::fingerprint(endpoint, input)?;
        let scope = KeyScope { hotel, principal: caller.principal, endpoint, key };
        Ok(Self { scope, fingerprint, try_id: entropy::id(), replay_window: hotels.replay_window() })
    }
}

/// What a call has done: its answer, and what is written of it beside its rows.
#[derive(Debug)]
pub(crate) struct Done<T> {
    pub(crate) answer: T,
    pub(crate) audit: Vec<NewAudit>,
    pub(crate) events: Vec<NewEvent>,
}

/// Runs `work` in a transaction, once per key, and records its answer. `work` decides about everything that can
/// change with time, since the answer of a repeat must not depend on it.
pub(crate) async fn once<T, E, W>(
    database: &Database,
    name: &'static str,
    call: Call,
    work: W,
) -> Result<Answered<T>, E>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    E: From<KeyRefusal> + From<Fault> + Send + 'static,
    W: for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<Done<T>, Ended<E>>> + Send + Sync + 'static,
{
    let (call, work) = (Arc::new(call), Arc::new(work));
    let attempt = || {
        let (call, work) = (Arc::clone(&call), Arc::clone(&work));
        database.transaction(name, move |connection: &mut PgConnection| {
            let (call, work) = (Arc::clone(&call), Arc::clone(&work));
            Box::pin(async move {
                if let Some(earlier) = claim(connection, &call).await? {
                    return Ok(earlier);
                }
                let done = work(connection).await?;
                finish(connection, &call, done).await
            })
        })
    };
    let outcome = match attempt().await {
        // Committed or not: the record under the key tells, and says whether it is this try's.
        Err(Ended::Database(DbError::CommitUnknown(_))) => attempt().await,
        known => known,
    };
    outcome.map_err(Ended::into_error)
}

/// `None`: the key is ours. Else what its earlier call was answered.
pub(crate) async fn claim<T, E>(
    connection: &mut PgConnection,
    call: &Call,
) -> Result<Option<Answered<T>>, Ended<E>>
where
    T: DeserializeOwned,
    E: From<KeyRefusal>,
{
    match key_claim::claim(connection, &call.scope, call.fingerprint, call.try_id).await {
        Ok(true) => return Ok(None),
        Ok(false) => {}
        // Only a copy of this call can stand in the way of this row.
        Err(DbError::LockTimeout(_)) => return Err(in_progress()),
        Err(error) => return Err(error.into()),
    }
    match recall(connection, call).await? {
        Some(earlier) => Ok(Some(earlier)),
        // Removed between the two statements: whoever asks again finds the key free.
        None => Err(in_progress()),
    }
}

/// What an earlier call with the key was answered, if there was one.
pub(crate) async fn recall<T, E>(
    connection: &mut PgConnection,
    call: &Call,
) -> Result<Option<Answered<T>>, Ended<E>>
where
    T: DeserializeOwned,
    E: From<KeyRefusal>,
{
    let scopes = std::slice::from_ref(&call.scope);
    let Some(record) = keys::look_up(connection, scopes).await?.into_iter().flatten().next() else {
        return Ok(None);
    };
    if record.fingerprint != call.fingerprint {
        return Err(Ended::Refused(KeyRefusal::Reused.into()));
    }
    let now = clock::now(connection).await?;
    if now.is_past(record.created_at.plus(call.replay_window)) {
        return Err(Ended::Refused(KeyRefusal::Expired.into()));
    }
    let answer =
        serde_json::from_value(record.answer).map_err(|e| DbError::unreadable("recorded answer", &e))?;
    Ok(Some(Answered { answer, replayed: record.try_id != call.try_id }))
}

pub(crate) fn in_progress<E: From<KeyRefusal>>() -> Ended<E> {
    Ended::Refused(KeyRefusal::InProgress { retry_after: TRY_AGAIN_AFTER }.into())
}

/// Writes what is written last: audit, the answer, and the outbox after everything else.
pub(crate) async fn finish<T: Serialize, E>(
    connection: &mut PgConnection,
    call: &Call,
    done: Done<T>,
) -> Result<Answered<T>, Ended<E>> {
    audit::append(connection, &done.audit).await?;
    let answer = serde_json::to_value(&done.answer).map_err(|e| DbError::unreadable("answer", &e))?;
    key_claim::answer(connection, &call.scope, &answer).await?;
    outbox::append(connection, &done.events).await?;
    Ok(Answered::fresh(done.answer))
}
