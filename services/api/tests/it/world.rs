//! An API with everything behind it: the demo hotels, a clock that can be moved, the payment simulator.

use std::{
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::NaiveDate;
use keyrack_api::{
    Api, Parts,
    sandbox::{SandboxClock, WaitFor},
};
use keyrack_booking::{
    Desk, Settings,
    credentials::{self, CredentialInput},
    demo, expire, guest_sessions,
    quote::{self, QuoteInput},
    reconcile, refund,
    sandbox_clock::{self, Move, MoveError},
};
use keyrack_db::{Points, Shards};
use keyrack_domain::{
    clock::Moment,
    horizon::Horizon,
    ids::{PrincipalId, ShardId},
    occupancy::RoomRequest,
    principal::{Caller, Role},
};
use keyrack_payment_simulator::{Running, Settings as SimulatorSettings};
use keyrack_payments::{SignatureCheck, SimulatorNotices, SimulatorProvider};
use keyrack_runtime::{Stop, health::Health};
use keyrack_telemetry::Metrics;
use keyrack_testkit::{Gates, TestDatabase};
use reqwest::{Method, RequestBuilder};
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::answer::Answer;
pub(crate) use crate::inputs::{booking, channel_booking, new_hotel, pms_batch, stay};

/// Long enough for the worked example, short enough to be seeded for every test.
const HORIZON: Horizon = Horizon::days(330);

/// With which the provider signs what it tells.
pub(crate) const SECRET: &str = "whsec_of_tests";

/// An address at which nobody listens.
const NOBODY: &str = "http://127.0.0.1:1";

const START: &str = "2026-01-10T06:00:00Z";

/// The stay of the worked example.
pub(crate) const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) desk: Desk,
    pub(crate) simulator: Running,
    pub(crate) waits: Waits,
    pub(crate) operator: String,
    operator_caller: Caller,
    client: reqwest::Client,
    // Last: the database goes when everything else has gone.
    pub(crate) database: TestDatabase,
}

/// For what the moves of the clock were asked to wait.
type Waits = Arc<Mutex<Vec<WaitFor>>>;

/// A traveler with a session.
pub(crate) struct Guest {
    pub(crate) token: String,
    pub(crate) caller: Caller,
}

