use std::net::TcpListener;

use keyrack_payment_simulator::{Running, Settings, run};
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::runtime::Handle;

/// A simulator on a free port, and a client of it.
pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) client: Client,
}

/// Status and body; None where the connection ended without an answer.
pub(crate) type Heard = Option<(StatusCode, Value)>;

pub(crate) fn client() -> Client {
    Client::builder().no_proxy().build().expect("a client")
}

pub(crate) async fn hear(request: RequestBuilder) -> Heard {
    let response = request.send().await.ok()?;
    let status = response.status();
    Some((status, response.json().await.ok()?))
}

impl World {
    pub(crate) fn start() -> Self {
        Self::start_with(Settings::default())
    }

    pub(crate) fn start_with(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let running = run(listener, settings, &Handle::current()).expect("starts");
        Self { running, client: client() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.running.base_url())
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Heard {
        hear(self.client.put(self.url(path)).json(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Heard {
        hear(self.client.get(self.url(path))).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Heard {
        hear(self.client.post(self.url(path)).json(body)).await
    }

    /// 14,560.00 INR under `<name>-auth`.
    pub(crate) async fn authorize(&self, name: &str, method: &str) -> Heard {
        let body = json!({"amount": 1_456_000, "currency": "INR", "method": method});
        self.put(&format!("/v1/authorizations/{name}-auth"), &body).await
    }

    /// All of it, under `<name>-capture`.
    pub(crate) async fn capture(&self, name: &str) -> Heard {
        self.put(&format!("/v1/captures/{name}-capture"), &capture_body(name)).await
    }

    pub(crate) async fn void(&self, name: &str) -> Heard {
        let body = json!({"authorization": format!("{name}-auth")});
        self.put(&format!("/v1/voids/{name}-void"), &body).await
    }

    pub(crate) async fn look_up(&self, reference: &str) -> Heard {
        self.get(&format!("/v1/payments/{reference}")).await
    }

    pub(crate) async fn charge(&self, reference: &str) -> Value {
        self.get(&format!("/simulator/charges/{reference}")).await.expect("an answer").1
    }

    /// How many captures there are under this name, under whatever reference.
    pub(crate) async fn captures(&self, name: &str) -> usize {
        let (_, page) = self.get(&format!("/simulator/charges?prefix={name}-")).await.expect("an answer");
        let items = page["items"].as_array().expect("items");
        items.iter().filter(|item| item["kind"] == "capture" && item["state"] == "CAPTURED").count()
    }
}

pub(crate) fn capture_body(name: &str) -> Value {
    json!({"authorization": format!("{name}-auth"), "amount": 1_456_000, "currency": "INR"})
}

/// The code of an error, with its status.
#[track_caller]
pub(crate) fn assert_refused(heard: Heard, status: u16, code: &str) {
    let (actual, body) = heard.expect("an answer");
    assert_eq!((actual.as_u16(), body["error"]["code"].as_str()), (status, Some(code)), "{body}");
}

#[track_caller]
pub(crate) fn assert_state(heard: Heard, state: &str) {
    let (status, body) = heard.expect("an answer");
    assert_eq!((status.as_u16(), body["state"].as_str()), (200, Some(state)), "{body}");
}
