//! A client of the API, as far as the README's booking needs one.

use chrono::{Days, NaiveDate};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

pub(crate) struct Guest {
    http: Client,
    base_url: String,
    token: String,
    check_in: NaiveDate,
}

/// Of the worked example.
pub(crate) const TOTAL: &str = "14560.00";

impl Guest {
    /// Step 1: a session.
    pub(crate) async fn new(base_url: &str) -> Self {
        let http = Client::builder().no_proxy().build().expect("a client");
        let answer = http.post(format!("{base_url}/v1/guest-sessions")).send().await.expect("an answer");
        let session = body(answer, StatusCode::CREATED).await;
        let token = session["token"].as_str().expect("a token").to_owned();
        Self { http, base_url: base_url.to_owned(), token, check_in: worked_example() }
    }

    /// `None` when nobody answers.
    pub(crate) async fn try_new(base_url: &str) -> Option<Self> {
        let http = Client::builder().no_proxy().build().expect("a client");
        let answer = http.post(format!("{base_url}/v1/guest-sessions")).send().await.ok()?;
        let session = body(answer, StatusCode::CREATED).await;
        Some(Self::with_token(base_url, session["token"].as_str()?))
    }

    pub(crate) fn with_token(base_url: &str, token: &str) -> Self {
        let http = Client::builder().no_proxy().build().expect("a client");
        Self { http, base_url: base_url.to_owned(), token: token.to_owned(), check_in: worked_example() }
    }

    /// Two nights of their own for the guest of this number.
    pub(crate) fn number(mut self, number: usize) -> Self {
        self.check_in = worked_example() + Days::new(2 * number as u64);
        self
    }

    pub(crate) const fn first_night(&self) -> NaiveDate {
        self.check_in
    }

    /// The same guest, where the program listens now.
    pub(crate) fn at(&self, base_url: &str) -> Self {
        Self { check_in: self.check_in, ..Self::with_token(base_url, &self.token) }
    }

    /// `Err` when the connection ends without an answer.
    pub(crate) async fn post(&self, path: &str, key: &str, json: &Value) -> reqwest::Result<Response> {
        let request = self.http.post(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        request.header("Idempotency-Key", key).json(json).send().await
    }

    pub(crate) async fn put(&self, path: &str, key: &str, json: &Value) -> reqwest::Result<Response> {
        let request = self.http.put(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        request.header("Idempotency-Key", key).json(json).send().await
    }

    /// As a channel: the booking of this number, for two nights of its own.
    pub(crate) async fn try_deliver(&self, number: usize) -> reqwest::Result<Response> {
        let booking = json!({
            "revision": 1,
            "check_in": self.check_in,
            "check_out": self.check_in + Days::new(2),
            "rooms": [{"room_type": "RT-DLX", "adults": 2, "children_ages": []}],
            "guest": {"name": "Asha Rao"},
            "total": {"amount": TOTAL, "currency": "INR"},
        });
        self.put(&channel_booking(number), "unused", &booking).await
    }

    pub(crate) async fn try_withdraw(&self, number: usize) -> reqwest::Result<Response> {
        let path = format!("{}{}", self.base_url, channel_booking(number));
        self.http.delete(path).bearer_auth(&self.token).header("Idempotency-Key", "unused").send().await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        body(request.send().await.expect("an answer"), StatusCode::OK).await
    }

    /// Step 2: a price.
    pub(crate) async fn try_quote(&self) -> reqwest::Result<Response> {
        let room = json!({"room_type": "RT-DLX", "rate_plan": "FLEX", "adults": 2, "children_ages": []});
        let (check_in, check_out) = (self.check_in, self.check_in + Days::new(2));
        let stay = json!({"hotel": "HTL-204", "check_in": check_in, "check_out": check_out, "rooms": [room]});
        self.post("/v1/quotes", "quote", &stay).await
    }

    pub(crate) async fn quote(&self) -> String {
        let answer = self.try_quote().await.expect("an answer");
        let quote = body(answer, StatusCode::CREATED).await;
        assert_eq!(quote["total"], json!({"amount": TOTAL, "currency": "INR"}));
        id(&quote)
    }

    /// Step 3: the room is ours for ten minutes.
    pub(crate) async fn hold(&self, quote: &str) -> String {
        let answer = self.try_hold(quote).await.expect("an answer");
        id(&body(answer, StatusCode::CREATED).await)
    }

    pub(crate) async fn try_hold(&self, quote: &str) -> reqwest::Result<Response> {
        self.post("/v1/holds", "hold", &json!({ "quote_id": quote })).await
    }

    /// Step 4: paid.
    pub(crate) async fn book(&self, hold: &str) -> reqwest::Result<Response> {
        self.book_with(hold, "pm_ok").await
    }

    pub(crate) async fn book_with(&self, hold: &str, method: &str) -> reqwest::Result<Response> {
        let guest = json!({"name": "Asha Rao", "email": "asha@example.com"});
        let request = json!({"hold_id": hold, "payment": {"method_token": method}, "guest": guest});
        self.post("/v1/bookings", "booking", &request).await
    }

    pub(crate) async fn try_cancel(&self, reservation: &str) -> reqwest::Result<Response> {
        let path = format!("{}/v1/reservations/{reservation}/cancel", self.base_url);
        let request = self.http.post(path).bearer_auth(&self.token);
        request.header("Idempotency-Key", "cancel").header("If-Match", "1").send().await
    }

    /// With the version that the caller has seen.
    pub(crate) async fn post_at(
        &self,
        version: i32,
        path: &str,
        key: &str,
        json: &Value,
    ) -> reqwest::Result<Response> {
        let request = self.http.post(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        let request = request.header("Idempotency-Key", key).header("If-Match", version.to_string());
        request.json(json).send().await
    }

    /// All five steps; the reservation's id.
    pub(crate) async fn books(&self) -> String {
        let quote = self.quote().await;
        let hold = self.hold(&quote).await;
        let booked = body(self.book(&hold).await.expect("an answer"), StatusCode::CREATED).await;
        assert_eq!(booked["status"], "CONFIRMED");
        let reservation = id(&booked["reservation"]);
        let shown = self.get(&format!("/v1/reservations/{reservation}")).await;
        assert_eq!(shown["id"], booked["reservation"]["id"]);
        reservation
    }
}

fn worked_example() -> NaiveDate {
    "2026-11-14".parse().expect("a date")
}

pub(crate) fn id(of: &Value) -> String {
    of["id"].as_str().expect("an id").to_owned()
}

pub(crate) async fn body(answer: Response, expected: StatusCode) -> Value {
    let status = answer.status();
    let body = answer.text().await.expect("a body");
    assert_eq!(status, expected, "{body}");
    serde_json::from_str(&body).expect("JSON")
}

fn channel_booking(number: usize) -> String {
    format!("/v1/hotels/HTL-204/channel-bookings/OTA/X{number}")
}
