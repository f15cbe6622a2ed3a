//! How a call gets to one of the processes and its answer back, where it does.

use std::time::Duration;

use keyrack_model::Call;
use keyrack_testkit::Fault;

use super::{
    installation::Installation,
    lane::{Lane, Sent},
    wire::{Request, Told, request},
};
use crate::random::Random;

/// Of one call that is not answered, with a pause after each: longer than a process takes to start again.
const TRIES: usize = 600;
const PAUSE: Duration = Duration::from_millis(50);
/// Of one try. Longer than every bound of the product.
pub(super) const SILENCE: Duration = Duration::from_secs(30);

impl Lane {
    /// Until there is an answer, or the caller gives up.
    pub(super) async fn insist(&self, at: &Installation, call: Call, chance: &mut Random) -> Option<Sent> {
        let request = request(&call, &self.code, &self.codes, &self.names)?;
        let mut in_doubt = false;
        for attempt in 0..TRIES {
            let which = chance.below(2);
            let key = request.key.clone().unwrap_or_else(|| format!("unkeyed-{}", chance.below(1 << 40)));
            if attempt == 0 && chance.one_in(5) {
                let lost =
                    if chance.one_in(3) { Fault::lose_request(&key) } else { Fault::lose_answer(&key) };
                drop(at.api(which).arm(lost));
            }
            let sending = Request { key: Some(key), ..clone(&request) };
            match self.send(at, which, &sending).await {
                Some(told) if told.status < 500 && told.code() != "OPERATION_IN_PROGRESS" => {
                    return Some(Sent { call, in_doubt, told: Some(told) });
                }
                _ => in_doubt = true,
            }
            if attempt == 0 && self.unheard.len() < 2 && chance.one_in(4) {
                return Some(Sent { call, in_doubt, told: None });
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("no answer to {call:?}")
    }

    pub(super) async fn send(&self, at: &Installation, which: usize, request: &Request) -> Option<Told> {
        let mut sending = self
            .http
            .request(request.method.clone(), url(at, which, &request.path))
            .bearer_auth(&self.tokens[&request.who]);
        if let Some(key) = &request.key {
            sending = sending.header("Idempotency-Key", key);
        }
        if let Some(version) = request.if_match {
            sending = sending.header("If-Match", version.to_string());
        }
        if !request.json.is_null() {
            sending = sending.json(&request.json);
        }
        let answer = sending.send().await.ok()?;
        let status = answer.status().as_u16();
        let replayed = answer.headers().contains_key("idempotency-replayed");
        let body = serde_json::from_str(&answer.text().await.ok()?).ok()?;
        Some(Told { status, replayed, body })
    }
}

pub(super) fn url(at: &Installation, which: usize, path: &str) -> String {
    format!("http://{}{path}", at.api(which).address())
}

fn clone(request: &Request) -> Request {
    Request {
        who: request.who,
        method: request.method.clone(),
        path: request.path.clone(),
        key: None,
        if_match: request.if_match,
        json: request.json.clone(),
    }
}