/// How a world differs from the usual one.
#[derive(Default)]
struct Wish {
    provider_away: bool,
    body_limit: Option<usize>,
    settings: Settings,
    real: bool,
    points: Points,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Wish::default()).await
    }

    /// The provider is given up early, for tests in which it never answers.
    pub(crate) async fn impatient() -> Self {
        let settings = Settings { provider_deadline: Duration::from_secs(1), ..Settings::default() };
        Self::with(Wish { settings, ..Wish::default() }).await
    }

    pub(crate) async fn outside_the_sandbox() -> Self {
        Self::with(Wish { real: true, ..Wish::default() }).await
    }

    pub(crate) async fn without_a_provider() -> Self {
        Self::with(Wish { provider_away: true, ..Wish::default() }).await
    }

    pub(crate) async fn with_bodies_up_to(body_limit: usize) -> Self {
        Self::with(Wish { body_limit: Some(body_limit), ..Wish::default() }).await
    }

    /// Calls may be repeated blindly for so long only.
    pub(crate) async fn replaying_for(window: Duration) -> Self {
        let mut settings = Settings::default();
        settings.ledger.replay_window = window;
        Self::with(Wish { settings, ..Wish::default() }).await
    }

    /// Transactions stop at the gates that the test closes.
    pub(crate) async fn gated(gates: &Gates) -> Self {
        Self::with(Wish { points: gates.points(), ..Wish::default() }).await
    }

    async fn with(wish: Wish) -> Self {
        let database = TestDatabase::new().await;
        let shard = database.database().with_points(wish.points);
        let shards = Shards::new(shard.clone(), [(ShardId(1), shard.clone())].into());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let runtime = Handle::current();
        let simulator = keyrack_payment_simulator::run(listener, SimulatorSettings::default(), &runtime);
        let simulator = simulator.expect("the simulator");
        let provider = if wish.provider_away { NOBODY.to_owned() } else { simulator.base_url() };
        let provider = SimulatorProvider::new(&provider).expect("its address");
        let settings = Settings { horizon: HORIZON, ..wish.settings };
        let signatures = SignatureCheck::new(vec![SECRET.into()], Duration::from_secs(300)).expect("fine");
        let desk = Desk::new(shards, Arc::new(provider), settings, runtime, TaskTracker::new())
            .reading("simulator".parse().expect("a name"), Arc::new(SimulatorNotices::new(signatures)));
        sandbox_clock::start(desk.shards(), at(START)).await.expect("the clock starts");
        let (principal, token) =
            credentials::create_operator(desk.shards(), "tests".to_owned()).await.expect("an operator");
        let operator_caller = caller(principal, Role::Operator);
        demo::seed(desk.hotels(), HORIZON, &operator_caller).await.expect("the demo hotels");
        let waits = Waits::default();
        let clock = TestClock { desk: desk.clone(), waits: Arc::clone(&waits) };
        let health = Health::new(Stop::new(), Duration::from_secs(5)).ready_while("database", move || {
            let shard = shard.clone();
            async move { shard.ping().await }
        });
        let parts = Parts {
            beside: None,
            body_limit: wish.body_limit.unwrap_or(256 * 1024),
            desk: desk.clone(),
            health: Arc::new(health),
            metrics: Metrics::install().expect("a recorder"),
            sandbox: (!wish.real).then(|| Arc::new(clock) as Arc<dyn SandboxClock>),
            workers: 2,
            stop_within: Duration::from_secs(5),
        };
        let address = serve(parts);
        Self {
            address,
            desk,
            simulator,
            waits,
            operator: token.expose_secret().to_owned(),
            operator_caller,
            client: reqwest::Client::builder().no_proxy().build().expect("a client"),
            database,
        }
    }

    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        let request = self.client.request(method, format!("http://{}{path}", self.address));
        Call(request)
    }

    pub(crate) fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path)
    }

    pub(crate) fn post(&self, path: &str) -> Call {
        self.call(Method::POST, path)
    }

    pub(crate) fn put(&self, path: &str) -> Call {
        self.call(Method::PUT, path)
    }

    pub(crate) fn delete(&self, path: &str) -> Call {
        self.call(Method::DELETE, path)
    }

    pub(crate) async fn guest(&self) -> Guest {
        let session =
            guest_sessions::open(self.desk.shards(), guest_sessions::LASTS).await.expect("a session");
        Guest {
            token: session.token.expose_secret().to_owned(),
            caller: caller(session.principal, Role::Guest),
        }
    }

    /// A token of a credential of that hotel.
    pub(crate) async fn credential(&self, hotel: &str, role: Role) -> String {
        let hotel = hotel.parse().expect("a code");
        let input = CredentialInput { role, name: "tests".to_owned(), channel: None };
        let key = fresh_key().parse().expect("a key");
        let made = credentials::create(self.desk.hotels(), &self.operator_caller, &hotel, input, key).await;
        let token = made.expect("a credential").answer.token.expect("shown once");
        token.expose_secret().to_owned()
    }

    /// Rooms for two adults at HTL-204, RT-DLX.
    pub(crate) async fn quote(&self, guest: &Guest, stay: (&str, &str), rooms: usize) -> String {
        let room = RoomRequest {
            room_type: "RT-DLX".parse().expect("a code"),
            rate_plan: self.first_plan().await,
            adults: 2,
            children_ages: Vec::new(),
            note: None,
        };
        let input = QuoteInput {
            hotel: "HTL-204".parse().expect("a code"),
            check_in: stay.0.parse().expect("a date"),
            check_out: stay.1.parse().expect("a date"),
            rooms: vec![room; rooms],
        };
        let key = fresh_key().parse().expect("a key");
        let made = quote::make(self.desk.hotels(), HORIZON, &guest.caller, input, key).await;
        made.expect("a quote").answer.id.to_string()
    }

    async fn first_plan(&self) -> keyrack_domain::code::RatePlanCode {
        let code = "HTL-204".parse().expect("a code");
        let hotel = keyrack_booking::hotel_view::find(self.desk.hotels(), &code).await.expect("the hotel");
        hotel.rate_plans.first().expect("a plan").code.clone()
    }

    pub(crate) async fn hold(&self, guest: &Guest, stay: (&str, &str)) -> Answer {
        let quote = self.quote(guest, stay, 1).await;
        let body = serde_json::json!({"quote_id": quote});
        self.post("/v1/holds").token(&guest.token).fresh_key().json(&body).send().await
    }

    pub(crate) async fn book(&self, guest: &Guest, hold: &str, method: &str) -> Answer {
        let call = self.post("/v1/bookings").token(&guest.token).fresh_key();
        call.json(&booking(hold, method)).send().await
    }

    /// Of RT-DLX at HTL-204, on every night of the stay.
    pub(crate) async fn sellable(&self, stay: (&str, &str), sellable: u32) {
        let check_out: NaiveDate = stay.1.parse().expect("a date");
        let last = check_out.pred_opt().expect("a night");
        let change = serde_json::json!({"room_type": "RT-DLX", "first_night": stay.0, "last_night": last, "sellable": sellable});
        let body = serde_json::json!({"changes": [change]});
        let call = self.put("/v1/hotels/HTL-204/inventory").token(&self.operator).fresh_key();
        call.json(&body).send().await.expect(200);
    }

    pub(crate) async fn clock_ahead(&self, seconds: u64) {
        let by = Move::By(Duration::from_secs(seconds));
        sandbox_clock::advance(self.desk.shards(), by).await.expect("the clock goes forward");
    }

    pub(crate) async fn clock_to(&self, instant: &str) {
        let to = Move::To(Moment(instant.parse().expect("an instant")));
        sandbox_clock::advance(self.desk.shards(), to).await.expect("the clock goes forward");
    }

    /// One run of the workers that end what time has ended: payments that nobody knows, or holds.
    pub(crate) async fn reconcile(&self) {
        for (_, ledger) in self.desk.ledgers() {
            reconcile::run_once(&self.desk, ledger).await.expect("a run");
        }
    }

    pub(crate) async fn send_refunds(&self) {
        for (_, ledger) in self.desk.ledgers() {
            refund::run_once(&self.desk, ledger).await.expect("a run");
        }
    }

    pub(crate) async fn expire(&self) {
        for (_, ledger) in self.desk.ledgers() {
            expire::run_once(ledger).await.expect("a run");
        }
    }

    /// Everything that the provider was asked.
    pub(crate) fn charges(&self) -> usize {
        self.simulator.simulator().charges("", None, 1_000).len()
    }
}

