//! The port's promises, kept by the adapter of Stripe against localstripe, a Stripe server that others
//! wrote.
//!
//! What localstripe lacks, and where it is shown instead:
//!
//! - Idempotency keys, a list by time, what can be captured, a page for the customer, the metadata of charges, the
//!   list of what has moved: in front of it, `testkit/localstripe/serve.py`.
//! - A capture under way: it works on one call at a time. The intent that is `processing` is an answer in
//!   `wire`.
//! - Refunds that are pending or fail, 409, 429, 5xx: answers in `wire`.
//! - Refunds that come back, disputes, others' movements, partial captures: answers in `books`.
//! - Events, but for two: recorded shapes in `notices`.

mod books;
mod notices;
mod recorded;
mod refunds;
mod wire;

use std::{
    future::{Ready, ready},
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use keyrack_domain::{
    ids::{AttemptId, HotelId},
    method_token::MethodToken,
};
use keyrack_payments::{
    ChargeName, ForgetfulIds, Reference, StripeProvider, StripeSettings,
    conformance::{
        Abilities, ProviderControl, Wish, customer::CustomerControl, settlement::SettlementControl,
    },
};
use keyrack_testkit::LocalStripe;
use serde_json::Value;
use uuid::Uuid;

struct Steering {
    server: LocalStripe,
    http: reqwest::Client,
}

fn settings(base_url: &str) -> StripeSettings {
    let secret_key = "sk_test_of_nobody".into();
    StripeSettings { secret_key, base_url: base_url.to_owned(), return_url: None }
}

fn world() -> Ready<(StripeProvider, Steering)> {
    let server = LocalStripe::start();
    let ids = Arc::new(ForgetfulIds::default());
    let provider = StripeProvider::new(settings(server.base_url()), ids).expect("settings");
    ready((provider, Steering { server, http: reqwest::Client::new() }))
}

fn customer_world() -> Ready<(StripeProvider, Steering)> {
    let server = LocalStripe::start();
    let with_a_page = StripeSettings {
        return_url: Some("https://hotels.example/paid".to_owned()),
        ..settings(server.base_url())
    };
    let provider = StripeProvider::new(with_a_page, Arc::new(ForgetfulIds::default())).expect("settings");
    ready((provider, Steering { server, http: reqwest::Client::new() }))
}

/// By when the books of today are closed.
#[expect(clippy::disallowed_methods, reason = "Stripe's books keep real time")]
fn in_an_hour() -> SystemTime {
    SystemTime::now() + Duration::from_hours(1)
}

fn books_world() -> Ready<(StripeProvider, Steering)> {
    let (provider, steering) = world().into_inner();
    ready((provider.telling_time_by(in_an_hour), steering))
}

impl Steering {
    async fn make(&self, path: &str, form: &[(&str, &str)]) -> reqwest::Response {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self.http.post(format!("{}/{path}", self.server.base_url()));
        let request = request.bearer_auth("sk_test_of_nobody").body(body);
        request.header("content-type", "application/x-www-form-urlencoded").send().await.expect("an answer")
    }

    async fn ask(&self, path: &str) -> Value {
        let url = format!("{}/{path}", self.server.base_url());
        let request = self.http.get(url).bearer_auth("sk_test_of_nobody");
        let answer = request.send().await.expect("an answer").error_for_status().expect("a good one");
        answer.json().await.expect("JSON")
    }
}

#[async_trait]
impl ProviderControl for Steering {
    fn abilities(&self) -> Abilities {
        Abilities {
            copies_wait: false,
            tells_a_capture_under_way: false,
            // The last digit of a dinar is zero.
            amounts: &[
                ("26400", "13200", "JPY"),
                ("14560.10", "0.01", "INR"),
                ("1.500", "0.010", "KWD"),
                ("5000", "1", "ISK"),
                ("90071992547409.93", "90071992547409.93", "EUR"),
            ],
        }
    }

    fn fresh_attempt(&self) -> AttemptId {
        AttemptId::new(HotelId(204), Uuid::now_v7())
    }

    fn method(&self, wish: Wish) -> MethodToken {
        let token = match wish {
            Wish::Accept => "pm_card_visa",
            Wish::Decline => "pm_card_chargeCustomerFail",
            Wish::Silence => "pm_silence",
            Wish::LoseResponse => "pm_lost_answer",
            Wish::Slow => "pm_slow_capture",
            Wish::FailCapture => "pm_capture_declined",
            Wish::Unissued => "pm_of_somebody_else",
        };
        token.parse().expect("a token")
    }

    async fn until_waiting(&self, reference: Reference, calls: u32) {
        self.ask(&format!("_config/held/{reference}?calls={calls}")).await;
    }

    async fn release(&self, reference: Reference) {
        let url = format!("{}/_config/release/{reference}", self.server.base_url());
        let released = self.http.post(url).send().await.expect("an answer");
        assert!(released.status().is_success(), "{released:?}");
    }

    async fn calls(&self, reference: Reference) -> u32 {
        let said = self.ask(&format!("_config/calls/{reference}")).await;
        said["calls"].as_u64().and_then(|calls| calls.try_into().ok()).expect("a number")
    }

    async fn captures(&self, attempt: AttemptId) -> usize {
        let list = self.ask("v1/charges?limit=1000").await;
        let intents = self.ask("v1/payment_intents?limit=1000").await;
        let intents: Vec<&Value> = intents["data"].as_array().expect("a list").iter().collect();
        let named = attempt.to_string();
        let mut of_attempt = intents.iter().filter(|i| i["metadata"]["keyrack_attempt"] == named.as_str());
        let intent = of_attempt.next().map(|intent| &intent["id"]);
        assert!(of_attempt.next().is_none(), "there is one intent for each attempt");
        let is_ours = |charge: &Value| intent.is_some_and(|id| charge["payment_intent"] == *id);
        let charges = list["data"].as_array().expect("a list").iter();
        charges.filter(|charge| charge["captured"] == true && is_ours(charge)).count()
    }
}

#[async_trait]
impl CustomerControl for Steering {
    fn asking(&self) -> MethodToken {
        "pm_card_authenticationRequired".parse().expect("a token")
    }

    async fn decide(&self, attempt: AttemptId, completes: bool) -> bool {
        let intents = self.ask("v1/payment_intents?limit=1000").await;
        let named = attempt.to_string();
        let is_ours = |intent: &&Value| intent["metadata"]["keyrack_attempt"] == named.as_str();
        let intent = intents["data"].as_array().expect("a list").iter().find(is_ours).expect("an intent");
        let path = format!("v1/payment_intents/{}/_authenticate", intent["id"].as_str().expect("an id"));
        let secret = intent["client_secret"].as_str().expect("a secret");
        let success = if completes { "true" } else { "false" };
        self.make(&path, &[("client_secret", secret), ("success", success)]).await.status().is_success()
    }
}

#[async_trait]
impl SettlementControl for Steering {
    async fn charge_again(&self, attempt: AttemptId) -> ChargeName {
        let attempt = attempt.to_string();
        let form = [
            ("amount", "1456000"),
            ("currency", "inr"),
            ("confirm", "true"),
            ("payment_method", "pm_card_visa"),
            ("metadata[keyrack_attempt]", &attempt),
        ];
        let made = self.make("v1/payment_intents", &form).await;
        let intent: Value = made.error_for_status().expect("a good one").json().await.expect("JSON");
        intent["latest_charge"]["id"].as_str().expect("a charge").parse().expect("a name")
    }
}

keyrack_payments::provider_conformance!(world);
keyrack_payments::customer_conformance!(customer_world);
keyrack_payments::settlement_conformance!(books_world);
