//! The workers of a process.

use keyrack_booking::Desk;
use keyrack_runtime::{
    Stop,
    settings::Settings,
    worker::{Jitter, WorkerWatch, Workers},
};
use keyrack_workers::Intervals;
use tokio::runtime::Handle;

pub(crate) fn start(settings: &Settings, desk: &Desk, runtime: &Handle, stop: &Stop) -> WorkerWatch {
    let waits = &settings.workers;
    let intervals = Intervals {
        expiry: waits.expiry_interval(),
        reconciliation: waits.reconciliation_interval(),
        settlement: waits.settlement_interval(),
        horizon: waits.horizon_interval(),
        key_retention: waits.key_retention_interval(),
        keep_keys: settings.operations.key_retention(),
        keep_provider_calls: settings.operations.provider_call_retention(),
        keep_pms_batches: settings.operations.pms_batch_retention(),
    };
    let mut workers = Workers::new(runtime.clone(), stop.clone());
    keyrack_workers::start_all(&mut workers, desk, intervals, Jitter::random);
    workers.watch()
}
