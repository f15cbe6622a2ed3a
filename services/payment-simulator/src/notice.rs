//! What this provider tells by itself: one notice for each thing that happens, signed when it is sent.

use chrono::{DateTime, SecondsFormat};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use uuid::Uuid;

use crate::{
    book::{Book, Entry, Event},
    charge::{Kind, State},
    input::{Amount, Input, ReferenceName},
    method::Method,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum What {
    #[serde(rename = "authorization.succeeded")]
    Authorized,
    #[serde(rename = "authorization.declined")]
    Declined,
    #[serde(rename = "authorization.voided")]
    Voided,
    #[serde(rename = "capture.succeeded")]
    Captured,
    #[serde(rename = "capture.failed")]
    CaptureFailed,
    #[serde(rename = "refund.succeeded")]
    Refunded,
    #[serde(rename = "refund.failed")]
    RefundFailed,
    /// Made by hand: its `reference` is the capture's.
    #[serde(rename = "refund.created")]
    RefundCreated,
}

/// The body of a notice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// The event's. The same fact may be told under several.
    pub id: String,
    #[serde(rename = "type")]
    pub what: What,
    pub reference: ReferenceName,
    /// Refunds only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    #[serde(flatten)]
    pub amount: Amount,
    pub created_at: String,
}

impl Notice {
    fn again(&self) -> Self {
        Self { id: fresh_id(), ..self.clone() }
    }
}

fn fresh_id() -> String {
    format!("evt_{}", Uuid::new_v4().simple())
}

pub(crate) fn rfc3339(at: i64) -> String {
    let at = DateTime::from_timestamp_millis(at).unwrap_or_default();
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`
pub(crate) fn signature(secret: &[u8], unix_seconds: i64, body: &[u8]) -> String {
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    mac.update(unix_seconds.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    format!("t={unix_seconds},v1={}", hex::encode(mac.finalize().into_bytes()))
}

/// What an event that was just entered gives rise to, in the order in which it is sent.
pub(crate) fn of(book: &Book, event: &Event, at: i64) -> Vec<Notice> {
    let (Event::Asked { reference, state, .. } | Event::Settled { reference, state }) = event else {
        return Vec::new();
    };
    let Some(entry) = book.get(reference) else { return Vec::new() };
    let Some(first) = told(book, reference, entry, *state, at) else { return Vec::new() };
    match behind(book, entry) {
        Some(Method::DuplicateWebhooks) => {
            let other = first.again();
            vec![first.clone(), first, other]
        }
        // That of the authorization waits for the capture, and comes after it.
        Some(Method::ReorderedWebhooks) if first.what == What::Authorized => Vec::new(),
        Some(Method::ReorderedWebhooks) if entry.kind() == Kind::Capture => {
            let authorized = entry
                .input
                .as_ref()
                .and_then(Input::of)
                .and_then(|of| notice(What::Authorized, of, book.get(of)?, at));
            [first].into_iter().chain(authorized).collect()
        }
        _ => vec![first],
    }
}

/// The method of the authorization that everything about this entry goes back to.
fn behind(book: &Book, entry: &Entry) -> Option<Method> {
    match &entry.input {
        Some(Input::Refund { capture, .. } | Input::RefundByHand { capture, .. }) => {
            book.get(capture).and_then(|capture| book.method_behind(capture))
        }
        Some(Input::Void { authorization }) => book.get(authorization).and_then(Entry::method),
        _ => book.method_behind(entry),
    }
}

fn told(book: &Book, reference: &ReferenceName, entry: &Entry, state: State, at: i64) -> Option<Notice> {
    let own = |what| notice(what, reference, entry, at);
    let refund = |what, about| {
        Some(Notice { provider_id: Some(provider_id(reference, entry)), ..notice(what, about, entry, at)? })
    };
    match (entry.input.as_ref()?, state) {
        (Input::Authorize { .. }, State::Authorized) => own(What::Authorized),
        (Input::Authorize { .. }, State::Declined) => own(What::Declined),
        (Input::Capture { .. }, State::Captured) => own(What::Captured),
        (Input::Capture { .. }, State::Failed) => own(What::CaptureFailed),
        (Input::Void { authorization }, State::Voided) => {
            notice(What::Voided, authorization, book.get(authorization)?, at)
        }
        (Input::Refund { .. }, State::Refunded) => refund(What::Refunded, reference),
        (Input::Refund { capture, .. }, State::Refused)
            if book.get(capture)?.lost_refunds.contains(reference) =>
        {
            refund(What::RefundFailed, reference)
        }
        (Input::Refund { .. } | Input::RefundByHand { .. }, State::Failed) => {
            refund(What::RefundFailed, reference)
        }
        (Input::RefundByHand { capture, .. }, State::Refunded) => refund(What::RefundCreated, capture),
        _ => None,
    }
}

/// What never had an amount is told nothing of: a void that overtook its authorization.
fn notice(what: What, reference: &ReferenceName, entry: &Entry, at: i64) -> Option<Notice> {
    Some(Notice {
        id: fresh_id(),
        what,
        reference: reference.clone(),
        provider_id: None,
        amount: entry.moved()?.clone(),
        created_at: rfc3339(at),
    })
}

/// The provider's own name for a refund. One that was made by hand has no other.
pub(crate) fn provider_id(reference: &ReferenceName, entry: &Entry) -> String {
    match entry.input {
        Some(Input::RefundByHand { .. }) => reference.to_string(),
        _ => format!("re_{reference}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by another program: `printf '%s' '1700000000.{}' | openssl dgst -sha256 -hmac secret`.
    #[test]
    fn a_signature_is_over_the_time_and_the_body() {
        let signed = signature(b"secret", 1_700_000_000, b"{}");
        let mac = "b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163";
        assert_eq!(signed, format!("t=1700000000,v1={mac}"));
        assert_ne!(signed, signature(b"secret", 1_700_000_001, b"{}").replace("000001", "000000"));
    }
}
