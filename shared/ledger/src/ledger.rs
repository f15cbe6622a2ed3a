//! Running operations: a batch in rounds, its members singly after a surprise.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use keyrack_db::{Database, DbError};
use keyrack_telemetry::names;
use rand::RngExt;

use crate::{
    Operation, Outcome,
    batch::{After, Round, Seat, name_of},
};

/// A batch holds at most so many members.
const MAX_MEMBERS: usize = 128;

/// Rounds of one batch. Each answers a member, or waits for a key until the deadline.
const MAX_ROUNDS: usize = 1_000;

/// New tries of a lone operation after a surprise that a new try may cure.
const SINGLE_TRIES: usize = 4;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long a call waits for another one with its key.
    pub key_wait: Duration,
    /// How long a recorded answer may be repeated blindly.
    pub replay_window: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { key_wait: Duration::from_secs(2), replay_window: Duration::from_secs(24 * 3600) }
    }
}

/// An operation that got no answer. Nothing of it was committed, unless the error says that this is unknown.
#[derive(Debug, thiserror::Error)]
#[error("{operation} got no answer")]
pub struct LedgerError {
    pub operation: &'static str,
    pub source: DbError,
}

/// Of one shard. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Ledger {
    database: Database,
    settings: Settings,
}

type Answers<A> = Vec<Result<Outcome<A>, LedgerError>>;

impl Ledger {
    pub const fn new(database: Database, settings: Settings) -> Self {
        Self { database, settings }
    }

    pub const fn database(&self) -> &Database {
        &self.database
    }

    /// One request is the batch of one.
    pub async fn run<O: Operation>(&self, operation: O) -> Result<Outcome<O::Answer>, LedgerError> {
        let name = operation.name();
        match self.run_batch(vec![operation]).await.pop() {
            Some(answer) => answer,
            // One answer per member comes back; none would be a member forgotten.
            None => Err(LedgerError { operation: name, source: DbError::Panicked }),
        }
    }

    /// Runs the operations as if one by one, in their order, and answers each in its place.
    ///
    /// Runs on the database's own runtime: a caller that goes away ends the wait and never the work.
    pub async fn run_batch<O: Operation>(&self, members: Vec<O>) -> Answers<O::Answer> {
        let names: Vec<&'static str> = members.iter().map(Operation::name).collect();
        let ledger = self.clone();
        let work = self.database.runtime().spawn(async move { ledger.drive(members).await });
        match work.await {
            Ok(answers) => answers,
            Err(_panicked_or_stopped) => names
                .into_iter()
                .map(|operation| Err(LedgerError { operation, source: DbError::Panicked }))
                .collect(),
        }
    }

    async fn drive<O: Operation>(&self, members: Vec<O>) -> Answers<O::Answer> {
        let mut answers: Vec<Option<Result<Outcome<O::Answer>, LedgerError>>> =
            members.iter().map(|_| None).collect();
        let members: Vec<(usize, O)> = members.into_iter().enumerate().collect();
        let goes_on =
            |(_, before): &(usize, O), (_, next): &(usize, O)| !before.runs_alone() && !next.runs_alone();
        for batch in members.chunk_by(goes_on).flat_map(|run| run.chunks(MAX_MEMBERS)) {
            for (place, answer) in self.rounds(batch.to_vec()).await {
                answers[place] = Some(answer);
            }
        }
        let lost = |operation| Err(LedgerError { operation, source: DbError::Panicked });
        answers.into_iter().zip(&members).map(|(a, (_, m))| a.unwrap_or_else(|| lost(m.name()))).collect()
    }

    /// Rounds until every member has its answer. Who found a lock taken waits here, outside any transaction,
    /// for a bounded time.
    async fn rounds<O: Operation>(
        &self,
        members: Vec<(usize, O)>,
    ) -> Vec<(usize, Result<Outcome<O::Answer>, LedgerError>)> {
        let mut answers = Vec::with_capacity(members.len());
        let mut waiting: Vec<((usize, O), After)> =
            members.into_iter().map(|member| (member, After::Nothing)).collect();
        let deadline = Instant::now() + self.settings.key_wait;
        for _ in 0..MAX_ROUNDS {
            let entered = std::mem::take(&mut waiting).into_iter().map(|(member, _)| member).collect();
            let mut stuck = true;
            for ((place, member), seat) in self.round_or_singly(entered).await {
                stuck &= matches!(
                    seat,
                    Ok(Seat::Again(After::Key | After::Identifier | After::Cap | After::Turn))
                );
                match seat {
                    Ok(Seat::Done(outcome)) => answers.push((place, Ok(outcome))),
                    Ok(Seat::Again(after)) => waiting.push(((place, member), after)),
                    Err(source) => {
                        answers.push((place, Err(LedgerError { operation: member.name(), source })));
                    }
                }
            }
            if waiting.is_empty() || (stuck && Instant::now() >= deadline) {
                break;
            }
            if stuck {
                tokio::time::sleep(pause()).await;
            }
        }
        answers.extend(waiting.into_iter().map(|((place, member), after)| (place, gave_up(&member, after))));
        answers
    }

