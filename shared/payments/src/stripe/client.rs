//! One exchange with Stripe: what was sent, and what was heard.

use std::fmt;

use reqwest::{
    RequestBuilder, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;

use super::answer::{Failed, Heard};
use crate::{deadline::Deadline, exchange};

/// The calls and answers that this adapter was written for. From this version on a cancelled
/// authorization makes no refund object, which would look like a refund by hand.
pub const API_VERSION: &str = "2025-03-31.basil";

/// A hundred payments of a list, with everything that Stripe tells about each.
const ANSWER_BYTES: usize = 2 * 1024 * 1024;

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
        let http = exchange::client().default_headers(headers(secret_key)?).build();
        let http = http.map_err(BadStripeSettings::Client)?;
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
    let (status, body) = exchange::hear(request, ANSWER_BYTES, deadline).await?;
    Heard::read(status, &body)
}
