//! What Stripe tells by itself, read strictly: an amount that is missing, zero or not a whole number is never
//! replaced by one that we know.
//!
//! | event | fact |
//! | --- | --- |
//! | `payment_intent.amount_capturable_updated` | authorized |
//! | `payment_intent.succeeded` | captured |
//! | `payment_intent.payment_failed` | declined |
//! | `payment_intent.canceled` | voided |
//! | `refund.created`, `refund.updated`, `refund.failed`, `charge.refund.updated` | refunded, or that failed, or made by hand |
//! | everything else | not ours |
//!
//! `charge.refunded` is passed over: it tells the sum and not which refund it was, and the `refund.*` of the
//! same refund does. A refund that is on its way tells nothing yet.

use std::time::SystemTime;

use keyrack_domain::{ids::AttemptId, money::Money};
use serde_json::Value;

use super::{
    amount,
    intent::{ATTEMPT, REFERENCE, RETURN},
};
use crate::{
    notice::{Fact, NotAccepted, Notice, NoticeReader},
    outcome::DeclineReason,
    reference::Reference,
    signature::SignatureCheck,
};

/// Longest id, type or code of Stripe's.
const MAX_NAME: usize = 255;

/// Before this version a cancelled authorization told of a refund too, which looks like one by hand.
const REFUNDS_ARE_REFUNDS_SINCE: &str = "2025-03-31";

#[derive(Debug)]
pub struct StripeNotices(SignatureCheck);

impl StripeNotices {
    pub const SIGNATURE_HEADER: &str = "stripe-signature";

    pub const fn new(signatures: SignatureCheck) -> Self {
        Self(signatures)
    }
}

impl NoticeReader for StripeNotices {
    fn signature_header(&self) -> &'static str {
        Self::SIGNATURE_HEADER
    }

    fn read(&self, signature: Option<&[u8]>, body: &[u8], now: SystemTime) -> Result<Notice, NotAccepted> {
        self.0.check(signature, body, now)?;
        let event: Value = serde_json::from_slice(body).map_err(|_| malformed("", "must be JSON"))?;
        let event = Part { value: &event, at: String::new() };
        if event.text("object")? != "event" {
            return Err(malformed("/object", "must be \"event\""));
        }
        let (id, kind) = (event.text("id")?, event.text("type")?);
        Ok(Notice { event: id.to_owned(), kind: kind.to_owned(), fact: fact(&event, kind)? })
    }
}

fn fact(event: &Part<'_>, kind: &str) -> Result<Fact, NotAccepted> {
    let object = || event.part("data")?.part("object");
    match kind {
        "payment_intent.amount_capturable_updated"
        | "payment_intent.succeeded"
        | "payment_intent.payment_failed"
        | "payment_intent.canceled" => of_intent(&object()?, kind),
        "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated" => {
            of_refund(event, &object()?)
        }
        _ => Ok(Fact::NotOurs),
    }
}

fn of_intent(intent: &Part<'_>, kind: &str) -> Result<Fact, NotAccepted> {
    // The same account may take payments for others.
    let Some(text) = intent.metadata(ATTEMPT)? else { return Ok(Fact::NotOurs) };
    let Ok(attempt) = text.parse::<AttemptId>() else {
        return Ok(Fact::OfUnknown { reference: text.to_owned() });
    };
    Ok(match kind {
        "payment_intent.succeeded" => Fact::Captured { attempt, amount: intent.money("amount_received")? },
        "payment_intent.canceled" => Fact::Voided { attempt },
        "payment_intent.payment_failed" => Fact::Declined { attempt, reason: intent.failure()? },
        // It is told too when nothing is left to be captured.
        _ if intent.text("status")? != "requires_capture" => Fact::NotOurs,
        _ => Fact::Authorized { attempt, amount: intent.money("amount_capturable")? },
    })
}

