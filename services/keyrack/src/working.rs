//! The workers of a process.

use keyrack_booking::{Desk, consume};
use keyrack_messaging::{Handler, JetStream, JetStreamSettings};
use keyrack_runtime::{
    Stop,
    settings::{BrokerKind, Settings},
    worker::{Jitter, WorkerWatch, Workers},
};
use keyrack_workers::{Intervals, Messaging};
use tokio::runtime::Handle;

use crate::failure::Failure;

pub(crate) async fn start(
    settings: &Settings,
    desk: &Desk,
    runtime: &Handle,
    stop: &Stop,
) -> Result<WorkerWatch, Failure> {
    let waits = &settings.workers;
    let intervals = Intervals {
        expiry: waits.expiry_interval(),
        reconciliation: waits.reconciliation_interval(),
        settlement: waits.settlement_interval(),
        relay: waits.relay_interval(),
        keep_marks: settings.messaging.mark_retention(),
        horizon: waits.horizon_interval(),
        key_retention: waits.key_retention_interval(),
        keep_keys: settings.operations.key_retention(),
        keep_provider_calls: settings.operations.provider_call_retention(),
        keep_guest_sessions: settings.operations.guest_session_retention(),
        keep_pms_batches: settings.operations.pms_batch_retention(),
    };
    let mut workers = Workers::new(runtime.clone(), stop.clone());
    let messaging = messaging(settings, desk).await?;
    keyrack_workers::start_all(&mut workers, desk, messaging, intervals, Jitter::random);
    Ok(workers.watch())
}

async fn messaging(settings: &Settings, desk: &Desk) -> Result<Messaging, Failure> {
    let nats = &settings.messaging.nats;
    match settings.messaging.broker {
        BrokerKind::InProcess => Ok(Messaging::InProcess),
        BrokerKind::Nats => {
            let of_broker = JetStreamSettings {
                url: nats.url.clone(),
                stream: nats.stream.clone(),
                most_bytes: i64::try_from(nats.most_megabytes.get() << 20).unwrap_or(i64::MAX),
            };
            let consumers = consume::consumers(desk);
            let names: Vec<_> = consumers.iter().map(Handler::name).collect();
            let broker = JetStream::connect(&of_broker, &names).await?;
            Ok(Messaging::JetStream(Box::new(broker)))
        }
    }
}
