//! From parts to a server that listens.

use std::{
    fmt, io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use actix_web::{
    App, HttpServer,
    dev::{Server, ServerHandle},
    middleware::from_fn,
    web,
};
use keyrack_booking::Desk;
use keyrack_http::{BodyLimit, Contract, Gate, boundary, gate};
use keyrack_runtime::health::Health;
use keyrack_telemetry::Metrics;
use utoipa_actix_web::{AppExt, service_config::ServiceConfig};

use crate::{
    authenticator::DirectoryAuthenticator,
    document::{document, document_as_json},
    routes::{self, reference::Document},
    sandbox::SandboxClock,
};

/// Longer than load balancers keep an idle connection: closing first would lose a request that is just
/// being sent on it.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// What the API is made of.
pub struct Parts {
    pub desk: Desk,
    pub health: Arc<Health>,
    pub metrics: Metrics,
    /// Only in a sandbox.
    pub sandbox: Option<Arc<dyn SandboxClock>>,
    /// Another service's routes under a path of its own: in a sandbox, the payment simulator's.
    pub beside: Option<Beside>,
    /// Bytes of a request body.
    pub body_limit: usize,
    /// Threads that parse and answer; the ledger has its own.
    pub workers: usize,
    /// How long requests in flight may go on after a stop. In whole seconds.
    pub stop_within: Duration,
}

/// Routes that the API carries and does not know.
#[derive(Clone)]
pub struct Beside {
    /// Everything below it is theirs: `/simulator/`.
    pub path: &'static str,
    pub routes: Arc<dyn Fn(&mut web::ServiceConfig) + Send + Sync>,
}

/// What every worker thread shares.
#[derive(Clone)]
struct Shared {
    gate: web::Data<Gate>,
    desk: web::Data<Desk>,
    health: web::Data<Health>,
    metrics: web::Data<Metrics>,
    document: web::Data<Document>,
    body_limit: BodyLimit,
    sandbox: Option<web::Data<dyn SandboxClock>>,
}

/// Bound and ready to run.
pub struct Api {
    address: SocketAddr,
    server: Server,
}

impl Api {
    /// The listener may be on port 0; [`address`](Self::address) tells which it became.
    /// Called on an actix runtime.
    pub fn build(listener: TcpListener, parts: Parts) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (workers, stop_within) = (parts.workers, parts.stop_within);
        let beside = parts.beside.clone();
        let shared = Shared::new(parts);
        let server = HttpServer::new(move || {
            let (shared, beside) = (shared.clone(), beside.clone());
            App::new()
                .into_utoipa_app()
                .map(|app| app.wrap(from_fn(gate::gate)).wrap(from_fn(boundary::boundary)))
                .configure(move |routes| shared.configure(routes))
                .map(|app| app.configure(|routes| mount(beside.as_ref(), routes)))
                .map(|app| app.default_service(web::to(boundary::unmatched)))
                .into_app()
        });
        let server = server
            .workers(workers)
            .keep_alive(KEEP_ALIVE)
            .shutdown_timeout(stop_within.as_secs())
            .disable_signals()
            .listen(listener)?
            .run();
        Ok(Self::running(address, server))
    }

    pub(crate) const fn running(address: SocketAddr, server: Server) -> Self {
        Self { address, server }
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it from elsewhere.
    pub fn handle(&self) -> ServerHandle {
        self.server.handle()
    }

    pub async fn run_until_stopped(self) -> io::Result<()> {
        self.server.await
    }
}

fn mount(beside: Option<&Beside>, routes: &mut web::ServiceConfig) {
    if let Some(beside) = beside {
        (beside.routes)(routes);
    }
}

impl Shared {
    fn new(parts: Parts) -> Self {
        let authenticator = Arc::new(DirectoryAuthenticator(parts.desk.clone()));
        Self {
            gate: web::Data::new(
                Gate::new(Contract::new(&document()), authenticator)
                    .beside(parts.beside.as_ref().map(|beside| beside.path)),
            ),
            desk: web::Data::new(parts.desk),
            health: web::Data::from(parts.health),
            metrics: web::Data::new(parts.metrics),
            document: web::Data::new(Document(document_as_json().into())),
            body_limit: BodyLimit(parts.body_limit),
            sandbox: parts.sandbox.map(web::Data::from),
        }
    }

    fn configure(&self, routes: &mut ServiceConfig<'_>) {
        routes
            .app_data(self.gate.clone())
            .app_data(self.desk.clone())
            .app_data(self.health.clone())
            .app_data(self.metrics.clone())
            .app_data(self.document.clone())
            .app_data(self.body_limit);
        routes::configure(routes);
        if let Some(clock) = &self.sandbox {
            routes.app_data(clock.clone());
            routes::sandbox::configure(routes);
        }
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("address", &self.address).finish_non_exhaustive()
    }
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beside").field("path", &self.path).finish_non_exhaustive()
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("workers", &self.workers).finish_non_exhaustive()
    }
}
