//! One exchange with Stripe: what was sent, and what was heard.

use std::{fmt, time::Duration};

use reqwest::{
    RequestBuilder, Response, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use tokio::time::timeout_at;

use super::answer::{Failed, Heard};
use crate::{
    deadline::Deadline,
    outcome::{Doubt, NotSent},
};

/// The calls and answers that this adapter was written for. From this version on a cancelled
/// authorization makes no refund object, which would look like a refund by hand.
pub const API_VERSION: &str = "2025-03-31.basil";

/// A hundred payments of a list, with everything that Stripe tells about each.
const ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// A connection that is not there by then is known not to have carried the call.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// Below the provider's keep-alive, so that a call is not sent on a connection that is just closing.
const KEEP_IDLE: Duration = Duration::from_secs(30);

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const STRIPE_VERSION: HeaderName = HeaderName::from_static("stripe-version");

#[derive(Debug, thiserror::Error)]
pub enum BadStripeSettings {
    #[error("the address must be https, or http for a test, with a host and nothing after the path")]
    BaseUrl,
    #[error("the secret key must be one or more visible characters")]
    SecretKey,
    #[error("the client cannot be built")]
    Client(#[source] reqwest::Error),
}

pub(super) struct Client {
    http: reqwest::Client,
    /// Without a slash at its end.
    base: String,
}

/// The key stands in the client's headers.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}

/// Names and values of a form or a query, in order.
pub(super) type Fields = Vec<(&'static str, String)>;

impl Client {
    pub(super) fn new(base_url: &str, secret_key: &SecretString) -> Result<Self, BadStripeSettings> {
        let url = Url::parse(base_url).map_err(|_| BadStripeSettings::BaseUrl)?;
        let web = matches!(url.scheme(), "https" | "http") && url.has_host() && url.username().is_empty();
        if !web || url.query().is_some() || url.fragment().is_some() {
            return Err(BadStripeSettings::BaseUrl);
        }
        let http = reqwest::Client::builder()
            .default_headers(headers(secret_key)?)
            // An answer from a proxy or from elsewhere is not the provider's.
            .no_proxy()
            .redirect(Policy::none())
            // The caller repeats, by reference and knowing what it does.
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_WITHIN)
            .pool_idle_timeout(KEEP_IDLE)
            .build()
            .map_err(BadStripeSettings::Client)?;
        Ok(Self { http, base: url.as_str().trim_end_matches('/').to_owned() })
    }

    /// `key` where a repeat could act a second time. What acts on an intent needs none: its state lets it
    /// happen once, and a key would only repeat yesterday's failure.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        key: Option<String>,
        form: &Fields,
        deadline: Deadline,
    ) -> Result<Heard<T>, Failed> {
        let request = self.http.post(format!("{}/v1/{path}", self.base));
        let request = match key {
            Some(key) => request.header(IDEMPOTENCY_KEY, key),
            None => request,
        };
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(encoded(form));
        exchange(request, deadline).await
    }

    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &Fields,
        deadline: Deadline,
    ) -> Result<Heard<T>, Failed> {
        let url = format!("{}/v1/{path}?{}", self.base, encoded(query));
        exchange(self.http.get(url), deadline).await
    }
}

fn headers(secret_key: &SecretString) -> Result<HeaderMap, BadStripeSettings> {
    let key = secret_key.expose_secret();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(BadStripeSettings::SecretKey);
    }
    let mut bearer =
        HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| BadStripeSettings::SecretKey)?;
    bearer.set_sensitive(true);
    Ok([(AUTHORIZATION, bearer), (STRIPE_VERSION, HeaderValue::from_static(API_VERSION))]
        .into_iter()
        .collect())
}

fn encoded(fields: &Fields) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    text.extend_pairs(fields);
    text.finish()
}

async fn exchange<T: DeserializeOwned>(
    request: RequestBuilder,
    deadline: Deadline,
) -> Result<Heard<T>, Failed> {
    if deadline.is_past() {
        return Err(Failed::NotSent(NotSent::DeadlinePassed));
    }
    let heard = timeout_at(deadline.instant(), async {
        let response = request.send().await.map_err(not_heard)?;
        let status = response.status();
        Ok((status, read(response).await?))
    });
    match heard.await {
        Ok(Ok((status, body))) => Heard::read(status, &body),
        Ok(Err(failed)) => Err(failed),
        Err(_) => Err(Failed::Unknown(Doubt::NoAnswerInTime)),
    }
}

/// Only a connection that never came about is a definite no: once there is one, the request may
/// have been written to it.
fn not_heard(error: reqwest::Error) -> Failed {
    let error = error.without_url();
    if error.is_connect() || error.is_builder() {
        Failed::NotSent(NotSent::NotReachable(error.into()))
    } else if error.is_timeout() {
        Failed::Unknown(Doubt::NoAnswerInTime)
    } else {
        Failed::Unknown(Doubt::ConnectionLost(error.into()))
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(cut_short)? {
        if body.len() + chunk.len() > ANSWER_BYTES {
            return Err(Failed::Unknown(Doubt::TooLarge));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn cut_short(error: reqwest::Error) -> Failed {
    Failed::Unknown(Doubt::ConnectionLost(error.without_url().into()))
}