fn of_refund(event: &Part<'_>, refund: &Part<'_>) -> Result<Fact, NotAccepted> {
    let status = refund.text("status")?;
    let is_lost = matches!(status, "failed" | "canceled");
    if !is_lost && status != "succeeded" {
        return Ok(Fact::NotOurs);
    }
    // Who made it has its answer, and the books tell of it.
    if refund.metadata(RETURN)?.is_some() {
        return Ok(Fact::NotOurs);
    }
    let (id, amount) = (refund.text("id")?.to_owned(), refund.money("amount")?);
    let Some(reference) = refund.metadata(REFERENCE)? else {
        return by_hand(event, refund, amount, id, is_lost);
    };
    match reference.parse() {
        Ok(Reference::Refund(refund)) if is_lost => {
            Ok(Fact::RefundFailed { refund, amount, provider_id: Some(id) })
        }
        Ok(Reference::Refund(refund)) => Ok(Fact::Refunded { refund, amount, provider_id: Some(id) }),
        Ok(Reference::Authorization(_) | Reference::Capture(_) | Reference::Void(_)) => {
            Err(malformed("/data/object/metadata/keyrack_reference", "must name a refund"))
        }
        Err(_) => Ok(Fact::OfUnknown { reference: reference.to_owned() }),
    }
}

/// A refund without our metadata. It names the payment by Stripe's id alone.
fn by_hand(
    event: &Part<'_>,
    refund: &Part<'_>,
    amount: Money,
    id: String,
    is_lost: bool,
) -> Result<Fact, NotAccepted> {
    if event.text("api_version")? < REFUNDS_ARE_REFUNDS_SINCE {
        return Err(malformed("/api_version", "must be 2025-03-31.basil or later, where refunds are told"));
    }
    // Of a charge that no intent of ours made, or of money that has stayed.
    if is_lost || refund.value.get("payment_intent").is_none_or(Value::is_null) {
        return Ok(Fact::NotOurs);
    }
    let payment = refund.text("payment_intent")?.to_owned();
    Ok(Fact::RefundedByHandOf { payment, amount, provider_id: id })
}

/// A JSON object, and the pointer to it.
struct Part<'v> {
    value: &'v Value,
    at: String,
}

impl<'v> Part<'v> {
    fn part(&self, member: &str) -> Result<Part<'v>, NotAccepted> {
        let at = format!("{}/{member}", self.at);
        match self.value.get(member).filter(|value| value.is_object()) {
            Some(value) => Ok(Part { value, at }),
            None => Err(malformed(&at, "must be an object")),
        }
    }

    fn text(&self, member: &str) -> Result<&'v str, NotAccepted> {
        let is_name =
            |text: &&str| (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        let text = self.value.get(member).and_then(Value::as_str).filter(is_name);
        let rule = "must be 1 to 255 visible ASCII characters";
        text.ok_or_else(|| malformed(&format!("{}/{member}", self.at), rule))
    }

    fn metadata(&self, key: &str) -> Result<Option<&'v str>, NotAccepted> {
        let metadata = self.part("metadata")?;
        if metadata.value.get(key).is_none() { Ok(None) } else { metadata.text(key).map(Some) }
    }

    /// More than zero, in the object's currency.
    fn money(&self, member: &str) -> Result<Money, NotAccepted> {
        let at = |member| format!("{}/{member}", self.at);
        let rule = "must be a whole number, more than zero";
        let units = self.value.get(member).and_then(Value::as_u64).filter(|units| *units > 0);
        let units = units.ok_or_else(|| malformed(&at(member), rule))?;
        amount::read(units, self.text("currency")?).map_err(|error| match error {
            amount::Unreadable::Currency => malformed(&at("currency"), &error.to_string()),
            amount::Unreadable::Amount(_) => malformed(&at(member), &error.to_string()),
        })
    }

    fn failure(&self) -> Result<DeclineReason, NotAccepted> {
        let error = self.part("last_payment_error")?;
        let word = |member| error.value.get(member).and_then(Value::as_str);
        let word = word("decline_code").or_else(|| word("code")).unwrap_or_default();
        Ok(DeclineReason::from_provider(word))
    }
}

fn malformed(at: &str, why: &str) -> NotAccepted {
    NotAccepted::Malformed { at: at.to_owned(), why: why.to_owned() }
}
