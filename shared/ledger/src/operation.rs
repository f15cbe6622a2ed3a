//! What the ledger asks of an operation.

use std::{fmt, time::Duration};

use keyrack_db::DbError;
use keyrack_domain::{
    clock::Moment,
    operation_key::{CONTRACT_VERSION, Fingerprint},
};
use keyrack_store::{attempts::AttemptRow, keys::KeyRecord, nights::NightKey};
use uuid::Uuid;

use crate::{Changes, Facts, KeyClaim, Needs};

/// A change of counters, or of the rows that stand for them, in five parts: the key it claims, the rows
/// it locks, what it reads, a pure decision, and the answer it records.
pub trait Operation: Clone + fmt::Debug + Send + Sync + 'static {
    type Answer: Clone + fmt::Debug + Send + Sync + 'static;

    /// Of its transaction, in metrics, logs and at test points.
    fn name(&self) -> &'static str;

    fn key(&self) -> Option<&KeyClaim>;

    /// An operation that yields is passed over when somebody else has its hold: the expiry's.
    fn yields(&self) -> bool {
        false
    }

    /// Too large to share a transaction: a season's edit.
    fn runs_alone(&self) -> bool {
        false
    }

    /// Asked again as more becomes known, until it wants nothing new: a quote tells the nights.
    fn needs(&self, facts: &Facts) -> Needs;

    /// The answer to a caller who may not see what the operation is about: authorization comes before
    /// the look-up of the key, which would tell of earlier calls. Rests on what never changes.
    fn unseen(&self, facts: &Facts) -> Option<Self::Answer> {
        let _ = facts;
        None
    }

    /// Pure. Sees what earlier members of the batch have changed.
    fn decide(&self, facts: &Facts) -> Decision<Self::Answer>;

    /// The answer recorded by an earlier call with the same key and input.
    fn replay(&self, found: &Found) -> Result<Self::Answer, DbError>;
}

#[derive(Clone, Debug)]
pub enum Decision<A> {
    Commit(Changes, A),
    /// Leaves nothing behind.
    Refuse {
        answer: A,
        grounds: Grounds,
    },
}

/// What a refusal rests on, and so whether a plain read is enough for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Grounds {
    /// One row that says it all.
    Row,
    /// Want of units on these nights; not told where another member of the batch gives back to them.
    Units(Vec<NightKey>),
    /// Rows that must agree with each other, such as a hold with its nights. Read one after the other
    /// without a lock they may belong to two instants: told only under their locks.
    Locks,
}

impl<A> Decision<A> {
    pub const fn refuse(answer: A) -> Self {
        Self::Refuse { answer, grounds: Grounds::Row }
    }

    pub fn map<B>(self, to: impl FnOnce(A) -> B) -> Decision<B> {
        match self {
            Self::Commit(changes, answer) => Decision::Commit(changes, to(answer)),
            Self::Refuse { answer, grounds } => Decision::Refuse { answer: to(answer), grounds },
        }
    }
}

/// What stands under a key.
#[derive(Clone, Debug)]
pub enum Found {
    Record(KeyRecord),
    Attempt(Box<AttemptRow>),
}

impl Found {
    pub(crate) const fn try_id(&self) -> Uuid {
        match self {
            Self::Record(record) => record.try_id,
            Self::Attempt(row) => row.try_id,
        }
    }

    pub(crate) fn is_of(&self, fingerprint: Fingerprint) -> bool {
        match self {
            Self::Record(record) => {
                record.fingerprint == fingerprint && record.contract_version == CONTRACT_VERSION
            }
            Self::Attempt(row) => row.fingerprint == fingerprint,
        }
    }

    /// Attempts answer for ever; other records may be repeated blindly for `window`.
    pub(crate) fn is_older_than(&self, window: Duration, now: Moment) -> bool {
        match self {
            Self::Record(record) => now.is_past(record.created_at.plus(window)),
            Self::Attempt(_) => false,
        }
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<A> {
    /// Decided now, or by this very call whose commit had been in doubt.
    Answered(A),
    /// Decided by an earlier call with the same key.
    Replayed(A),
    /// The key was used for another input.
    KeyReused,
    /// The record is too old to be repeated blindly.
    KeyExpired,
    /// Another call with this key is running and did not end in time.
    KeyInProgress,
    /// Somebody else has its hold; only for operations that yield.
    PassedOver,
}
