//! The answers that a repeated call can get, whatever the call is.

use std::time::Duration;

/// An answer, and whether it is that of an earlier call with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered<T> {
    pub answer: T,
    pub replayed: bool,
}

impl<T> Answered<T> {
    pub const fn fresh(answer: T) -> Self {
        Self { answer, replayed: false }
    }

    pub const fn replay(answer: T) -> Self {
        Self { answer, replayed: true }
    }
}

/// Why a call with this key gets no answer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// 422 `IDEMPOTENCY_KEY_REUSED`: the key was used for another input.
    #[error("the key was used with other input")]
    Reused,
    /// 409 `OPERATION_IN_PROGRESS`: an earlier call with this key has not ended.
    #[error("an earlier call with this key is still running")]
    InProgress { retry_after: Duration },
    /// 409 `IDEMPOTENCY_KEY_EXPIRED`: the answer is too old to be repeated blindly.
    #[error("the key is too old for a blind repeat")]
    Expired,
}
