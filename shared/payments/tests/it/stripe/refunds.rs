//! Refunds over the wire, by shapes that Stripe documents.

use keyrack_payments::{Doubt, LookUp, PaymentProvider, Reference, Refund, RefundTry, Refusal, Standing};
use serde_json::{Value, json};

use super::recorded::{
    Asked, a_minute_later, against, attempt, but, complaint, intent, list, money, price, refund, soon,
};

const TRY: u32 = 2;

fn name() -> RefundTry {
    RefundTry { attempt: attempt(), number: 1, try_number: TRY }
}

fn reference() -> String {
    Reference::from(name()).to_string()
}

/// The intent, whose id is not known, with these refunds; and what a new one is answered with.
async fn given_back(earlier: &[Value], answer: Option<(u16, Value)>) -> (Refund, Vec<Asked>) {
    let taken = intent("succeeded");
    let mut answers = vec![list([taken.clone()], false), (200, taken), list(earlier.to_vec(), false)];
    answers.extend(answer);
    against(answers, a_minute_later, async |provider| provider.refund(name(), price(), soon()).await).await
}

#[tokio::test]
async fn a_refund_is_sent_under_its_own_name() {
    let (answer, asked) = given_back(&[], Some((200, refund(&reference(), "succeeded")))).await;
    assert!(matches!(answer, Refund::Refunded), "{answer:?}");
    let sent = &asked[3];
    assert_eq!(sent.call, "POST /v1/refunds");
    assert_eq!(sent.headers.get("idempotency-key"), Some(&reference()));
    for (name, value) in [
        ("payment_intent", "pi_3SampleIntent01"),
        ("amount", "1456000"),
        ("metadata[keyrack_attempt]", &attempt().to_string()),
        ("metadata[keyrack_reference]", &reference()),
    ] {
        assert_eq!(sent.field(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn a_refund_that_is_pending_has_not_arrived_and_is_not_sent_again() {
    for status in ["pending", "requires_action", "of_next_year"] {
        let (answer, _) = given_back(&[], Some((200, refund(&reference(), status)))).await;
        assert!(matches!(answer, Refund::Unknown(Doubt::Undecided)), "{status}: {answer:?}");
        let (answer, _) = given_back(&[refund(&reference(), status)], None).await;
        assert!(matches!(answer, Refund::Unknown(Doubt::Undecided)), "{status}: {answer:?}");
    }
    let (answer, _) = given_back(&[refund(&reference(), "succeeded")], None).await;
    assert!(matches!(answer, Refund::Refunded), "{answer:?}");
}

#[tokio::test]
async fn a_refund_that_failed_is_a_definite_failure_of_its_try() {
    for status in ["failed", "canceled"] {
        let (answer, _) = given_back(&[], Some((200, refund(&reference(), status)))).await;
        assert!(matches!(answer, Refund::Refused(Refusal::RefundFailed)), "{status}: {answer:?}");
        // The next try may give the same money back.
        let earlier = RefundTry { try_number: TRY - 1, ..name() };
        let lost = refund(&Reference::from(earlier).to_string(), status);
        let (answer, _) = given_back(&[lost], Some((200, refund(&reference(), "succeeded")))).await;
        assert!(matches!(answer, Refund::Refunded), "{status}: {answer:?}");
    }
}

#[tokio::test]
async fn no_refund_exceeds_what_was_taken_by_whomever_it_was_made() {
    let by_hand = but(refund("", "pending"), &json!({"id": "re_2", "amount": 1, "metadata": {}}));
    let (answer, _) = given_back(&[by_hand], None).await;
    assert!(matches!(answer, Refund::Refused(Refusal::ExceedsWhatIsThere)), "{answer:?}");
    let race = complaint(400, "invalid_request_error", "charge_already_refunded");
    let (answer, _) = given_back(&[], Some(race)).await;
    assert!(matches!(answer, Refund::Refused(Refusal::ExceedsWhatIsThere)), "{answer:?}");
    let other = but(refund(&reference(), "succeeded"), &json!({"amount": 1}));
    let (answer, _) = given_back(&[other], None).await;
    assert!(matches!(answer, Refund::Refused(Refusal::ReferenceTaken)), "{answer:?}");
}

/// Sent again and again it would never get anywhere, and nobody would look at it.
#[tokio::test]
async fn a_refund_that_stripe_cannot_make_exactly_is_a_definite_failure() {
    let (answer, _) = against(vec![], a_minute_later, async |provider| {
        provider.refund(name(), money("0.005", "KWD"), soon()).await
    })
    .await;
    assert!(matches!(answer, Refund::Refused(Refusal::Invalid)), "{answer:?}");
}

#[tokio::test]
async fn what_is_vague_about_a_refund_leaves_it_unknown() {
    for answer in [
        (500, json!("")),
        complaint(409, "invalid_request_error", "idempotency_key_in_use"),
        complaint(400, "idempotency_error", ""),
        (200, refund("att_other-refund-1-1", "succeeded")),
        (200, json!({})),
    ] {
        let shown = format!("{answer:?}");
        let (answer, _) = given_back(&[], Some(answer)).await;
        assert!(matches!(answer, Refund::Unknown(_)), "{shown}: {answer:?}");
    }
}

#[tokio::test]
async fn a_refund_is_looked_up_by_its_name() {
    for (status, standing) in [
        ("succeeded", Some(Standing::Refunded { amount: price() })),
        ("failed", Some(Standing::Nothing)),
        ("pending", None),
    ] {
        let answers = vec![list([intent("succeeded")], false), list([refund(&reference(), status)], false)];
        let (found, _) =
            against(answers, a_minute_later, async |provider| provider.look_up(name().into(), soon()).await)
                .await;
        let said = match found {
            LookUp::Stands(said) => Some(said),
            LookUp::Unknown(_) => None,
        };
        assert_eq!(said, standing, "{status}");
    }
}
