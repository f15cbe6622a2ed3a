//! The end of a child process, which both blocking and async code can wait for.

use std::{
    process::Child,
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(super) struct Exit {
    /// How it ended, in words, once it has.
    ended: Mutex<Option<String>>,
    changed: Condvar,
    notify: Notify,
}

impl Exit {
    /// Waits for the child and tells everyone. The child's process id stays valid until here, since
    /// nobody else reaps it.
    pub(super) fn watch(&self, mut child: Child) {
        let how = child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        self.changed.notify_all();
        self.notify.notify_waiters();
    }

    /// Whether the child has ended, having waited for it at most this long.
    pub(super) fn wait(&self, bound: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed
            .wait_timeout_while(ended, bound, |ended| ended.is_none())
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .is_some()
    }

    pub(super) fn how(&self) -> String {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.clone().unwrap_or_else(|| "still running".into())
    }

    pub(super) async fn ended(&self) {
        loop {
            // Registered before the look, so that an end between the two is not missed.
            let notified = self.notify.notified();
            if self.wait(Duration::ZERO) {
                return;
            }
            notified.await;
        }
    }
}
