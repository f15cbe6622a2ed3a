//! The port's promises, kept by the simulator's adapter against the real simulator.

use std::{
    future::{Ready, ready},
    net::TcpListener,
    time::Duration,
};

use async_trait::async_trait;
use keyrack_domain::{
    ids::{AttemptId, HotelId},
    method_token::MethodToken,
};
use keyrack_payment_simulator::{
    Amount, Decided, Kind, ReferenceName, Released, Running, Settings, State, run,
};
use keyrack_payments::{
    Authorization, ChargeName, Deadline, Doubt, LookUp, NotSent, PaymentProvider, Reference,
    SimulatorProvider,
    conformance::{ProviderControl, Wish, customer::CustomerControl, settlement::SettlementControl},
};
use tokio::runtime::Handle;
use uuid::Uuid;

struct Steering(Running);

fn name(reference: Reference) -> ReferenceName {
    reference.to_string().try_into().expect("a reference")
}

fn start() -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    // Nothing slow ends by itself: the checks release it.
    let settings = Settings { slow_capture: Duration::from_secs(3600), ..Settings::default() };
    run(listener, settings, &Handle::current()).expect("starts")
}

fn world() -> Ready<(SimulatorProvider, Steering)> {
    let running = start();
    let provider = SimulatorProvider::new(&running.base_url()).expect("an address");
    ready((provider, Steering(running)))
}

#[async_trait]
impl ProviderControl for Steering {
    fn fresh_attempt(&self) -> AttemptId {
        AttemptId::new(HotelId(204), Uuid::now_v7())
    }

    fn method(&self, wish: Wish) -> MethodToken {
        let token = match wish {
            Wish::Accept => "pm_ok",
            Wish::Decline => "pm_declined",
            Wish::Silence => "pm_timeout",
            Wish::LoseResponse => "pm_lost_response",
            Wish::Slow => "pm_slow",
            Wish::FailCapture => "pm_capture_fails",
            Wish::Unissued => "pm_of_somebody_else",
        };
        token.parse().expect("a token")
    }

    async fn until_waiting(&self, reference: Reference, calls: u32) {
        let charge = self.0.simulator().wait_for(&name(reference), State::Waiting, calls).await;
        assert!(charge.is_some_and(|charge| charge.calls >= calls), "{reference} was not asked for");
    }

    async fn release(&self, reference: Reference) {
        let released = self.0.simulator().release(&name(reference)).await;
        assert!(matches!(released, Released::Now(_)), "{released:?}");
    }

    async fn calls(&self, reference: Reference) -> u32 {
        self.0.simulator().charge(&name(reference)).map_or(0, |charge| charge.calls)
    }

    async fn captures(&self, attempt: AttemptId) -> usize {
        let charges = self.0.simulator().charges(&format!("{attempt}-"), None, 100);
        let taken = |kind, state| kind == Kind::Capture && state == State::Captured;
        charges.iter().filter(|charge| taken(charge.kind, charge.state)).count()
    }
}

#[async_trait]
impl CustomerControl for Steering {
    fn asking(&self) -> MethodToken {
        "pm_3ds".parse().expect("a token")
    }

    async fn decide(&self, attempt: AttemptId, completes: bool) -> bool {
        let reference = name(Reference::Authorization(attempt));
        match self.0.simulator().decide(&reference, completes).await {
            Decided::Now(_) => true,
            Decided::Expired => false,
            other => panic!("{other:?}"),
        }
    }
}

#[async_trait]
impl SettlementControl for Steering {
    async fn charge_again(&self, attempt: AttemptId) -> ChargeName {
        let charge: ChargeName = format!("{attempt}-capture-2").parse().expect("a name");
        let amount = Amount { amount: 1_456_000, currency: "INR".to_owned() };
        let reference = charge.to_string().try_into().expect("a reference");
        let of = name(Reference::Authorization(attempt));
        self.0.simulator().plant(&reference, of, amount).await.expect("a charge");
        charge
    }
}

keyrack_payments::provider_conformance!(world);
keyrack_payments::customer_conformance!(world);
keyrack_payments::settlement_conformance!(world);

#[tokio::test]
async fn a_provider_that_is_not_there_was_not_asked() {
    let running = start();
    let provider = SimulatorProvider::new(&running.base_url()).expect("an address");
    running.stop().await;
    let attempt = AttemptId::new(HotelId(204), Uuid::from_u128(7));
    let deadline = Deadline::after(Duration::from_secs(10));
    let (amount, method) = crate::hostile_answers::price_and_method();
    let answer = provider.authorize(attempt, amount, &method, deadline).await;
    assert!(matches!(answer, Authorization::NotSent(NotSent::NotReachable(_))), "{answer:?}");
    let answer = provider.look_up(Reference::Authorization(attempt), deadline).await;
    assert!(matches!(answer, LookUp::Unknown(Doubt::NotAsked(_))), "{answer:?}");
}

#[test]
fn an_address_is_plain_http_with_a_host() {
    for url in
        ["", "127.0.0.1:80", "https://example.com", "ftp://example.com", "http://h/?a=b", "http://h/#f"]
    {
        assert!(SimulatorProvider::new(url).is_err(), "{url}");
    }
    assert!(SimulatorProvider::new("http://127.0.0.1:8081/provider/").is_ok());
}
