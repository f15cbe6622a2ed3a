//! A server that gives the answers it was given, in order, and keeps what it was asked.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use keyrack_domain::{
    ids::{AttemptId, HotelId},
    money::Money,
};
use keyrack_payments::{Deadline, ForgetfulIds, StripeProvider};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpListener};
use uuid::Builder;

use crate::hostile_answers::{a_whole_request, http};

/// When the attempts of these tests were opened.
const OPENED: u64 = 1_800_000_000;

pub(crate) fn attempt() -> AttemptId {
    AttemptId::new(HotelId(204), Builder::from_unix_timestamp_millis(OPENED * 1000, &[7; 10]).into_uuid())
}

pub(crate) fn price() -> Money {
    money("14560.00", "INR")
}

pub(crate) fn money(text: &str, currency: &str) -> Money {
    Money::parse(text, currency.parse().expect("a currency")).expect("money")
}

pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// A minute after the attempt was opened.
pub(crate) fn a_minute_later() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(OPENED + 60)
}

/// When Stripe is about to forget its key.
pub(crate) fn a_day_later() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(OPENED + 23 * 3600)
}

/// What was asked: `POST /v1/refunds`, the fields of its query and form, its headers.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) call: String,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) headers: BTreeMap<String, String>,
}

impl Asked {
    fn read(request: &[u8]) -> Self {
        let text = String::from_utf8_lossy(request);
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole request");
        let mut lines = head.lines();
        let mut first = lines.next().expect("a request line").split(' ');
        let (method, target) = (first.next().expect("a method"), first.next().expect("a target"));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let fields = [query, body].map(|part| form_urlencoded::parse(part.as_bytes()).into_owned());
        let headers = lines.filter_map(|line| line.split_once(": "));
        Self {
            call: format!("{method} {path}"),
            fields: fields.into_iter().flatten().collect(),
            headers: headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
        }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }
}

/// Makes the calls against these answers. What was asked beyond them would wait, and fail the test.
pub(crate) async fn against<T>(
    answers: Vec<(u16, Value)>,
    now: fn() -> SystemTime,
    calls: impl AsyncFnOnce(&StripeProvider) -> T,
) -> (T, Vec<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let ids = Arc::new(ForgetfulIds::default());
    let settings = super::settings(&format!("http://{address}"));
    let provider = StripeProvider::new(settings, ids).expect("settings").telling_time_by(now);
    let asked = Mutex::new(Vec::new());
    let serve = async {
        for (status, body) in answers {
            let (mut socket, request) = a_whole_request(&listener).await;
            asked.lock().expect("no panic").push(Asked::read(&request));
            let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
            let _ = socket.write_all(&http(&format!("{status} Said"), &body)).await;
            let _ = socket.shutdown().await;
        }
        let (_socket, request) = a_whole_request(&listener).await;
        panic!("nobody expected {:?}", Asked::read(&request));
    };
    let outcome = tokio::select! {
        never = serve => never,
        outcome = calls(&provider) => outcome,
    };
    (outcome, asked.into_inner().expect("no panic"))
}

/// Of the price, in a shape that Stripe documents, with a charge where there is one.
pub(crate) fn intent(status: &str) -> Value {
    let (capturable, received) = match status {
        "requires_capture" => (1_456_000, 0),
        "succeeded" => (0, 1_456_000),
        _ => (0, 0),
    };
    json!({
        "id": "pi_3SampleIntent01",
        "object": "payment_intent",
        "amount": 1_456_000,
        "amount_capturable": capturable,
        "amount_received": received,
        "capture_method": "manual",
        "created": OPENED + 1,
        "currency": "inr",
        "last_payment_error": null,
        "latest_charge": {"id": "ch_3SampleCharge01", "object": "charge", "amount_refunded": 0},
        "metadata": {"keyrack_attempt": attempt().to_string()},
        "next_action": null,
        "status": status,
    })
}

/// With some members replaced.
pub(crate) fn but(mut object: Value, other: &Value) -> Value {
    for (name, value) in other.as_object().expect("an object") {
        object[name] = value.clone();
    }
    object
}

pub(crate) fn refund(reference: &str, status: &str) -> Value {
    json!({
        "id": "re_3SampleRefund01",
        "object": "refund",
        "amount": 1_456_000,
        "currency": "inr",
        "payment_intent": "pi_3SampleIntent01",
        "metadata": {"keyrack_attempt": attempt().to_string(), "keyrack_reference": reference},
        "status": status,
    })
}

pub(crate) fn list(data: impl IntoIterator<Item = Value>, has_more: bool) -> (u16, Value) {
    let data: Vec<Value> = data.into_iter().collect();
    (200, json!({"object": "list", "data": data, "has_more": has_more}))
}

pub(crate) fn complaint(status: u16, kind: &str, code: &str) -> (u16, Value) {
    (status, json!({"error": {"type": kind, "code": code, "message": "Words for people."}}))
}
