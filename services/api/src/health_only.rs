//! The server of a process that has no API: `/healthz`, `/readyz` and `/metrics`, and nothing that
//! would need a caller.

use std::{io, net::TcpListener, sync::Arc};

use actix_web::{App, HttpServer, middleware::from_fn, web};
use keyrack_http::boundary;
use keyrack_runtime::health::Health;
use keyrack_telemetry::Metrics;
use utoipa_actix_web::AppExt;

use crate::{routes, server::Api};

/// A prober and a scraper; they wait for nobody long.
const STOP_WITHIN_S: u64 = 1;

impl Api {
    /// Called on an actix runtime.
    pub fn health_only(listener: TcpListener, health: Arc<Health>, metrics: Metrics) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (health, metrics) = (web::Data::from(health), web::Data::new(metrics));
        let server = HttpServer::new(move || {
            let (health, metrics) = (health.clone(), metrics.clone());
            App::new()
                .into_utoipa_app()
                .map(|app| app.app_data(health).app_data(metrics).wrap(from_fn(boundary::boundary)))
                .configure(routes::health::configure)
                .map(|app| app.default_service(web::to(boundary::unmatched)))
                .into_app()
        });
        let server = server.workers(1).shutdown_timeout(STOP_WITHIN_S).disable_signals();
        Ok(Self::running(address, server.listen(listener)?.run()))
    }
}
