//! `keyrack payment-simulator`: the provider of an installation that takes no real money.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
};

use keyrack_payment_simulator::{Settings, Webhook, run as run_simulator};
use keyrack_runtime::Stop;
use keyrack_telemetry::log::{self, LogFormat};
use tokio::runtime::Handle;

use crate::{failure::Failure, listening::listen, stdout::say};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// On loopback; 0 takes a free one.
    #[arg(long, default_value_t = 8081)]
    port: u16,
    /// Remembers charges over a restart.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Where it tells what happens: http://127.0.0.1:8080/v1/webhooks/payments/simulator
    #[arg(long, value_name = "URL", requires = "webhook_secret_file")]
    webhook_url: Option<String>,
    /// What its notices are signed with: the text of this file, without the white space around it.
    #[arg(long, value_name = "FILE", requires = "webhook_url")]
    webhook_secret_file: Option<PathBuf>,
}

impl Args {
    fn webhook(&self) -> Result<Option<Webhook>, Failure> {
        let (Some(url), Some(path)) = (&self.webhook_url, &self.webhook_secret_file) else { return Ok(None) };
        let text = fs::read_to_string(path).map_err(|source| Failure::File { path: path.clone(), source })?;
        Ok(Some(Webhook { url: url.clone(), secret: text.trim().into() }))
    }
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    log::set_up(LogFormat::Text, "info")?;
    let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, args.port)))?;
    let stop = Stop::new();
    stop.listen_to_signals(runtime).map_err(Failure::Signals)?;
    let webhook = args.webhook()?;
    let settings = Settings { journal: args.journal, webhook, ..Settings::default() };
    let running = run_simulator(listener, settings, runtime)?;
    say(&format!("keyrack payment-simulator is ready at {}", running.base_url()))?;
    stop.requested().await;
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}
