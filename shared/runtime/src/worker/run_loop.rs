//! The loop: run, wait, run again; at once while more is due, later and later after failures.

use std::{
    error::Error,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use futures::FutureExt;
use keyrack_telemetry::names;
use tokio::{
    runtime::Handle,
    sync::{Notify, watch},
    time::timeout,
};
use tracing::Instrument;

use super::{
    Cadence, Jitter, Progress, Worker, WorkerWatch,
    watch::{State, Watched},
};
use crate::Stop;

/// The workers of a process. They end with its [`Stop`]: the run at hand is finished, no other begins.
#[derive(Debug)]
pub struct Workers {
    runtime: Handle,
    stop: Stop,
    watch: WorkerWatch,
}

impl Workers {
    pub fn new(runtime: Handle, stop: Stop) -> Self {
        Self { runtime, stop, watch: WorkerWatch::default() }
    }

    pub fn start(&mut self, worker: impl Worker, cadence: Cadence, jitter: Jitter) {
        let (state, seen) = watch::channel(State::default());
        let wake = Arc::new(Notify::new());
        self.watch.workers.push(Watched { name: worker.name(), state: seen, wake: Arc::clone(&wake) });
        let running = Loop { worker, cadence, jitter, wake, state, failures: 0, in_a_row: 0 };
        let stop = self.stop.clone();
        self.stop.work().spawn_on(async move { running.until(&stop).await }, &self.runtime);
    }

    /// Of the workers started so far.
    pub fn watch(&self) -> WorkerWatch {
        self.watch.clone()
    }
}

struct Loop<W> {
    worker: W,
    cadence: Cadence,
    jitter: Jitter,
    wake: Arc<Notify>,
    state: watch::Sender<State>,
    /// Without a success between them.
    failures: u32,
    /// Runs without a wait between them.
    in_a_row: u32,
}

impl<W: Worker> Loop<W> {
    async fn until(mut self, stop: &Stop) {
        while !stop.is_requested() {
            let wait = tokio::select! {
                wait = self.run() => wait,
                () = stop.final_call() => return,
            };
            if let Some(wait) = wait {
                let wait = self.jitter.spread(wait);
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = self.wake.notified() => {}
                    () = stop.requested() => {}
                }
            }
        }
    }

    /// How long to wait afterwards; none when the next run is due at once.
    async fn run(&mut self) -> Option<Duration> {
        let name = self.worker.name();
        self.state.send_modify(|state| state.begun += 1);
        let started = Instant::now();
        let run =
            self.worker.run_once().instrument(tracing::info_span!(names::span::WORKER_RUN, worker = name));
        // A panic ends the run and not the worker: nobody would notice that it is gone.
        let run = timeout(self.cadence.longest_run, AssertUnwindSafe(run).catch_unwind());
        let outcome: Result<Progress, Box<dyn Error + Send + Sync>> = match run.await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_panic)) => Err("panicked".into()),
            Err(late) => Err(late.into()),
        };
        metrics::histogram!(names::WORKER_RUN_SECONDS, "worker" => name).record(started.elapsed());
        let label = if outcome.is_ok() { "ok" } else { "failed" };
        metrics::counter!(names::WORKER_RUNS, "worker" => name, "outcome" => label).increment(1);
        match outcome {
            Ok(progress) => self.succeeded(name, progress),
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                self.in_a_row = 0;
                let wait = self.cadence.wait_after(self.failures);
                tracing::error!(
                    worker = name,
                    failures = self.failures,
                    error = &*error,
                    ?wait,
                    "run failed"
                );
                Some(wait)
            }
        }
    }

    fn succeeded(&mut self, name: &'static str, progress: Progress) -> Option<Duration> {
        self.failures = 0;
        self.in_a_row += 1;
        metrics::gauge!(names::WORKER_LAST_SUCCESS, "worker" => name).set(unix_seconds());
        self.state.send_modify(|state| {
            state.succeeded = state.begun;
            state.done += progress.done as u64;
            if !progress.more_is_due {
                state.drained = state.begun;
            }
        });
        if progress.more_is_due && self.in_a_row < self.cadence.runs_in_a_row {
            return None;
        }
        self.in_a_row = 0;
        Some(self.cadence.interval)
    }
}

#[expect(clippy::disallowed_methods, reason = "shown on a dashboard; it decides nothing")]
fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