fn serve(parts: Parts) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let api = Api::build(listener, parts).expect("the API");
    let address = api.address();
    Handle::current().spawn(api.run_until_stopped());
    address
}

fn caller(principal: PrincipalId, role: Role) -> Caller {
    Caller { principal, role, hotel: None, request_id: "tests".to_owned() }
}

fn at(instant: &str) -> Moment {
    Moment(instant.parse().expect("an instant"))
}

pub(crate) fn fresh_key() -> String {
    Uuid::new_v4().to_string()
}

/// Moves the clock and waits for no worker: there is none.
struct TestClock {
    desk: Desk,
    waits: Waits,
}

#[async_trait::async_trait]
impl SandboxClock for TestClock {
    async fn advance(&self, by: Move, wait: WaitFor) -> Result<Moment, MoveError> {
        self.waits.lock().expect("not poisoned").push(wait);
        sandbox_clock::advance(self.desk.shards(), by).await
    }
}

/// A request under construction.
pub(crate) struct Call(RequestBuilder);

impl Call {
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        Self(self.0.header(name, value))
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn fresh_key(self) -> Self {
        self.key(&fresh_key())
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.text(&body.to_string())
    }

    /// Said to be JSON, whether it is or not.
    pub(crate) fn text(self, body: &str) -> Self {
        Self(self.0.header("content-type", "application/json").body(body.to_owned()))
    }

    /// Whatever a header may carry.
    pub(crate) fn raw_header(self, name: &str, value: &[u8]) -> Self {
        Self(self.0.header(name, value))
    }

    pub(crate) async fn send(self) -> Answer {
        Answer::of(self.0.send().await.expect("an answer")).await
    }
}
