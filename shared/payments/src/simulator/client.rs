//! One exchange with the simulator: what was sent, and what was heard.

use std::{fmt::Display, time::Duration};

use reqwest::{RequestBuilder, Response, StatusCode, Url, redirect::Policy};
use serde::Serialize;
use tokio::time::timeout_at;

use super::answer::{Failed, Reply};
use crate::{
    deadline::Deadline,
    outcome::{Doubt, NotSent},
};

/// The provider's answers have a few hundred bytes.
const ANSWER_BYTES: usize = 64 * 1024;

/// A connection that is not there by then is known not to have carried the call.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// Well below the provider's keep-alive, so that a call is not sent on a connection that the
/// provider is just closing: that would be an unknown outcome for no reason.
const KEEP_IDLE: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum BadProviderUrl {
    #[error("the provider's address must be plain http with a host, such as http://127.0.0.1:8081")]
    NotPlainHttp,
    #[error("the provider's client cannot be built")]
    Client(#[source] reqwest::Error),
}

#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    /// Without a slash at its end.
    base: String,
}

impl Client {
    pub(super) fn new(base_url: &str) -> Result<Self, BadProviderUrl> {
        let url = Url::parse(base_url).map_err(|_| BadProviderUrl::NotPlainHttp)?;
        let plain = url.scheme() == "http" && url.has_host() && url.query().is_none();
        if !plain || url.fragment().is_some() {
            return Err(BadProviderUrl::NotPlainHttp);
        }
        let http = reqwest::Client::builder()
            // An answer from a proxy or from elsewhere is not the provider's.
            .no_proxy()
            .redirect(Policy::none())
            // The caller repeats, by reference and knowing what it does.
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_WITHIN)
            .pool_idle_timeout(KEEP_IDLE)
            .build()
            .map_err(BadProviderUrl::Client)?;
        Ok(Self { http, base: url.as_str().trim_end_matches('/').to_owned() })
    }

    fn url(&self, kind: &str, reference: &str) -> String {
        format!("{}/v1/{kind}/{reference}", self.base)
    }

    pub(super) async fn put(
        &self,
        kind: &str,
        reference: impl Display,
        body: &impl Serialize,
        deadline: Deadline,
    ) -> Result<Reply, Failed> {
        let reference = reference.to_string();
        exchange(self.http.put(self.url(kind, &reference)).json(body), &reference, deadline).await
    }

    pub(super) async fn get(
        &self,
        kind: &str,
        reference: impl Display,
        deadline: Deadline,
    ) -> Result<Reply, Failed> {
        let reference = reference.to_string();
        exchange(self.http.get(self.url(kind, &reference)), &reference, deadline).await
    }

    /// The body of a 200.
    pub(super) async fn page(
        &self,
        kind: &str,
        query: &impl Serialize,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Failed> {
        let request = self.http.get(format!("{}/v1/{kind}", self.base)).query(query);
        match hear(request, deadline).await? {
            (StatusCode::OK, body) => Ok(body),
            (status, _) => Err(Failed::Unknown(Doubt::Status(status.as_u16()))),
        }
    }
}

async fn exchange(request: RequestBuilder, reference: &str, deadline: Deadline) -> Result<Reply, Failed> {
    let (status, body) = hear(request, deadline).await?;
    Reply::read(status, &body, reference)
}

async fn hear(request: RequestBuilder, deadline: Deadline) -> Result<(StatusCode, Vec<u8>), Failed> {
    if deadline.is_past() {
        return Err(Failed::NotSent(NotSent::DeadlinePassed));
    }
    let heard = timeout_at(deadline.instant(), async {
        let response = request.send().await.map_err(not_heard)?;
        let status = response.status();
        Ok((status, read(response).await?))
    });
    heard.await.unwrap_or(Err(Failed::Unknown(Doubt::NoAnswerInTime)))
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
