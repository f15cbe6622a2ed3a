//! The product as an operator runs it: two processes of the API and one of workers on one database, with a provider
//! that tells by itself. Between every two of them stands a proxy that loses things, and each of them dies at times.

use std::{net::TcpListener, path::Path, time::Duration};

use chrono::TimeDelta;
use keyrack_booking::hotel_directory::HotelDirectory;
use keyrack_db::{Connection, Shards};
use keyrack_domain::{clock::Moment, ids::ShardId};
use keyrack_payment_simulator::{Charge, Faults, Kind, Running, Settings as Simulator, State, Webhook};
use keyrack_store::clock;
use keyrack_testkit::{ChaosProxy, Fault, TestDatabase};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::{runtime::Handle, sync::Mutex};

use crate::{
    process::{Process, run, stderr, stdout},
    random::Random,
};

const SECRET: &str = "whsec_of_the_simulation";
/// When the installation's clock starts.
const BEGINNING: &str = "2026-01-10T06:00:00Z";
/// As the client of the database sends it.
const COMMIT: &[u8] = b"COMMIT\0";
/// Transactions that a dead process has left to the database end within this.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Installation {
    database: TestDatabase,
    provider: Running,
    /// The first two are the API.
    parts: Vec<Part>,
    /// From the processes to the provider.
    to_provider: ChaosProxy,
    /// Moves the clock, and looks on.
    connection: Mutex<Connection>,
    tokens: Value,
}

/// A process, and what stands between it and others.
struct Part {
    command: &'static str,
    process: Mutex<Option<Process>>,
    /// From clients, and for the first from the provider's notices too.
    front: ChaosProxy,
    to_database: ChaosProxy,
}

impl Installation {
    pub(super) async fn new() -> Self {
        let database = TestDatabase::new().await;
        let mut connection = database.database().connection().await.expect("a connection");
        let beginning = Moment(BEGINNING.parse().expect("an instant"));
        let ahead = clock::ahead_for(&mut connection, beginning).await.expect("the clock");
        clock::start(&mut connection, ahead).await.expect("the clock");
        let tokens = set_up(&database.url()).await;
        // Nobody listens there before the processes run.
        let nowhere = ([127, 0, 0, 1], 9).into();
        let mut parts = Vec::new();
        for command in ["serve", "serve", "work"] {
            let front = ChaosProxy::before(nowhere).await;
            let to_database = ChaosProxy::before_database(&database.url()).await;
            parts.push(Part { command, process: Mutex::new(None), front, to_database });
        }
        let url = format!("http://{}/v1/webhooks/payments/simulator", parts[0].front.address());
        let webhook = Some(Webhook { url, secret: SECRET.into() });
        let settings = Simulator { webhook, ..Simulator::default() };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let provider = keyrack_payment_simulator::run(listener, settings, &Handle::current());
        let provider = provider.expect("a provider");
        let to_provider = ChaosProxy::before(provider.address()).await;
        let connection = Mutex::new(connection);
        let installation = Self { database, provider, parts, to_provider, connection, tokens };
        for part in 0..installation.parts.len() {
            installation.start(part).await;
        }
        installation
    }

    pub(super) fn token(&self, whose: &str) -> String {
        self.tokens[whose].as_str().expect("a token").to_owned()
    }

    pub(super) const fn database(&self) -> &TestDatabase {
        &self.database
    }

    pub(super) fn hotels(&self) -> HotelDirectory {
        let database = self.database.database();
        HotelDirectory::new(Shards::new(database.clone(), [(ShardId(1), database)].into()))
    }

    /// Where clients reach one of the two.
    pub(super) fn api(&self, which: usize) -> &ChaosProxy {
        &self.parts[which % 2].front
    }

    async fn start(&self, part: usize) {
        let part = &self.parts[part];
        let (database, provider) = (
            part.to_database.database_url(&self.database.url()),
            format!("http://{}", self.to_provider.address()),
        );
        let environment = [
            ("DATABASE_URL", database.expose_secret()),
            ("KEYRACK_PROVIDER__BASE_URL", provider.as_str()),
            ("KEYRACK_PROVIDER__DEADLINE_MS", "700"),
            ("KEYRACK_PROVIDER__WEBHOOK_SECRETS", SECRET),
            ("KEYRACK_WORKERS__EXPIRY_INTERVAL_MS", "20"),
            ("KEYRACK_WORKERS__RECONCILIATION_INTERVAL_MS", "40"),
            ("KEYRACK_WORKERS__SETTLEMENT_INTERVAL_S", "1"),
            ("KEYRACK_LOG__FILTER", "error"),
        ];
        let (process, line) = Process::start(&[part.command, "--port", "0"], &environment).await;
        let (_, address) = line.rsplit_once("http://").expect("an address");
        part.front.lead_to(address.parse().expect("an address"));
        *part.process.lock().await = Some(process);
    }

