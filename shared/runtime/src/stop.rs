//! Two-stage stop. First nothing new is taken on and what runs is finished, within a bound; then what
//! is still there is told to drop everything.

use std::{io, time::Duration};

use tokio::{
    runtime::Handle,
    signal::unix::{SignalKind, signal},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Cheap to clone; all copies are of one stop.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    requested: CancellationToken,
    final_call: CancellationToken,
    work: TaskTracker,
}

/// How the drain came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    Complete,
    /// The bound, or a second signal, came first; so many tasks were still at work.
    Cut(usize),
}

impl Stop {
    pub fn new() -> Self {
        Self::default()
    }

    /// SIGTERM and SIGINT ask for the stop; a second one ends the patience.
    pub fn listen_to_signals(&self, runtime: &Handle) -> io::Result<()> {
        let _entered = runtime.enter();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let stop = self.clone();
        runtime.spawn(async move {
            loop {
                let name = tokio::select! {
                    _ = terminate.recv() => "SIGTERM",
                    _ = interrupt.recv() => "SIGINT",
                };
                tracing::info!(signal = name, again = stop.is_requested(), "stop requested");
                stop.signalled();
            }
        });
        Ok(())
    }

    fn signalled(&self) {
        if self.is_requested() {
            self.final_call.cancel();
        }
        self.request();
    }

    /// First stage: take on nothing new.
    pub fn request(&self) {
        self.requested.cancel();
    }

    pub fn is_requested(&self) -> bool {
        self.requested.is_cancelled()
    }

    pub async fn requested(&self) {
        self.requested.cancelled().await;
    }

    /// For code that takes a token of the first stage.
    pub const fn token(&self) -> &CancellationToken {
        &self.requested
    }

    /// Second stage: whoever still runs drops everything. What is in the database is safe: transactions
    /// end or roll back there.
    pub async fn final_call(&self) {
        self.final_call.cancelled().await;
    }

    /// Work that the drain waits for.
    pub const fn work(&self) -> &TaskTracker {
        &self.work
    }

    /// Waits for the tracked work, at most this long, then makes the final call.
    pub async fn drain(&self, bound: Duration) -> Drained {
        self.request();
        self.work.close();
        let finished = async {
            tokio::select! {
                () = self.work.wait() => true,
                () = self.final_call() => false,
            }
        };
        let complete = timeout(bound, finished).await.unwrap_or(false);
        self.final_call.cancel();
        if complete { Drained::Complete } else { Drained::Cut(self.work.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_drain_waits_for_work_that_ends() {
        let stop = Stop::new();
        let at_work = stop.clone();
        stop.work().spawn(async move { at_work.requested().await });
        assert_eq!(stop.drain(Duration::from_mins(1)).await, Drained::Complete);
    }

    #[tokio::test]
    async fn the_drain_is_bounded_and_what_is_left_hears_the_final_call() {
        let stop = Stop::new();
        let at_work = stop.clone();
        let stubborn = stop.work().spawn(async move { at_work.final_call().await });
        assert_eq!(stop.drain(Duration::from_millis(1)).await, Drained::Cut(1));
        stubborn.await.unwrap();
    }

    #[tokio::test]
    async fn a_second_signal_ends_the_patience() {
        let stop = Stop::new();
        stop.work().spawn(std::future::pending::<()>());
        stop.signalled();
        assert!(stop.is_requested());
        stop.signalled();
        assert_eq!(stop.drain(Duration::from_mins(10)).await, Drained::Cut(1));
    }
}