    /// One round of a batch. A surprise aborts it, and its members run singly: one bad member never harms
    /// another, and no bad member is in two batches.
    async fn round_or_singly<O: Operation>(
        &self,
        members: Vec<(usize, O)>,
    ) -> Vec<((usize, O), Result<Seat<O::Answer>, DbError>)> {
        let operations: Vec<O> = members.iter().map(|(_, member)| member.clone()).collect();
        metrics::histogram!(names::LEDGER_BATCH_MEMBERS).record(count(operations.len()));
        if operations.len() > 1 {
            match self.round(operations).await {
                Ok(seats) => return members.into_iter().zip(seats.into_iter().map(Ok)).collect(),
                Err(surprise) => {
                    tracing::info!(error = %surprise, members = members.len(), "batch fell back to its members");
                    metrics::counter!(names::LEDGER_FALLBACKS).increment(1);
                }
            }
        }
        let mut seats = Vec::with_capacity(members.len());
        for (place, member) in members {
            let seat = self.single(&member).await;
            seats.push(((place, member), seat));
        }
        seats
    }

    /// The batch of one. After an unknown commit it runs again: a key that carries this very try, or the
    /// state of the rows, tells whether it had happened.
    async fn single<O: Operation>(&self, member: &O) -> Result<Seat<O::Answer>, DbError> {
        let mut tries = 1;
        loop {
            match self.round(vec![member.clone()]).await {
                Ok(mut seats) => return Ok(seats.pop().unwrap_or(Seat::Again(After::Nothing))),
                Err(surprise) if tries < SINGLE_TRIES && may_be_cured(&surprise) => {
                    tracing::warn!(error = %surprise, operation = member.name(), tries, "trying once more");
                    tokio::time::sleep(pause()).await;
                    tries += 1;
                }
                Err(surprise) => {
                    if matches!(surprise, DbError::LockTimeout(_)) {
                        metrics::counter!(names::LEDGER_LOCK_TIMEOUTS).increment(1);
                    }
                    return Err(surprise);
                }
            }
        }
    }

    async fn round<O: Operation>(&self, members: Vec<O>) -> Result<Vec<Seat<O::Answer>>, DbError> {
        let name = name_of(&members);
        let settings = self.settings;
        let points = self.database.points().clone();
        let started = Instant::now();
        let seats = self
            .database
            .transaction(name, {
                let members = Arc::new(members);
                move |connection| {
                    let (members, points) = (Arc::clone(&members), points.clone());
                    Box::pin(async move { Round::run(connection, &members, settings, &points).await })
                }
            })
            .await;
        metrics::histogram!(names::LEDGER_BATCH_SECONDS).record(started.elapsed());
        let outcome = if seats.is_ok() { "committed" } else { "rolled_back" };
        metrics::counter!(names::LEDGER_BATCHES, "outcome" => outcome).increment(1);
        seats
    }
}

/// The wait was long enough. Only who waits for its own key may be told that a first call is running.
fn gave_up<O: Operation>(member: &O, after: After) -> Result<Outcome<O::Answer>, LedgerError> {
    match after {
        After::Key => Ok(Outcome::KeyInProgress),
        After::Identifier | After::Cap | After::Turn | After::Nothing => {
            Err(LedgerError { operation: member.name(), source: DbError::TryLockTimeout })
        }
    }
}

/// Between two tries for a key: long enough to let its owner commit, jittered so that copies do not march in step.
fn pause() -> Duration {
    Duration::from_millis(rand::rng().random_range(3..15))
}

/// Errors after which the same operation, run alone once more, may well succeed or learn that it had.
const fn may_be_cured(error: &DbError) -> bool {
    matches!(error, DbError::CommitUnknown(_) | DbError::RowCount { .. } | DbError::Constraint { .. })
}

/// For a histogram; batches are far below the precision of the type it wants.
fn count(members: usize) -> f64 {
    f64::from(u32::try_from(members).unwrap_or(u32::MAX))
}
