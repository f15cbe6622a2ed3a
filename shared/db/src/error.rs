//! What went wrong, told by what may be done about it.

use sqlx::Error as Sqlx;

#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// `lock_timeout` ran out. Nothing was done; the same call may be made again.
    #[error("a lock was not had in time")]
    LockTimeout(#[source] Sqlx),
    /// An advisory lock was tried for long enough. Nothing was done; the same call may be made again.
    #[error("an advisory lock was not had in time")]
    TryLockTimeout,
    /// `statement_timeout` ran out. Nothing was done.
    #[error("a statement ran past its time")]
    StatementTimeout(#[source] Sqlx),
    /// 40001 or 40P01, still so after the bounded retries. A deadlock is a defect and counted as one.
    #[error("gave up after serialization failures or deadlocks")]
    Contended(#[source] Sqlx),
    /// No connection, a lost one, or a server that is starting or stopping. Nothing was committed.
    #[error("the database cannot be reached")]
    Unavailable(#[source] Sqlx),
    /// The connection was lost while committing: the transaction may or may not have happened.
    #[error("the outcome of the commit is unknown")]
    CommitUnknown(#[source] Sqlx),
    /// A named constraint refused the write.
    #[error("constraint {name} refused the write")]
    Constraint { name: String, source: Sqlx },
    /// A write touched another number of rows than it must. The transaction was rolled back.
    #[error("{statement} touched {got} rows in place of {expected}")]
    RowCount { statement: &'static str, expected: u64, got: u64 },
    /// A row that cannot be: an unknown state, an amount with too many decimals.
    #[error("a stored {what} cannot be read: {detail}")]
    Unreadable { what: &'static str, detail: String },
    /// The transaction's code panicked; it was rolled back.
    #[error("the transaction's code panicked")]
    Panicked,
    #[error("the database refused a statement")]
    Other(#[source] Sqlx),
}

impl DbError {
    pub fn unreadable(what: &'static str, detail: &impl ToString) -> Self {
        Self::Unreadable { what, detail: detail.to_string() }
    }

    /// The name of the constraint that refused, if one did.
    pub fn constraint(&self) -> Option<&str> {
        match self {
            Self::Constraint { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The same work may succeed at another time, as it is.
    pub const fn is_for_now(&self) -> bool {
        matches!(
            self,
            Self::LockTimeout(_)
                | Self::TryLockTimeout
                | Self::StatementTimeout(_)
                | Self::Contended(_)
                | Self::Unavailable(_)
                | Self::CommitUnknown(_)
        )
    }

    /// Label of the metric; a closed list.
    pub(crate) const fn outcome(&self) -> &'static str {
        match self {
            Self::LockTimeout(_) => "lock_timeout",
            Self::TryLockTimeout => "try_lock_timeout",
            Self::StatementTimeout(_) => "statement_timeout",
            Self::Contended(_) => "contended",
            Self::Unavailable(_) => "unavailable",
            Self::CommitUnknown(_) => "commit_unknown",
            Self::Constraint { .. } => "constraint",
            Self::RowCount { .. } => "row_count",
            Self::Unreadable { .. } => "unreadable",
            Self::Panicked => "panicked",
            Self::Other(_) => "error",
        }
    }
}

impl From<Sqlx> for DbError {
    fn from(error: Sqlx) -> Self {
        match &error {
            Sqlx::Database(refused) => {
                let code = refused.code().unwrap_or_default();
                match code.as_ref() {
                    "55P03" => Self::LockTimeout(error),
                    "57014" => Self::StatementTimeout(error),
                    "40001" | "40P01" => Self::Contended(error),
                    // Refuses writes (a standby, or told to; no space left); too many connections; shutting down,
                    // crashed, starting up; idle in transaction too long.
                    "25006" | "53100" | "53300" | "57P01" | "57P02" | "57P03" | "25P03" => {
                        Self::Unavailable(error)
                    }
                    _ => match refused.constraint().map(str::to_owned) {
                        Some(name) => Self::Constraint { name, source: error },
                        None => Self::Other(error),
                    },
                }
            }
            Sqlx::Io(_)
            | Sqlx::Tls(_)
            | Sqlx::PoolTimedOut
            | Sqlx::PoolClosed
            | Sqlx::WorkerCrashed
            | Sqlx::Protocol(_)
            | Sqlx::BeginFailed => Self::Unavailable(error),
            _ => Self::Other(error),
        }
    }
}

/// SQLSTATE of an error that a whole new try may cure.
pub(crate) fn is_deadlock(error: &DbError) -> bool {
    matches!(error, DbError::Contended(Sqlx::Database(refused)) if refused.code().as_deref() == Some("40P01"))
}
