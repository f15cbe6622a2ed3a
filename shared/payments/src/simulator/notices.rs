//! What the simulator tells by itself, read strictly: an amount that is missing, zero or not a whole number of
//! minor units is never replaced by one that we know.

use std::time::SystemTime;

use keyrack_domain::money::{Currency, Money};
use serde_json::{Map, Value};

use crate::{
    minor_units::MinorUnits,
    notice::{Fact, NotAccepted, Notice, NoticeReader},
    outcome::DeclineReason,
    reference::Reference,
    signature::SignatureCheck,
};

/// Longest id, type or reference of the provider's.
const MAX_NAME: usize = 255;

/// `{"id", "type", "reference", "provider_id"?, "amount", "currency", "created_at"}`, the amount in minor units.
#[derive(Debug)]
pub struct SimulatorNotices(SignatureCheck);

impl SimulatorNotices {
    pub const SIGNATURE_HEADER: &str = "keyrack-signature";

    pub const fn new(signatures: SignatureCheck) -> Self {
        Self(signatures)
    }
}

impl NoticeReader for SimulatorNotices {
    fn signature_header(&self) -> &'static str {
        Self::SIGNATURE_HEADER
    }

    fn read(&self, signature: Option<&[u8]>, body: &[u8], now: SystemTime) -> Result<Notice, NotAccepted> {
        self.0.check(signature, body, now)?;
        let body: Map<String, Value> =
            serde_json::from_slice(body).map_err(|_| malformed("", "must be a JSON object"))?;
        let body = Body(body);
        let (event, kind) = (body.name("id")?, body.name("type")?);
        let fact = body.fact(kind)?;
        Ok(Notice { event: event.to_owned(), kind: kind.to_owned(), fact })
    }
}

struct Body(Map<String, Value>);

/// The types that we act on.
const KINDS: [&str; 8] = [
    "authorization.succeeded",
    "authorization.declined",
    "authorization.voided",
    "capture.succeeded",
    "capture.failed",
    "refund.succeeded",
    "refund.failed",
    "refund.created",
];

impl Body {
    fn fact(&self, kind: &str) -> Result<Fact, NotAccepted> {
        if !KINDS.contains(&kind) {
            return Ok(Fact::NotOurs);
        }
        let text = self.name("reference")?;
        let Ok(reference) = text.parse() else {
            return Ok(Fact::OfUnknown { reference: text.to_owned() });
        };
        let reason = DeclineReason::from_provider;
        Ok(match (kind, reference) {
            ("authorization.succeeded", Reference::Authorization(attempt)) => {
                Fact::Authorized { attempt, amount: self.amount()? }
            }
            ("authorization.declined", Reference::Authorization(attempt)) => {
                Fact::Declined { attempt, reason: reason("declined") }
            }
            ("authorization.voided", Reference::Authorization(attempt) | Reference::Void(attempt)) => {
                Fact::Voided { attempt }
            }
            ("capture.succeeded", Reference::Capture(attempt)) => {
                Fact::Captured { attempt, amount: self.amount()? }
            }
            ("capture.failed", Reference::Capture(attempt)) => {
                Fact::Declined { attempt, reason: reason("capture_failed") }
            }
            ("refund.succeeded", Reference::Refund(refund)) => {
                Fact::Refunded { refund, amount: self.amount()?, provider_id: self.provider_id()? }
            }
            ("refund.failed", Reference::Refund(refund)) => {
                Fact::RefundFailed { refund, amount: self.amount()?, provider_id: self.provider_id()? }
            }
            // Made by hand, of a capture of ours: its id at the provider is all that it is known by.
            ("refund.created", Reference::Capture(attempt)) => {
                let (amount, provider_id) = (self.amount()?, self.name("provider_id")?.to_owned());
                Fact::RefundedByHand { attempt, amount, provider_id }
            }
            _ => return Err(malformed("/reference", "is not the reference of such a call")),
        })
    }

    fn provider_id(&self) -> Result<Option<String>, NotAccepted> {
        let given = self.0.get("provider_id").is_some_and(|id| !id.is_null());
        if given { self.name("provider_id").map(|id| Some(id.to_owned())) } else { Ok(None) }
    }

