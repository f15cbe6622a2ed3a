//! `keyrack dev`: the sandbox. Started from the ground up (folder, database, schema, clock, provider,
//! hotels, workers, API) and stopped from the top down.

mod abort_at;
mod clock;
mod database;
mod folder;

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use keyrack_api::Beside;
use keyrack_db::Shards;
use keyrack_payment_simulator::{
    Settings as SimulatorSettings, Simulator, Webhook, control_routes, run as run_simulator,
};
use keyrack_runtime::{
    Stop,
    settings::{ProviderKind, Settings},
};
use secrecy::SecretString;
use tokio::runtime::Handle;

pub(crate) use self::folder::postgres_under;
use self::{clock::Clock, database::OwnPostgres, folder::Folder};
use crate::{
    configuration::ConfigurationFile,
    credentials::{self, Place},
    failure::Failure,
    installation,
    listening::{base_url, listen},
    serving::{SandboxParts, Serving, drain},
    stdout::say,
    working,
};

/// Where the notices of the provider `simulator` are taken.
const NOTICES: &str = "/v1/webhooks/payments/simulator";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    configuration: ConfigurationFile,
    /// Wins over `http.port` of the settings; 0 takes a free one.
    #[arg(long)]
    port: Option<u16>,
    /// Everything that the sandbox remembers. Made when missing.
    #[arg(long, value_name = "DIR", default_value = ".keyrack")]
    data_dir: PathBuf,
    /// Where the clock of a new sandbox starts, an instant such as 2026-01-10T06:00:00Z, or `real`. One
    /// that exists keeps its clock.
    #[arg(long, value_name = "INSTANT", default_value_t = clock::Start::default())]
    clock: clock::Start,
}

pub(crate) async fn run(args: Args, runtime: &Handle) -> Result<ExitCode, Failure> {
    let mut settings = args.configuration.load_for_sandbox(&[abort_at::VARIABLE])?;
    settings.http.port = args.port.unwrap_or(settings.http.port);
    let points = abort_at::points()?;
    let listener = listen(settings.listen())?;
    let stop = Stop::new();
    stop.listen_to_signals(runtime).map_err(Failure::Signals)?;
    let folder = Folder::take(&args.data_dir)?;
    let (postgres, settings) = database::start(&folder, settings).await?;
    let shards = installation::shards(&settings, &points, runtime)?;
    let sandbox =
        Sandbox { folder: &folder, settings, shards: shards.clone(), runtime, stop, postgres: &postgres };
    let outcome = sandbox.play(listener, args.clock).await;
    installation::close(&shards).await;
    postgres.stop().await?;
    outcome.map(|()| ExitCode::SUCCESS)
}

struct Sandbox<'a> {
    folder: &'a Folder,
    settings: Settings,
    shards: Shards,
    runtime: &'a Handle,
    stop: Stop,
    postgres: &'a OwnPostgres,
}

impl Sandbox<'_> {
    async fn play(mut self, listener: TcpListener, start: clock::Start) -> Result<(), Failure> {
        installation::reach(&self.settings, &self.shards).await?;
        installation::migrate(&self.settings, &self.shards).await?;
        clock::start_if_new(&self.shards, start).await?;
        let socket = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        // The receiver of the notices checks them with the same secret.
        let secret = self.folder.webhook_secret()?;
        let address = listener.local_addr().map_err(Failure::Http)?;
        let simulator = run_simulator(socket, self.simulator(address, secret.clone()), self.runtime)?;
        // A sandbox takes no real money, whatever the settings say.
        self.settings.payments.provider = ProviderKind::Simulator;
        self.settings.provider.base_url = simulator.base_url();
        self.settings.provider.webhook_secrets.push(secret);
        let outcome = self.open(listener, simulator.simulator().clone()).await;
        // Last of what calls the database or is called: payments in flight have had their answers.
        simulator.stop().await;
        outcome
    }

    /// It tells what happens to the API, which is another party for it.
    fn simulator(&self, api: SocketAddr, secret: SecretString) -> SimulatorSettings {
        let url = format!("{}{NOTICES}", base_url(api));
        SimulatorSettings {
            journal: Some(self.folder.simulator_journal()),
            webhook: self.settings.provider.sandbox_notices.then_some(Webhook { url, secret }),
            ..SimulatorSettings::default()
        }
    }

    async fn open(&self, listener: TcpListener, simulator: Simulator) -> Result<(), Failure> {
        let Self { settings, runtime, stop, .. } = self;
        let provider = installation::provider(settings, &self.shards)?;
        let desk = installation::desk(settings, self.shards.clone(), provider, runtime, stop)?;
        let address = listener.local_addr().map_err(Failure::Http)?;
        let place = Place {
            file: self.folder.credentials(),
            base_url: base_url(address),
            simulator_url: Some(settings.provider.base_url.clone()),
        };
        credentials::set_up(desk.hotels(), installation::horizon(settings), &place).await?;
        let watch = working::start(settings, &desk, runtime, stop).await?;
        let parts = SandboxParts {
            clock: Arc::new(Clock::new(self.shards.clone(), watch)),
            beside: Beside {
                path: "/simulator/",
                routes: Arc::new(move |routes| control_routes(simulator.clone())(routes)),
            },
        };
        let serving = Serving::start(listener, settings, desk, Some(parts), runtime, stop);
        let (serving, outcome) = match serving {
            Ok(mut serving) => {
                let outcome = self.until_stopped(&mut serving, &place).await;
                (Some(serving), outcome)
            }
            Err(failure) => (None, Err(failure)),
        };
        drain(serving, stop, settings.http.drain()).await;
        outcome
    }

    async fn until_stopped(&self, serving: &mut Serving, place: &Place) -> Result<(), Failure> {
        // A stop that came while it started: nobody shall be told that it is ready.
        if !self.stop.is_requested() {
            say(&format!("keyrack dev is ready at {}", place.base_url))?;
            tracing::info!(credentials = %place.file.display(), "tokens");
        }
        tokio::select! {
            () = self.stop.requested() => Ok(()),
            failure = serving.failed() => Err(failure),
            failure = self.postgres.failed() => Err(failure),
        }
    }
}
