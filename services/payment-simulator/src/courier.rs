//! Carries notices to the client. One that is not taken is sent again for some minutes; what nobody takes
//! is kept in the journal.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use reqwest::{Client, redirect::Policy};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::{sync::mpsc, time::sleep};
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::{
    clock,
    notice::{Notice, signature},
    simulator::Simulator,
};

/// Sent at once, at most so many.
const AT_ONCE: usize = 32;

/// The client has so long for one answer.
const PATIENCE: Duration = Duration::from_secs(10);

const HEADER: &str = "Keyrack-Signature";

/// Where notices go.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub url: String,
    /// What they are signed with.
    pub secret: SecretString,
}

/// Notices of one event, sent one after the other.
#[derive(Debug)]
pub(crate) struct Job {
    /// Nothing is told before it is on disk.
    pub(crate) sequence: u64,
    pub(crate) notices: Vec<Notice>,
    /// On its way, until it is dropped.
    pub(crate) on_its_way: TaskTrackerToken,
}

/// Runs until the provider is told to stop. What is in the queue then counts as undelivered.
pub(crate) async fn carry(simulator: Simulator, webhook: Webhook, mut queue: mpsc::Receiver<Job>) {
    let http = Client::builder().no_proxy().redirect(Policy::none()).timeout(PATIENCE).build();
    let http = match http {
        Ok(http) => http,
        Err(error) => {
            tracing::error!(%error, "the payment simulator can send no notices");
            return;
        }
    };
    let stopped = simulator.stopped();
    tokio::pin!(stopped);
    let jobs = stream::poll_fn(|context| {
        if stopped.as_mut().poll(context).is_ready() {
            queue.close();
        }
        queue.poll_recv(context)
    });
    jobs.for_each_concurrent(AT_ONCE, |job| deliver(&simulator, &webhook, &http, job)).await;
}

async fn deliver(simulator: &Simulator, webhook: &Webhook, http: &Client, job: Job) {
    let Job { sequence, notices, on_its_way: _until_the_end } = job;
    for notice in notices {
        if simulator.chance().repeats_a_notice() {
            // The copy may arrive before the original, after it, or not at all.
            is_taken(simulator, webhook, http, &notice).await;
        }
        let taken = tokio::select! {
            biased;
            () = simulator.stopped() => false,
            taken = async {
                simulator.is_durable(sequence).await && is_taken(simulator, webhook, http, &notice).await
            } => taken,
        };
        if !taken {
            simulator.undelivered(notice);
        }
    }
}

async fn is_taken(simulator: &Simulator, webhook: &Webhook, http: &Client, notice: &Notice) -> bool {
    let settings = simulator.settings();
    let Ok(body) = serde_json::to_vec(notice) else { return false };
    let mut wait = settings.webhook_backoff;
    for left in (0..settings.webhook_tries).rev() {
        // Each try is signed anew: a client refuses a signature that is minutes old.
        let signed = signature(webhook.secret.expose_secret().as_bytes(), clock::seconds(), &body);
        let request = http.post(&webhook.url).header(HEADER, signed);
        let request = request.header("content-type", "application/json").body(body.clone());
        match request.send().await {
            Ok(response) if response.status().is_success() => return true,
            Ok(response) => tracing::debug!(id = notice.id, status = %response.status(), left, "not taken"),
            Err(error) => tracing::debug!(id = notice.id, error = %error.without_url(), left, "not taken"),
        }
        if left > 0 {
            sleep(wait).await;
            wait = (wait * 2).min(settings.webhook_longest_backoff);
        }
    }
    tracing::warn!(id = notice.id, what = ?notice.what, "a notice was not taken; it is kept as undelivered");
    false
}