    /// More than zero, whole minor units: a number with a point or an exponent is none.
    fn amount(&self) -> Result<Money, NotAccepted> {
        let currency = self.name("currency")?;
        let currency: Currency =
            currency.parse().map_err(|_| malformed("/currency", "must be the code of a currency"))?;
        let rule = "must be a whole number of minor units, more than zero";
        let units = self.0.get("amount").and_then(Value::as_u64).filter(|units| *units > 0);
        let units = units.ok_or_else(|| malformed("/amount", rule))?;
        MinorUnits::read(units, currency).map_err(|error| malformed("/amount", &error.to_string()))
    }

    fn name(&self, member: &str) -> Result<&str, NotAccepted> {
        let is_name =
            |text: &&str| (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        let text = self.0.get(member).and_then(Value::as_str).filter(is_name);
        text.ok_or_else(|| malformed(&format!("/{member}"), "must be 1 to 255 visible ASCII characters"))
    }
}

fn malformed(at: &str, why: &str) -> NotAccepted {
    NotAccepted::Malformed { at: at.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use keyrack_domain::ids::{AttemptId, HotelId};
    use proptest::prelude::*;
    use secrecy::SecretString;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::{reference::RefundTry, signature::sign};

    const NAME: &str = "att_000000cc00000000000000000000000000000007";

    fn secret() -> SecretString {
        "whsec_1".to_owned().into()
    }

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_768_032_000)
    }

    fn read(body: &[u8]) -> Result<Notice, NotAccepted> {
        let check = SignatureCheck::new(vec![secret()], Duration::from_secs(300)).expect("fine settings");
        let signature = sign(&secret(), now(), body);
        SimulatorNotices::new(check).read(Some(signature.as_bytes()), body, now())
    }

    fn told(kind: &str, call: &str, amount: &Value) -> Value {
        json!({
            "id": "evt_1", "type": kind, "reference": format!("{NAME}-{call}"), "provider_id": "re_123",
            "amount": amount, "currency": "INR", "created_at": "2026-01-10T06:00:00Z",
        })
    }

    fn fact(kind: &str, call: &str) -> Result<Fact, NotAccepted> {
        read(told(kind, call, &json!(1_456_000)).to_string().as_bytes()).map(|notice| notice.fact)
    }

    fn attempt() -> AttemptId {
        AttemptId::new(HotelId(204), Uuid::from_u128(7))
    }

    #[test]
    fn every_type_is_read_as_what_it_says() {
        let attempt = attempt();
        let amount = Money::parse("14560.00", "INR".parse().expect("a currency")).expect("money");
        let refund = RefundTry { attempt, number: 1, try_number: 2 };
        let provider_id = Some("re_123".to_owned());
        let reason = DeclineReason::from_provider;
        for (kind, call, expected) in [
            ("authorization.succeeded", "auth", Fact::Authorized { attempt, amount }),
            ("authorization.declined", "auth", Fact::Declined { attempt, reason: reason("declined") }),
            ("authorization.voided", "auth", Fact::Voided { attempt }),
            ("authorization.voided", "void", Fact::Voided { attempt }),
            ("capture.succeeded", "capture", Fact::Captured { attempt, amount }),
            ("capture.failed", "capture", Fact::Declined { attempt, reason: reason("capture_failed") }),
            (
                "refund.succeeded",
                "refund-1-2",
                Fact::Refunded { refund, amount, provider_id: provider_id.clone() },
            ),
            ("refund.failed", "refund-1-2", Fact::RefundFailed { refund, amount, provider_id }),
            (
                "refund.created",
                "capture",
                Fact::RefundedByHand { attempt, amount, provider_id: "re_123".to_owned() },
            ),
            ("customer.created", "auth", Fact::NotOurs),
        ] {
            assert_eq!(fact(kind, call), Ok(expected), "{kind} {call}");
        }
    }

