//! Background work: `<worker>/run_once.rs`, one bounded run each. The loop around them, with its jitter,
//! back-off, metrics and drain, is `keyrack-runtime`'s. Several processes may run all of them at once.

mod batch_retention;
mod call_retention;
mod charges;
mod expiry;
mod horizon;
mod key_retention;
mod notices;
mod outbox_watch;
mod reconciliation;
mod refunds;
mod settlement;

use std::time::Duration;

use keyrack_booking::Desk;
use keyrack_runtime::worker::{Cadence, Jitter, Workers};

/// How long each worker waits after it found nothing to do.
#[derive(Clone, Copy, Debug)]
pub struct Intervals {
    pub expiry: Duration,
    pub reconciliation: Duration,
    pub settlement: Duration,
    pub horizon: Duration,
    pub key_retention: Duration,
    /// For how long records of calls are kept.
    pub keep_keys: Duration,
    /// For how long it is kept what the provider was asked.
    pub keep_provider_calls: Duration,
    /// For how long it is kept what the batches of hotels' systems came to.
    pub keep_pms_batches: Duration,
}

/// Starts every worker there is, with a jitter of its own.
pub fn start_all(workers: &mut Workers, desk: &Desk, intervals: Intervals, jitter: impl Fn() -> Jitter) {
    let every = Cadence::every;
    workers.start(expiry::Expiry::new(desk.clone()), every(intervals.expiry), jitter());
    workers.start(
        reconciliation::Reconciliation::new(desk.clone()),
        every(intervals.reconciliation),
        jitter(),
    );
    workers.start(refunds::Refunds::new(desk.clone()), every(intervals.reconciliation), jitter());
    workers.start(charges::Charges::new(desk.clone()), every(intervals.reconciliation), jitter());
    workers.start(notices::Notices::new(desk.clone()), every(intervals.reconciliation), jitter());
    workers.start(settlement::Comparison::new(desk.clone()), every(intervals.settlement), jitter());
    workers.start(horizon::RollingHorizon::new(desk.clone()), every(intervals.horizon), jitter());
    workers.start(
        key_retention::KeyRetention::new(desk.clone(), intervals.keep_keys),
        every(intervals.key_retention),
        jitter(),
    );
    workers.start(
        call_retention::CallRetention::new(desk.clone(), intervals.keep_provider_calls),
        every(intervals.key_retention),
        jitter(),
    );
    workers.start(
        batch_retention::BatchRetention::new(desk.clone(), intervals.keep_pms_batches),
        every(intervals.key_retention),
        jitter(),
    );
    workers.start(outbox_watch::OutboxWatch::new(desk.clone()), every(intervals.reconciliation), jitter());
}
