//! What can go wrong in every use case, beside its own answers.

use std::time::Duration;

use keyrack_db::{DbError, RetriedAs};

/// Nothing was done, and the same call may be made again after a while.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A lock was not had in time: 503 `HOT_NIGHT_BUSY`.
    #[error("the night is busy")]
    Busy {
        retry_after: Duration,
        /// In sight of the runner: it repeats what has met a serialization failure.
        #[source]
        source: DbError,
    },
    /// The database cannot be reached, or is too slow to answer.
    #[error("the database cannot be reached")]
    Unavailable(#[source] DbError),
    /// A defect, or a database that holds what it cannot. Logged at the boundary, told as 500.
    #[error("an internal fault")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Fault {
    pub fn internal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(error.into())
    }
}

impl From<DbError> for Fault {
    fn from(error: DbError) -> Self {
        match error {
            DbError::LockTimeout(_) | DbError::TryLockTimeout | DbError::Contended(_) => {
                Self::Busy { retry_after: Duration::from_secs(1), source: error }
            }
            DbError::StatementTimeout(_) | DbError::Unavailable(_) | DbError::CommitUnknown(_) => {
                Self::Unavailable(error)
            }
            other => Self::Internal(Box::new(other)),
        }
    }
}

impl RetriedAs for Fault {
    fn database_error(&self) -> Option<&DbError> {
        match self {
            Self::Unavailable(error) | Self::Busy { source: error, .. } => Some(error),
            Self::Internal(error) => error.downcast_ref(),
        }
    }
}
