//! One exchange with the simulator: what was sent, and what was heard.

use std::fmt::Display;

use reqwest::{RequestBuilder, StatusCode, Url};
use serde::Serialize;

use super::answer::{Failed, Reply};
use crate::{deadline::Deadline, exchange, outcome::Doubt};

/// The provider's answers have a few hundred bytes.
const ANSWER_BYTES: usize = 64 * 1024;

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
        let http = exchange::client().build().map_err(BadProviderUrl::Client)?;
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
        match exchange::hear(request, ANSWER_BYTES, deadline).await? {
            (StatusCode::OK, body) => Ok(body),
            (status, _) => Err(Failed::Unknown(Doubt::Status(status.as_u16()))),
        }
    }
}

async fn exchange(request: RequestBuilder, reference: &str, deadline: Deadline) -> Result<Reply, Failed> {
    let (status, body) = exchange::hear(request, ANSWER_BYTES, deadline).await?;
    Reply::read(status, &body, reference)
}
