//! What a process serves over HTTP: started, and stopped before the work that its requests have left behind.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    num::NonZeroUsize,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use actix_web::dev::ServerHandle;
use keyrack_api::{Api, Beside, Parts, sandbox::SandboxClock};
use keyrack_booking::Desk;
use keyrack_db::{DbError, Shards};
use keyrack_runtime::{Drained, Stop, health::Health, settings::Settings};
use keyrack_telemetry::Metrics;
use tokio::{
    runtime::Handle,
    task::JoinHandle,
    time::{interval, timeout},
};

use crate::failure::Failure;

/// Of one health check. A prober waits a little longer, and hears which check it was.
const HEALTH_BOUND: Duration = Duration::from_secs(2);

/// A process that nobody scrapes would keep every sample.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);

/// The rest of a drain has at least this long, however long the requests took.
const LEAST_DRAIN: Duration = Duration::from_secs(1);

/// What only a sandbox serves: its clock, and the payment simulator's pages.
pub(crate) struct SandboxParts {
    pub(crate) clock: Arc<dyn SandboxClock>,
    pub(crate) beside: Beside,
}

/// A server that answers.
pub(crate) struct Serving {
    address: SocketAddr,
    server: ServerHandle,
    ended: JoinHandle<io::Result<()>>,
}

impl Serving {
    pub(crate) fn start(
        listener: TcpListener,
        settings: &Settings,
        desk: Desk,
        sandbox: Option<SandboxParts>,
        runtime: &Handle,
        stop: &Stop,
    ) -> Result<Self, Failure> {
        let metrics = Metrics::install()?;
        keep_up(&metrics, runtime, stop);
        let shards = desk.shards().clone();
        let parts = Parts {
            health: Arc::new(health(&shards, runtime, stop)),
            desk,
            metrics,
            beside: sandbox.as_ref().map(|parts| parts.beside.clone()),
            sandbox: sandbox.map(|parts| parts.clock),
            body_limit: settings.http.body_limit_bytes.get(),
            workers: thread::available_parallelism().map_or(2, NonZeroUsize::get),
            stop_within: settings.http.drain(),
        };
        Self::run(runtime, || Api::build(listener, parts))
    }

    /// Of a process without the API: its health and its metrics. Before its work starts, since what is
    /// counted without a recorder is lost.
    pub(crate) fn start_health(
        listener: TcpListener,
        shards: &Shards,
        runtime: &Handle,
        stop: &Stop,
    ) -> Result<Self, Failure> {
        let metrics = Metrics::install()?;
        keep_up(&metrics, runtime, stop);
        let health = Arc::new(health(shards, runtime, stop));
        Self::run(runtime, || Api::health_only(listener, health, metrics))
    }

    /// Its threads have runtimes of their own; this one only accepts and watches over them.
    fn run(runtime: &Handle, build: impl FnOnce() -> io::Result<Api>) -> Result<Self, Failure> {
        let _inside = runtime.enter();
        let api = build().map_err(Failure::Http)?;
        let (address, server) = (api.address(), api.handle());
        Ok(Self { address, server, ended: runtime.spawn(api.run_until_stopped()) })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns when the server ends without having been told to.
    pub(crate) async fn failed(&mut self) -> Failure {
        match (&mut self.ended).await {
            Ok(Ok(())) | Err(_) => Failure::HttpEnded,
            Ok(Err(error)) => Failure::Http(error),
        }
    }
}

/// The order of a stop: no new request, then the requests under way, then the work under way. All of it
/// within the bound, or until a second signal; what is cut off is safe, since transactions end or roll
/// back in the database and payments are found again by reconciliation.
pub(crate) async fn drain(serving: Option<Serving>, stop: &Stop, bound: Duration) {
    stop.request();
    let begun = Instant::now();
    if let Some(serving) = serving {
        tokio::select! {
            stopped = timeout(bound, serving.server.stop(true)) => {
                if stopped.is_err() {
                    tracing::warn!(?bound, "requests were cut off");
                }
            }
            () = stop.final_call() => tracing::warn!("requests were cut off by a second signal"),
        }
    }
    match stop.drain(bound.saturating_sub(begun.elapsed()).max(LEAST_DRAIN)).await {
        Drained::Complete => tracing::info!(took = ?begun.elapsed(), "everything under way has ended"),
        Drained::Cut(tasks) => tracing::warn!(tasks, "work was cut off; reconciliation takes it up again"),
    }
}

/// Unready while a database is away; dead only when our own runtime does nothing any more.
fn health(shards: &Shards, runtime: &Handle, stop: &Stop) -> Health {
    let (directory, all, runtime) = (shards.directory().clone(), shards.clone(), runtime.clone());
    Health::new(stop.clone(), HEALTH_BOUND)
        .alive_while("runtime", move || runtime.spawn(async {}))
        .ready_while("directory", move || {
            let directory = directory.clone();
            async move { directory.ping().await }
        })
        .ready_while("shards", move || {
            let all = all.clone();
            async move {
                for (_, shard) in all.all() {
                    shard.ping().await?;
                }
                Ok::<_, DbError>(())
            }
        })
}

fn keep_up(metrics: &Metrics, runtime: &Handle, stop: &Stop) {
    let (metrics, stop) = (metrics.clone(), stop.clone());
    runtime.spawn(async move {
        let mut tick = interval(METRICS_UPKEEP);
        loop {
            tokio::select! {
                _ = tick.tick() => metrics.upkeep(),
                () = stop.requested() => return,
            }
        }
    });
}
