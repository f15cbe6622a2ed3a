//! Stripe's events, in the shape that its documents show, with invented ids.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use keyrack_domain::ids::AttemptId;
use keyrack_payments::{
    DeclineReason, Fact, ForgetfulIds, NotAccepted, Notice, NoticeReader, ProviderIds, Reference, RefundTry,
    SignatureCheck, StripeNotices, sign,
};
use serde_json::{Value, json};

use super::recorded::money;

const ATTEMPT: &str = "att_000000cc018f3a6e4c007d3c9f4b2a1e5d6c7b80";
const SECRET: &str = "whsec_of_nobody";

macro_rules! event {
    ($name:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!("../stripe_events/", $name, ".json")))
            .expect("an event")
    };
}

fn attempt() -> AttemptId {
    ATTEMPT.parse().expect("an attempt")
}

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_000_005)
}

fn reader() -> StripeNotices {
    let signatures = SignatureCheck::new(vec![SECRET.into()], Duration::from_secs(300));
    StripeNotices::new(signatures.expect("settings"))
}

fn read(event: &Value) -> Result<Notice, NotAccepted> {
    let body = event.to_string();
    let signature = sign(&SECRET.into(), now(), body.as_bytes());
    reader().read(Some(signature.as_bytes()), body.as_bytes(), now())
}

fn fact(event: &Value) -> Fact {
    read(event).expect("is read").fact
}