    #[test]
    fn a_notice_about_another_call_than_its_type_has_is_malformed() {
        for (kind, call) in [
            ("capture.succeeded", "auth"),
            ("authorization.succeeded", "capture"),
            ("authorization.voided", "capture"),
            ("refund.succeeded", "capture"),
            ("refund.created", "refund-1-1"),
        ] {
            let refused = fact(kind, call);
            let at_reference =
                matches!(&refused, Err(NotAccepted::Malformed { at, .. }) if at == "/reference");
            assert!(at_reference, "{kind} {call}: {refused:?}");
        }
    }

    #[test]
    fn b059_an_amount_that_is_none_is_never_made_up() {
        let kinds = [
            ("capture.succeeded", "capture"),
            ("authorization.succeeded", "auth"),
            ("refund.succeeded", "refund-1-1"),
            ("refund.failed", "refund-1-1"),
            ("refund.created", "capture"),
        ];
        let amounts =
            ["null", "0", "-1", "\"abc\"", "\"1456000\"", "1456000.0", "1.456e6", "18446744073709551616"];
        for (kind, call) in kinds {
            let at_amount = |body: &str| match read(body.as_bytes()) {
                Err(NotAccepted::Malformed { at, .. }) => at == "/amount",
                _ => false,
            };
            let good = told(kind, call, &json!(1_456_000)).to_string();
            for amount in amounts {
                let body = good.replace("\"amount\":1456000", &format!("\"amount\":{amount}"));
                assert!(at_amount(&body), "{kind} {amount}");
            }
            let mut missing = told(kind, call, &Value::Null);
            missing.as_object_mut().expect("an object").remove("amount");
            assert!(at_amount(&missing.to_string()), "{kind} without an amount");
        }
    }

    #[test]
    fn b099_b105_amounts_are_exact_in_their_own_minor_unit() {
        for (units, currency, text) in [
            (9_007_199_254_740_993_u64, "EUR", "90071992547409.93"),
            (1_456_010, "INR", "14560.10"),
            (26_400, "JPY", "26400"),
            (1_500, "KWD", "1.500"),
        ] {
            let mut body = told("capture.succeeded", "capture", &json!(units));
            body["currency"] = json!(currency);
            let notice = read(body.to_string().as_bytes()).expect("a notice");
            let amount = notice.fact.amount().expect("an amount");
            assert_eq!((amount.to_string().as_str(), amount.currency().code()), (text, currency));
        }
    }

    #[test]
    fn b035_what_is_not_of_our_form_is_of_unknown() {
        for reference in ["re_123", "att_x-capture", &format!("{NAME}-refund-01-1")] {
            let mut body = told("capture.succeeded", "capture", &json!(1));
            body["reference"] = json!(reference);
            let read = read(body.to_string().as_bytes()).map(|notice| notice.fact);
            assert_eq!(read, Ok(Fact::OfUnknown { reference: reference.to_owned() }));
        }
    }

    #[test]
    fn names_are_bounded_and_visible() {
        let long = "x".repeat(256);
        for member in ["id", "type", "reference", "currency"] {
            for wrong in [json!(null), json!(7), json!(""), json!("a b"), json!("é"), json!(long)] {
                let mut body = told("capture.succeeded", "capture", &json!(1));
                body[member] = wrong;
                let refused = read(body.to_string().as_bytes()).expect_err("malformed");
                assert!(matches!(&refused, NotAccepted::Malformed { at, .. } if *at == format!("/{member}")));
            }
        }
    }

    #[test]
    fn an_unsigned_body_is_not_looked_at() {
        let check = SignatureCheck::new(vec![secret()], Duration::from_secs(300)).expect("fine settings");
        assert_eq!(SimulatorNotices::new(check).read(None, b"{", now()), Err(NotAccepted::NotAuthentic));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(read(&body).is_err());
        }

        #[test]
        fn no_json_makes_the_reader_panic(kind in "[a-z.]{0,24}", call in "[a-z0-9-]{0,16}", amount in any::<f64>()) {
            let kind = if kind.len() % 2 == 0 { "capture.succeeded".to_owned() } else { kind };
            let read = read(told(&kind, &call, &json!(amount)).to_string().as_bytes());
            let is_capture = matches!(read, Ok(Notice { fact: Fact::Captured { .. }, .. }));
            prop_assert!(!is_capture);
        }
    }
}
