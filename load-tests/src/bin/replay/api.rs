//! Calls of the HTTP API. A call that could not be served at the moment is repeated with the same
//! key, when and as often as it is allowed to; nothing else is ever repeated.

use std::{
    fmt,
    time::{Duration, Instant},
};

use keyrack_api_types::{code::Code, problem::ProblemDocument};
use reqwest::{
    Method, StatusCode, Url,
    header::{ETAG, HeaderMap, IF_MATCH, RETRY_AFTER},
    redirect::Policy,
};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::timings::{Step, Timings};

/// Times that one call is sent, the first included.
const MAX_TRIES: u32 = 20;

/// However long the server asks us to wait.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Longer than the server waits for anything, its workers after a jump of the clock included: it is to
/// say that it could not, not we.
const ANSWER_WITHIN: Duration = Duration::from_secs(180);

/// Shorter than the server keeps idle connections, so that no call meets one that is just closing.
const KEEP_IDLE: Duration = Duration::from_secs(2);

/// Of a body in a message.
const SHOWN_CHARS: usize = 600;

#[derive(Debug)]
pub(crate) struct Api {
    client: reqwest::Client,
    /// Without a slash at its end.
    base: String,
    pub(crate) timings: Timings,
}

#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) step: Step,
    pub(crate) method: Method,
    /// With its query.
    pub(crate) path: &'a str,
    pub(crate) token: Option<&'a SecretString>,
    pub(crate) key: Option<String>,
    /// The version that the caller has seen.
    pub(crate) if_match: Option<i32>,
    pub(crate) body: Option<Value>,
    /// Of the clock: answered when no worker has anything due.
    pub(crate) drained: bool,
}

impl<'a> Call<'a> {
    /// Without anything that not every call has.
    pub(crate) const fn new(
        step: Step,
        method: Method,
        path: &'a str,
        token: Option<&'a SecretString>,
    ) -> Self {
        Self { step, method, path, token, key: None, if_match: None, body: None, drained: false }
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) etag: Option<String>,
    body: String,
    /// What was asked, for the message when it is not what it should be.
    asked: String,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("{asked} had no answer")]
    NoAnswer { asked: String, source: reqwest::Error },
    #[error("{answer} after {MAX_TRIES} tries")]
    StillBusy { answer: Answer },
    #[error("{answer}")]
    Unexpected { answer: Answer },
    #[error("{answer}, which is not of the documented shape")]
    Unreadable { answer: Answer, source: serde_json::Error },
}

impl Api {
    /// `base` without a path.
    pub(crate) fn new(base: &Url, timings: Timings) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .timeout(ANSWER_WITHIN)
            .pool_idle_timeout(KEEP_IDLE)
            .build()?;
        Ok(Self { client, base: base.as_str().trim_end_matches('/').to_owned(), timings })
    }

    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Answer, CallError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let started = Instant::now();
            let (answer, headers) = self.send_once(&call).await?;
            self.timings.record(call.step, started.elapsed());
            match wait_before_repeating(&answer, &headers) {
                None => return Ok(answer),
                Some(_) if tries == MAX_TRIES => return Err(CallError::StillBusy { answer }),
                Some(wait) => tokio::time::sleep(wait).await,
            }
        }
    }

    async fn send_once(&self, call: &Call<'_>) -> Result<(Answer, HeaderMap), CallError> {
        let asked = call.to_string();
        let no_answer = |source| CallError::NoAnswer { asked: asked.clone(), source };
        let mut request = self.client.request(call.method.clone(), format!("{}{}", self.base, call.path));
        if let Some(token) = call.token {
            request = request.bearer_auth(token.expose_secret());
        }
        if let Some(key) = &call.key {
            request = request.header("Idempotency-Key", key);
        }
        if let Some(version) = call.if_match {
            request = request.header(IF_MATCH, format!("\"{version}\""));
        }
        if call.drained {
            request = request.header("Prefer", "wait-for=drained");
        }
        if let Some(body) = &call.body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(no_answer)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let etag = headers.get(ETAG).and_then(|etag| Some(etag.to_str().ok()?.to_owned()));
        let body = response.text().await.map_err(no_answer)?;
        Ok((Answer { status, etag, body, asked }, headers))
    }
}

/// `None` where the answer is final.
fn wait_before_repeating(answer: &Answer, headers: &HeaderMap) -> Option<Duration> {
    let later = answer.status == StatusCode::SERVICE_UNAVAILABLE
        || answer.problem().is_some_and(|problem| problem.code == Code::OperationInProgress);
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    later.then(|| Duration::from_secs(seconds).min(LONGEST_WAIT))
}

impl Answer {
    /// The body of an answer with this status; any other is not expected.
    pub(crate) fn expect<T: DeserializeOwned>(self, status: StatusCode) -> Result<T, CallError> {
        if self.status != status {
            return Err(CallError::Unexpected { answer: self });
        }
        serde_json::from_str(&self.body).map_err(|source| CallError::Unreadable { answer: self, source })
    }

    pub(crate) fn problem(&self) -> Option<ProblemDocument> {
        let refused = self.status.is_client_error() || self.status.is_server_error();
        if refused { serde_json::from_str(&self.body).ok() } else { None }
    }
}

/// No token: it must not stand in a report.
impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        match &self.body {
            Some(body) => write!(f, " {}", shortened(&body.to_string())),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was answered {} {}", self.asked, self.status.as_u16(), shortened(&self.body))
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn wait(status: u16, code: &str, retry_after: Option<&'static str>) -> Option<Duration> {
        let body = format!(
            r#"{{"type":"/problems/x","title":"t","status":{status},"detail":"d","code":"{code}","next":{{"action":"none"}}}}"#
        );
        let status = StatusCode::from_u16(status).expect("a status");
        let mut headers = HeaderMap::new();
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(seconds));
        }
        wait_before_repeating(&Answer { status, etag: None, body, asked: String::new() }, &headers)
    }

    #[test]
    fn only_what_is_told_to_come_back_is_repeated_and_never_after_an_endless_wait() {
        assert_eq!(wait(503, "HOT_NIGHT_BUSY", Some("1")), Some(Duration::from_secs(1)));
        assert_eq!(wait(409, "OPERATION_IN_PROGRESS", Some("2")), Some(Duration::from_secs(2)));
        assert_eq!(wait(503, "OVERLOADED", Some("86400")), Some(LONGEST_WAIT));
        assert_eq!(wait(503, "HOT_NIGHT_BUSY", None), None);
        assert_eq!(wait(409, "ROOM_NIGHT_UNAVAILABLE", Some("1")), None);
        assert_eq!(wait(429, "HOLD_LIMIT", Some("1")), None);
        assert_eq!(wait(500, "INTERNAL", Some("1")), None);
    }

    #[test]
    fn a_report_shows_what_was_asked_but_no_token() {
        let token = SecretString::from("secret");
        let call = Call {
            body: Some(serde_json::json!({"hotel": "x".repeat(SHOWN_CHARS)})),
            ..Call::new(Step::Quote, Method::POST, "/v1/quotes", Some(&token))
        };
        let text = call.to_string();
        assert!(text.starts_with(r#"POST /v1/quotes {"hotel":"xxx"#) && text.ends_with("..."));
        assert!(!format!("{text} {call:?}").contains("secret"));
    }
}
