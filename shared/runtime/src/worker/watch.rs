//! Lets a test, or the sandbox's clock, wait for workers without sleeping.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

/// What a worker has come to. Runs are numbered from 1 and follow one another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    /// The newest run that has begun.
    pub(super) begun: u64,
    /// The newest run that has succeeded.
    pub(super) succeeded: u64,
    /// The newest run that succeeded and left nothing due.
    pub(super) drained: u64,
    /// Things done by all runs.
    pub(super) done: u64,
}

/// The worker has stopped, so that what was waited for will not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the worker {0} has stopped")]
pub struct Ended(pub &'static str);

#[derive(Debug, Clone)]
pub(super) struct Watched {
    pub(super) name: &'static str,
    pub(super) state: watch::Receiver<State>,
    pub(super) wake: Arc<Notify>,
}

impl Watched {
    async fn until(&self, reached: impl Fn(&State) -> bool) -> Result<State, Ended> {
        self.state.clone().wait_for(reached).await.map(|state| *state).map_err(|_| Ended(self.name))
    }

    fn now(&self) -> State {
        *self.state.borrow()
    }
}

/// All workers of a process. The waits have no bound of their own: a worker that keeps failing keeps
/// them waiting, and the caller knows how long it may take.
#[derive(Debug, Clone, Default)]
pub struct WorkerWatch {
    pub(super) workers: Vec<Watched>,
}

impl WorkerWatch {
    /// Makes every worker run now instead of after its interval.
    pub fn wake_all(&self) {
        for worker in &self.workers {
            worker.wake.notify_one();
        }
    }

    /// Makes one worker run now; other names are none of ours.
    pub fn wake(&self, name: &str) {
        for worker in self.workers.iter().filter(|worker| worker.name == name) {
            worker.wake.notify_one();
        }
    }

    /// Returns once every worker has finished, with success, a run that began after this call.
    pub async fn all_have_run(&self) -> Result<(), Ended> {
        self.after_a_new_run(|state, begun| state.succeeded > begun).await
    }

    /// Returns once no worker has anything due. One worker's work can make work for another, so it is
    /// asked again until a whole round did nothing.
    pub async fn nothing_is_due(&self) -> Result<(), Ended> {
        loop {
            let before = self.done();
            self.after_a_new_run(|state, begun| state.drained > begun).await?;
            if self.done() == before {
                return Ok(());
            }
        }
    }

    fn done(&self) -> u64 {
        self.workers.iter().map(|worker| worker.now().done).sum()
    }

    async fn after_a_new_run(&self, reached: impl Fn(&State, u64) -> bool) -> Result<(), Ended> {
        let begun: Vec<u64> = self.workers.iter().map(|worker| worker.now().begun).collect();
        self.wake_all();
        for (worker, begun) in self.workers.iter().zip(begun) {
            worker.until(|state| reached(state, begun)).await?;
        }
        Ok(())
    }
}
