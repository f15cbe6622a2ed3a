//! The provider on a socket.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use actix_web::{App, HttpResponse, HttpServer, dev::ServerHandle, http::StatusCode, web};
use tokio::{runtime::Handle, task::JoinHandle};

use crate::{
    answer::error, connection, journal::JournalError, routes, settings::Settings, simulator::Simulator,
};

/// Longer than a client keeps an idle connection in its pool: closing first would lose calls that
/// the client is just sending on it.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("the payment simulator cannot serve on its socket")]
    Listen(#[source] io::Error),
}

/// A provider that answers. Dropped without [`stop`](Self::stop) it serves until its runtime ends.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    simulator: Simulator,
    server: ServerHandle,
    ended: JoinHandle<io::Result<()>>,
}

/// Serves on the listener. Reads the journal first, which blocks; the waiting work runs on `runtime`.
pub fn run(listener: TcpListener, settings: Settings, runtime: &Handle) -> Result<Running, StartError> {
    let address = listener.local_addr().map_err(StartError::Listen)?;
    let workers = settings.workers;
    let simulator = Simulator::open(settings, format!("http://{address}"), runtime.clone())?;
    let shared = simulator.clone();
    // The server wants a runtime around it while it is built.
    let _inside = runtime.enter();
    let server = HttpServer::new(move || {
        App::new()
            .configure(routes::provider_routes(shared.clone()))
            .configure(routes::control_routes(shared.clone()))
            .default_service(web::to(no_such_path))
    })
    .on_connect(connection::remember)
    .workers(workers)
    .keep_alive(KEEP_ALIVE)
    .shutdown_timeout(1)
    .disable_signals()
    .listen(listener)
    .map_err(StartError::Listen)?
    .run();
    let handle = server.handle();
    let ended = runtime.spawn(server);
    tracing::info!(%address, "payment simulator");
    Ok(Running { address, simulator, server: handle, ended })
}

async fn no_such_path() -> HttpResponse {
    error(StatusCode::NOT_FOUND, "no_such_path", None)
}

impl Running {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// For the adapter: `http://127.0.0.1:40123`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// Cuts the calls that wait, answers those that do not, and closes the journal.
    pub async fn stop(self) {
        self.simulator.hang_up();
        self.server.stop(true).await;
        match self.ended.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the payment simulator's server failed"),
            Err(error) => tracing::error!(%error, "the payment simulator's server panicked"),
        }
        self.simulator.close().await;
    }
}