    /// One of the processes dies as in a power cut, and what it had begun ends in the database. Then it lives again.
    pub(super) async fn kill(&self, part: usize) {
        let process = self.parts[part].process.lock().await.take().expect("it lives");
        process.kill().await;
        self.let_transactions_end().await;
        self.start(part).await;
    }

    /// Those that run now. Nothing of a request whose connection is gone comes after that.
    async fn let_transactions_end(&self) {
        let begun = self.database.value("SELECT clock_timestamp()::text").await;
        let begun = begun.as_str().expect("an instant");
        let running = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start < '{begun}'"
        );
        let ended = async { while self.database.value(&running).await != 0 {} };
        tokio::time::timeout(PATIENCE, ended).await.expect("transactions end");
    }

    /// Something between two processes goes wrong soon, or does now.
    pub(super) fn disturb(&self, random: &mut Random) {
        let part = &self.parts[random.below(self.parts.len())];
        match random.below(7) {
            0 | 1 => drop(part.to_database.arm(Fault::LoseAnswer(COMMIT.to_vec()))),
            2 => drop(part.to_database.arm(Fault::LoseRequest(COMMIT.to_vec()))),
            3 => drop(part.to_database.arm(Fault::CutAnswerAfter(1 + random.below(20_000)))),
            4 => part.to_database.cut(),
            5 => self.to_provider.cut(),
            _ => drop(self.to_provider.arm(Fault::lose_answer("PUT /v1/"))),
        }
    }

    /// Percent of the calls to the provider that it does not hear, or that do not hear it.
    pub(super) fn lose_at_provider(&self, percent: u8) {
        let (lose_requests, lose_answers) = (percent, percent);
        self.provider.simulator().set_faults(Faults { lose_requests, lose_answers, repeat_notices: percent });
    }

    pub(super) fn lose_notices(&self, lose: bool) {
        self.provider.simulator().lose_notices(lose);
    }

    /// What the provider has of an attempt.
    pub(super) fn charges(&self, attempt: &str) -> Vec<Charge> {
        self.provider.simulator().charges(&format!("{attempt}-"), None, 100)
    }

    pub(super) fn has_captured(&self, attempt: &str) -> bool {
        let captured = |charge: &Charge| (charge.kind, charge.state) == (Kind::Capture, State::Captured);
        self.charges(attempt).iter().any(captured)
    }

    /// In minor units: taken, and given back.
    pub(super) fn book(&self, attempt: &str) -> (u64, u64) {
        let charges = self.charges(attempt);
        let sum = |kind, state| {
            let charges = charges.iter().filter(|charge| (charge.kind, charge.state) == (kind, state));
            charges.filter_map(|charge| charge.amount.as_ref()).map(|amount| amount.amount).sum()
        };
        (sum(Kind::Capture, State::Captured), sum(Kind::Refund, State::Refunded))
    }

    /// No refund is on its way any more, and no case is open.
    pub(super) async fn let_refunds_end(&self, jumps: usize) {
        let left = "SELECT (SELECT count(*) FROM refunds WHERE state = 'REQUESTED')
                         + (SELECT count(*) FROM payment_attempts WHERE state IN ('PENDING_PAYMENT', 'RECONCILING'))";
        for _ in 0..jumps {
            if self.database.value(left).await == 0 {
                return;
            }
            self.advance(Duration::from_secs(61)).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        panic!("money is on its way beyond its bound");
    }

    pub(super) async fn now(&self) -> Moment {
        clock::now(&mut *self.connection.lock().await).await.expect("the clock")
    }

    pub(super) async fn advance(&self, by: Duration) {
        let mut connection = self.connection.lock().await;
        let by = TimeDelta::from_std(by).expect("a while");
        let ahead = clock::ahead(&mut connection).await.expect("the clock") + by;
        assert!(clock::move_forward(&mut connection, ahead).await.expect("the clock"));
    }

    pub(super) async fn must_verify(&self) {
        let url = self.database.url();
        let verified = run(&["verify"], &[("DATABASE_URL", url.expose_secret())]).await;
        assert_eq!(verified.status.code(), Some(0), "{}{}", stdout(&verified), stderr(&verified));
    }

    /// Everything stops when it is told to, and nobody has left a transaction behind.
    pub(super) async fn stop(self) {
        for part in &self.parts {
            part.process.lock().await.take().expect("it lives").stop_cleanly().await;
        }
        self.provider.stop().await;
        assert_eq!(self.database.idle_in_transaction().await, 0, "a transaction that nobody drives");
    }
}

/// The demo hotels, and everybody's tokens.
async fn set_up(database: &SecretString) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("credentials.json");
    let environment = [("DATABASE_URL", database.expose_secret())];
    for command in [&["migrate"][..], &["seed", "--credentials", text(&file)]] {
        let done = run(command, &environment).await;
        assert!(done.status.success(), "{command:?}: {}", stderr(&done));
    }
    let credentials = std::fs::read_to_string(&file).expect("credentials");
    let credentials: Value = serde_json::from_str(&credentials).expect("JSON");
    credentials["tokens"].clone()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}
