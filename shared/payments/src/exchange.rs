//! One exchange with a provider over HTTP: what was sent, and what was heard, within a deadline and a bound.

use std::time::Duration;

use reqwest::{ClientBuilder, RequestBuilder, Response, StatusCode, redirect::Policy};
use tokio::time::timeout_at;

use crate::{
    deadline::Deadline,
    outcome::{Doubt, NotSent, Refusal},
};

/// A connection that is not there by then is known not to have carried the call.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// Well below a provider's keep-alive, so that a call is not sent on a connection that the provider is just
/// closing: that would be an unknown outcome for no reason.
const KEEP_IDLE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) enum Failed {
    Refused(Refusal),
    NotSent(NotSent),
    Unknown(Doubt),
}

pub(crate) fn client() -> ClientBuilder {
    reqwest::Client::builder()
        // An answer from a proxy or from elsewhere is not the provider's.
        .no_proxy()
        .redirect(Policy::none())
        // The caller repeats, by reference and knowing what it does.
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_WITHIN)
        .pool_idle_timeout(KEEP_IDLE)
}

/// The whole answer, of at most so many bytes.
pub(crate) async fn hear(
    request: RequestBuilder,
    most_bytes: usize,
    deadline: Deadline,
) -> Result<(StatusCode, Vec<u8>), Failed> {
    if deadline.is_past() {
        return Err(Failed::NotSent(NotSent::DeadlinePassed));
    }
    let heard = timeout_at(deadline.instant(), async {
        let response = request.send().await.map_err(not_heard)?;
        let status = response.status();
        Ok((status, read(response, most_bytes).await?))
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

async fn read(mut response: Response, most_bytes: usize) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(cut_short)? {
        if body.len() + chunk.len() > most_bytes {
            return Err(Failed::Unknown(Doubt::TooLarge));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn cut_short(error: reqwest::Error) -> Failed {
    Failed::Unknown(Doubt::ConnectionLost(error.without_url().into()))
}
