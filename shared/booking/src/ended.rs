//! How a transaction ends without an answer.

use keyrack_db::{DbError, RetriedAs};

use crate::Fault;

/// Keeps the database's own error in sight of the runner, which repeats after a serialization failure.
#[derive(Debug)]
pub(crate) enum Ended<E> {
    /// The use case says no; everything is rolled back.
    Refused(E),
    Database(DbError),
}

impl<E: From<Fault>> Ended<E> {
    pub(crate) fn into_error(self) -> E {
        match self {
            Self::Refused(error) => error,
            Self::Database(error) => Fault::from(error).into(),
        }
    }
}

impl<E> From<DbError> for Ended<E> {
    fn from(error: DbError) -> Self {
        Self::Database(error)
    }
}

impl<E> RetriedAs for Ended<E> {
    fn database_error(&self) -> Option<&DbError> {
        match self {
            Self::Refused(_) => None,
            Self::Database(error) => Some(error),
        }
    }
}