/// Of the event with this in place of what stands at the pointer; `null` takes it away.
fn fault(mut event: Value, at: &str, value: Value) -> String {
    *event.pointer_mut(at).expect("is there") = value;
    match read(&event) {
        Err(NotAccepted::Malformed { at, .. }) => at,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_event_of_a_payment_is_its_fact() {
    let (attempt, price) = (attempt(), money("14560.00", "INR"));
    let authorized = event!("payment_intent.amount_capturable_updated");
    assert_eq!(fact(&authorized), Fact::Authorized { attempt, amount: price });
    assert_eq!(fact(&event!("payment_intent.succeeded")), Fact::Captured { attempt, amount: price });
    let reason = DeclineReason::from_provider("insufficient_funds");
    assert_eq!(fact(&event!("payment_intent.payment_failed")), Fact::Declined { attempt, reason });
    assert_eq!(fact(&event!("payment_intent.canceled")), Fact::Voided { attempt });
    let notice = read(&authorized).expect("is read");
    assert_eq!(notice.event, "evt_3Sample01");
    assert_eq!(notice.kind, "payment_intent.amount_capturable_updated");
}

#[test]
fn each_event_of_a_refund_is_its_fact() {
    let refund = RefundTry { attempt: attempt(), number: 1, try_number: 2 };
    let (amount, provider_id) = (money("5600.50", "INR"), Some("re_3SampleRefund01".to_owned()));
    let arrived = Fact::Refunded { refund, amount, provider_id: provider_id.clone() };
    assert_eq!(fact(&event!("refund.created")), arrived);
    assert_eq!(fact(&event!("refund.updated")), arrived);
    let failed = Fact::RefundFailed { refund, amount, provider_id };
    assert_eq!(fact(&event!("refund.failed")), failed);
    assert_eq!(fact(&event!("charge.refund.updated")), failed);
    for status in ["pending", "requires_action"] {
        let mut event = event!("refund.created");
        event["data"]["object"]["status"] = json!(status);
        assert_eq!(fact(&event), Fact::NotOurs, "{status} says nothing yet");
    }
}

#[tokio::test]
async fn a_refund_by_hand_is_found_by_the_id_of_its_payment() {
    let notice = read(&event!("refund.created.by_hand")).expect("is read");
    let amount = money("5600.50", "INR");
    let provider_id = "re_3SampleRefund02".to_owned();
    let payment = "pi_3SampleIntent01".to_owned();
    let of_payment =
        Fact::RefundedByHandOf { payment: payment.clone(), amount, provider_id: provider_id.clone() };
    assert_eq!(notice.fact, of_payment);

    let ids = ForgetfulIds::default();
    let unknown = notice.clone().with_our_attempt(&ids).await;
    assert_eq!(unknown.fact, Fact::OfUnknown { reference: payment.clone() });
    ids.keep(Reference::Authorization(attempt()), &payment.parse().expect("an id")).await;
    let known = notice.with_our_attempt(&ids).await;
    assert_eq!(known.fact, Fact::RefundedByHand { attempt: attempt(), amount, provider_id });
}

#[test]
fn what_we_do_not_act_on_is_not_ours() {
    assert_eq!(fact(&event!("charge.refunded")), Fact::NotOurs, "refund.created says which it was");
    let mut of_somebody = event!("payment_intent.succeeded");
    of_somebody["data"]["object"]["metadata"] = json!({"order": "7"});
    assert_eq!(fact(&of_somebody), Fact::NotOurs);
    let mut nothing_left = event!("payment_intent.amount_capturable_updated");
    nothing_left["data"]["object"]["status"] = json!("succeeded");
    assert_eq!(fact(&nothing_left), Fact::NotOurs);
    let mut by_hand_and_failed = event!("refund.created.by_hand");
    by_hand_and_failed["data"]["object"]["status"] = json!("failed");
    assert_eq!(fact(&by_hand_and_failed), Fact::NotOurs);
    let mut a_return = event!("refund.created.by_hand");
    a_return["data"]["object"]["metadata"] = json!({"keyrack_return": "ch_3SampleCharge02"});
    assert_eq!(fact(&a_return), Fact::NotOurs, "the comparison has made it and finds it");
    let dispute = json!({"id": "evt_1", "object": "event", "type": "charge.dispute.created"});
    assert_eq!(fact(&dispute), Fact::NotOurs);
    let mut strange = event!("payment_intent.succeeded");
    strange["data"]["object"]["metadata"]["keyrack_attempt"] = json!("att_7");
    assert_eq!(fact(&strange), Fact::OfUnknown { reference: "att_7".to_owned() });
}

#[test]
fn an_amount_is_never_replaced_by_one_that_we_know() {
    let at = "/data/object/amount_received";
    for amount in [json!(null), json!(0), json!(-1), json!(1.5), json!("1456000"), json!(u64::MAX)] {
        assert_eq!(fault(event!("payment_intent.succeeded"), at, amount), at);
    }
    let at = "/data/object/amount_capturable";
    assert_eq!(fault(event!("payment_intent.amount_capturable_updated"), at, json!(0)), at);
    let at = "/data/object/amount";
    assert_eq!(fault(event!("refund.created"), at, json!(null)), at);
    for currency in [json!("INR"), json!("ugx"), json!(null), json!("isk ")] {
        let at = "/data/object/currency";
        assert_eq!(fault(event!("payment_intent.succeeded"), at, currency), at);
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let succeeded = || event!("payment_intent.succeeded");
    for at in ["/id", "/type", "/data/object/metadata", "/data/object", "/data", "/object"] {
        assert_eq!(fault(succeeded(), at, json!(null)), at);
    }
    let at = "/data/object/last_payment_error";
    assert_eq!(fault(event!("payment_intent.payment_failed"), at, json!(null)), at);
    let at = "/data/object/metadata/keyrack_reference";
    assert_eq!(fault(event!("refund.created"), at, json!(format!("{ATTEMPT}-capture"))), at);
}

/// An endpoint of an older version tells of a cancelled authorization as of a refund.
#[test]
fn a_refund_by_hand_is_not_believed_from_an_older_version() {
    for version in [json!("2025-02-24.acacia"), json!("2017-08-15"), json!(null)] {
        assert_eq!(fault(event!("refund.created.by_hand"), "/api_version", version), "/api_version");
    }
}

#[test]
fn an_event_of_another_secret_or_time_is_not_authentic() {
    let body = event!("payment_intent.succeeded").to_string();
    let read = |signature: Option<String>, at| {
        reader().read(signature.as_deref().map(str::as_bytes), body.as_bytes(), at)
    };
    let signed = |secret: &str| Some(sign(&secret.into(), now(), body.as_bytes()));
    assert!(read(signed(SECRET), now()).is_ok());
    assert_eq!(reader().signature_header(), "stripe-signature");
    for (signature, at) in [
        (None, now()),
        (signed("whsec_of_somebody"), now()),
        (signed(SECRET), now() + Duration::from_secs(301)),
    ] {
        assert_eq!(read(signature, at), Err(NotAccepted::NotAuthentic));
    }
}
