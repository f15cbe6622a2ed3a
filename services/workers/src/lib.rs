//! Background work: `<worker>/run_once.rs`, one bounded run each. The loop around them, with its jitter,
//! back-off, metrics and drain, is `keyrack-runtime`'s. Several processes may run all of them at once.

mod batch_retention;
mod call_retention;
mod charges;
mod delivery;
mod expiry;
mod horizon;
mod key_retention;
mod mark_retention;
mod notices;
mod outbox_watch;
mod reconciliation;
mod refunds;
mod relay;
mod session_retention;
mod settlement;

use std::{sync::Arc, time::Duration};

use keyrack_booking::{Desk, consume};
use keyrack_messaging::{Broker, Handler, InProcess, JetStream};
use keyrack_runtime::worker::{Cadence, Jitter, Workers};

/// How long each worker waits after it found nothing to do.
#[derive(Clone, Copy, Debug)]
pub struct Intervals {
    pub expiry: Duration,
    pub reconciliation: Duration,
    pub settlement: Duration,
    pub horizon: Duration,
    pub relay: Duration,
    pub key_retention: Duration,
    /// For how long records of calls are kept.
    pub keep_keys: Duration,
    /// For how long it is kept what the provider was asked.
    pub keep_provider_calls: Duration,
    /// For how long it is kept that an event was acted on.
    pub keep_marks: Duration,
    /// For how long guest sessions are kept after their end.
    pub keep_guest_sessions: Duration,
    /// For how long it is kept what the batches of hotels' systems came to.
    pub keep_pms_batches: Duration,
}

/// How events come from the relay to those who act on them.
#[derive(Clone, Debug)]
pub enum Messaging {
    /// At once, within this process.
    InProcess,
    /// By way of a server, which keeps them.
    JetStream(Box<JetStream>),
}

/// Starts every worker there is, with a jitter of its own.
pub fn start_all(
    workers: &mut Workers,
    desk: &Desk,
    messaging: Messaging,
    intervals: Intervals,
    jitter: impl Fn() -> Jitter,
) {
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
        mark_retention::MarkRetention::new(desk.clone(), intervals.keep_marks),
        every(intervals.key_retention),
        jitter(),
    );
    workers.start(
        session_retention::SessionRetention::new(desk.clone(), intervals.keep_guest_sessions),
        every(intervals.key_retention),
        jitter(),
    );
    workers.start(
        batch_retention::BatchRetention::new(desk.clone(), intervals.keep_pms_batches),
        every(intervals.key_retention),
        jitter(),
    );
    let broker = broker(workers, desk, messaging, every(intervals.relay), &jitter);
    workers.start(relay::Relay::new(desk.clone(), broker), every(intervals.relay), jitter());
    workers.start(outbox_watch::OutboxWatch::new(desk.clone()), every(intervals.reconciliation), jitter());
}

/// What the relay publishes to. Where that only keeps the messages, whoever acts on them is a worker of its own.
fn broker(
    workers: &mut Workers,
    desk: &Desk,
    messaging: Messaging,
    cadence: Cadence,
    jitter: &impl Fn() -> Jitter,
) -> Arc<dyn Broker> {
    let consumers = consume::consumers(desk);
    match messaging {
        Messaging::InProcess => {
            let handlers = consumers.into_iter().map(|one| Arc::new(one) as Arc<dyn Handler>);
            Arc::new(InProcess::new(handlers.collect()))
        }
        Messaging::JetStream(broker) => {
            for consumer in consumers {
                let delivery = delivery::Delivery::new(broker.as_ref().clone(), consumer);
                workers.start(delivery, cadence, jitter());
            }
            Arc::new(*broker)
        }
    }
}
