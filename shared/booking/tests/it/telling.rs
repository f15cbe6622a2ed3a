//! The provider tells something, signed as it signs.

use std::time::SystemTime;

use keyrack_booking::{
    Desk,
    receive_notice::{self, Receipt, ReceiveNoticeError, Received},
};
use keyrack_domain::{ids::AttemptId, notice::ProviderName};
use keyrack_payments::sign;
use serde_json::{Value, json};

use crate::desk_world::{DeskWorld, SECRET};

/// 14,560.00 in paise.
pub(crate) const PAISE: u64 = 1_456_000;

/// A notice about one call of an attempt.
pub(crate) fn notice(event: &str, kind: &str, attempt: AttemptId, call: &str, amount: u64) -> Value {
    json!({
        "id": event, "type": kind, "reference": format!("{attempt}-{call}"), "amount": amount, "currency": "INR",
        "created_at": "2026-01-10T06:00:00Z",
    })
}

pub(crate) fn captured(event: &str, attempt: AttemptId) -> Value {
    notice(event, "capture.succeeded", attempt, "capture", PAISE)
}

/// What it is answered, without waiting for the resolver.
async fn try_tell(desk: &Desk, body: &Value) -> Result<Receipt, ReceiveNoticeError> {
    let body = body.to_string();
    #[expect(clippy::disallowed_methods, reason = "a signature is made in real time")]
    let signature = sign(&SECRET.into(), SystemTime::now(), body.as_bytes());
    let (signature, body) = (Some(signature.as_bytes()), body.as_bytes());
    receive_notice::run(desk, &ProviderName::SIMULATOR, signature, body, "req-1".to_owned()).await
}

/// Told, and looked into by the resolver where that is called.
pub(crate) async fn tell(desk: &Desk, body: &Value) -> Received {
    let receipt = try_tell(desk, body).await.expect("a receipt");
    if let Some(follow_up) = receipt.follow_up {
        follow_up.await.expect("the resolver ends");
    }
    receipt.received
}

impl DeskWorld {
    pub(crate) async fn try_tell(&self, body: &Value) -> Result<Receipt, ReceiveNoticeError> {
        try_tell(&self.desk, body).await
    }

    pub(crate) async fn tell(&self, body: &Value) -> Received {
        tell(&self.desk, body).await
    }

    /// `(event, outcome, finding)` of what is recorded, in the order of arrival.
    pub(crate) async fn recorded(&self) -> Vec<(String, String, Option<String>)> {
        let query = "SELECT event_id, outcome, finding FROM provider_events ORDER BY notice_id";
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let rows = self.database().rows(query).await;
        let row = |row: &Value| {
            let required = |name: &str| text(&row[name]).expect("text");
            (required("event_id"), required("outcome"), text(&row["finding"]))
        };
        rows.iter().map(row).collect()
    }

    /// How many events of that type were told.
    pub(crate) async fn told(&self, event: &str) -> i64 {
        self.count(&format!("outbox WHERE type = '{event}'")).await
    }
}
