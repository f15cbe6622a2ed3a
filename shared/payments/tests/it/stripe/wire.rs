//! What goes over the wire, and what each answer means, by shapes that Stripe documents.

use std::{sync::Arc, time::Duration};

use keyrack_payments::{
    Authorization, Capture, Deadline, Doubt, ForgetfulIds, LookUp, NotSent, PaymentProvider, Reference,
    Refusal, STRIPE_API_VERSION, Standing, StripeProvider, Void,
};
use serde_json::{Value, json};

use super::recorded::{
    a_day_later, a_minute_later, against, attempt, but, complaint, intent, list, money, price, soon,
};

const CREATE: &str = "POST /v1/payment_intents";
const LIST: &str = "GET /v1/payment_intents";

fn authorized(answer: &Authorization) -> bool {
    matches!(answer, Authorization::Authorized)
}

async fn authorize(provider: &StripeProvider) -> Authorization {
    let method = "pm_1SampleMethod01".parse().expect("a token");
    provider.authorize(attempt(), price(), &method, soon()).await
}

/// Of one create.
async fn answered(status: u16, body: Value) -> Authorization {
    against(vec![(status, body)], a_minute_later, authorize).await.0
}

fn calls(asked: &[super::recorded::Asked]) -> Vec<&str> {
    asked.iter().map(|asked| asked.call.as_str()).collect()
}

#[tokio::test]
async fn a_create_carries_our_reference_and_confirms_by_hand() {
    let (answer, asked) = against(vec![(200, intent("requires_capture"))], a_minute_later, authorize).await;
    assert!(authorized(&answer), "{answer:?}");
    assert_eq!(calls(&asked), [CREATE]);
    let asked = &asked[0];
    for (name, value) in [
        ("amount", "1456000"),
        ("currency", "inr"),
        ("capture_method", "manual"),
        ("confirm", "true"),
        ("payment_method", "pm_1SampleMethod01"),
        ("payment_method_types[]", "card"),
        ("metadata[keyrack_attempt]", &attempt().to_string()),
    ] {
        assert_eq!(asked.field(name), Some(value), "{name}");
    }
    assert_eq!(asked.fields.len(), 7, "and nothing else");
    for (name, value) in [
        ("idempotency-key", Reference::Authorization(attempt()).to_string()),
        ("stripe-version", STRIPE_API_VERSION.to_owned()),
        ("authorization", "Bearer sk_test_of_nobody".to_owned()),
        ("content-type", "application/x-www-form-urlencoded".to_owned()),
    ] {
        assert_eq!(asked.headers.get(name), Some(&value), "{name}");
    }
}

#[tokio::test]
async fn a_decline_is_the_cards_word_and_keeps_the_intent() {
    let declined = but(
        intent("requires_payment_method"),
        &json!({"last_payment_error": {"type": "card_error", "code": "card_declined"}}),
    );
    let body = json!({"error": {
        "type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds",
        "message": "Your card has insufficient funds.", "payment_intent": declined,
    }});
    let answers = vec![(402, body), (200, declined.clone())];
    let (found, asked) = against(answers, a_minute_later, async |provider| {
        let answer = authorize(provider).await;
        let Authorization::Declined(reason) = answer else { panic!("{answer:?}") };
        assert_eq!(reason.as_str(), "insufficient_funds");
        provider.look_up(Reference::Authorization(attempt()), soon()).await
    })
    .await;
    assert!(matches!(found, LookUp::Stands(Standing::Declined)), "{found:?}");
    assert_eq!(calls(&asked), [CREATE, "GET /v1/payment_intents/pi_3SampleIntent01"]);
}

#[tokio::test]
async fn what_is_not_accepted_is_definite() {
    let missing = json!({"error": {
        "type": "invalid_request_error", "code": "resource_missing", "param": "payment_method",
    }});
    let (too_small, no_key) = (
        complaint(400, "invalid_request_error", "amount_too_small"),
        (401, json!({"error": {"type": "invalid_request_error", "message": "Invalid API Key provided"}})),
    );
    for ((status, body), refusal) in [
        ((400, missing), Refusal::UnknownMethod),
        (too_small, Refusal::Invalid),
        (no_key, Refusal::Invalid),
        ((200, intent("canceled")), Refusal::Voided),
        ((200, but(intent("requires_capture"), &json!({"amount": 1}))), Refusal::ReferenceTaken),
        ((200, but(intent("requires_capture"), &json!({"currency": "jpy"}))), Refusal::ReferenceTaken),
    ] {
        let answer = answered(status, body).await;
        assert!(matches!(&answer, Authorization::Refused(said) if *said == refusal), "{answer:?}");
    }
}

#[tokio::test]
async fn what_is_not_stripes_word_about_our_call_leaves_it_unknown() {
    let capture = || intent("requires_capture");
    let other = json!({"metadata": {"keyrack_attempt": "att_000000cc00000000000000000000000000000007"}});
    let mut vague = vec![
        complaint(409, "invalid_request_error", "idempotency_key_in_use"),
        complaint(429, "invalid_request_error", "rate_limit"),
        complaint(500, "api_error", "internal"),
        complaint(400, "api_error", "internal"),
        complaint(408, "card_error", "card_declined"),
        (403, json!("<html>proxy</html>")),
        (404, json!({"error": "no such page"})),
        (502, json!("")),
        (204, json!("")),
        (200, json!("<html>welcome</html>")),
        (200, json!({})),
        (200, but(capture(), &other)),
        (200, but(capture(), &json!({"metadata": {}}))),
        (200, but(capture(), &json!({"amount_capturable": 1}))),
        (200, but(capture(), &json!({"amount_capturable": "1456000"}))),
        (200, but(capture(), &json!({"id": "pi_1/cancel"}))),
    ];
    for status in ["requires_confirmation", "processing", "requires_payment_method", "of_next_year"] {
        vague.push((200, intent(status)));
    }
    for (status, body) in vague {
        let shown = format!("{status} {body}");
        let answer = answered(status, body).await;
        assert!(matches!(answer, Authorization::Unknown(_)), "{shown}: {answer:?}");
    }
}

#[tokio::test]
async fn a_customer_is_sent_to_the_page_that_the_intent_names_as_it_stands_now() {
    let url = "https://hooks.stripe.com/redirect/authenticate/src_1";
    let acting = but(
        intent("requires_action"),
        &json!({"next_action": {"type": "redirect_to_url", "redirect_to_url": {"url": url}}}),
    );
    let answers = vec![(200, acting.clone()), (200, acting.clone()), (200, acting.clone())];
    let (found, asked) = against(answers, a_minute_later, async |provider| {
        let answer = authorize(provider).await;
        let Authorization::ActionRequired { url: page } = answer else { panic!("{answer:?}") };
        assert_eq!(page.expose(), url);
        provider.look_up(Reference::Authorization(attempt()), soon()).await
    })
    .await;
    assert!(matches!(found, LookUp::Stands(Standing::ActionRequired { amount }) if amount == price()));
    let id = "GET /v1/payment_intents/pi_3SampleIntent01";
    assert_eq!(calls(&asked), [CREATE, id, id]);
    // The first answer again, and what has become of it.
    let answers = vec![(200, acting), (200, intent("requires_capture"))];
    let (answer, _) = against(answers, a_minute_later, authorize).await;
    assert!(authorized(&answer), "{answer:?}");
}

#[tokio::test]
async fn a_customer_who_must_act_without_a_page_leaves_it_open_and_the_session_can_be_ended() {
    for next_action in [
        json!(null),
        json!({"type": "use_stripe_sdk"}),
        json!({"type": "redirect_to_url", "redirect_to_url": {"url": "javascript:alert(1)"}}),
    ] {
        let acting = but(intent("requires_action"), &json!({"next_action": next_action}));
        let answers = vec![(200, acting.clone()), (200, acting), (200, intent("canceled"))];
        let (ended, asked) = against(answers, a_minute_later, async |provider| {
            let answer = authorize(provider).await;
            assert!(matches!(answer, Authorization::Unknown(Doubt::CustomerMustAct)), "{answer:?}");
            provider.expire_session(attempt(), soon()).await
        })
        .await;
        assert!(matches!(ended, Void::Voided), "{ended:?}");
        assert_eq!(asked[2].call, "POST /v1/payment_intents/pi_3SampleIntent01/cancel");
    }
}

#[tokio::test]
async fn an_attempt_whose_key_is_forgotten_is_looked_for_and_never_created() {
    let (answer, asked) = against(vec![list([], false)], a_day_later, authorize).await;
    assert!(matches!(answer, Authorization::NotSent(NotSent::KeyForgotten)), "{answer:?}");
    assert_eq!(calls(&asked), [LIST]);

    let there = intent("requires_capture");
    let answers = vec![list([there.clone()], false), (200, there)];
    let (answer, asked) = against(answers, a_day_later, authorize).await;
    assert!(authorized(&answer), "{answer:?}");
    assert_eq!(calls(&asked), [LIST, "GET /v1/payment_intents/pi_3SampleIntent01"]);
}

#[tokio::test]
async fn an_intent_whose_answer_was_lost_is_found_page_by_page_around_its_attempt() {
    let stranger = |id: &str| but(intent("succeeded"), &json!({"id": id, "metadata": {"order": "7"}}));
    let answers = vec![
        (500, json!("")),
        list([stranger("pi_1"), stranger("pi_2")], true),
        list([stranger("pi_3"), intent("requires_capture")], true),
        (200, intent("requires_capture")),
        (200, intent("requires_capture")),
    ];
    let (found, asked) = against(answers, a_minute_later, async |provider| {
        let answer = authorize(provider).await;
        assert!(matches!(answer, Authorization::Unknown(Doubt::Status(500))), "{answer:?}");
        // The second look-up knows the id.
        let first = provider.look_up(Reference::Authorization(attempt()), soon()).await;
        assert!(matches!(first, LookUp::Stands(Standing::Authorized { .. })), "{first:?}");
        provider.look_up(Reference::Capture(attempt()), soon()).await
    })
    .await;
    assert!(matches!(found, LookUp::Stands(Standing::Nothing)), "{found:?}");
    let id = "GET /v1/payment_intents/pi_3SampleIntent01";
    assert_eq!(calls(&asked), [CREATE, LIST, LIST, id, id]);
    assert_eq!(asked[1].field("created[gte]"), Some("1799999400"), "ten minutes before");
    assert_eq!(asked[1].field("created[lte]"), Some("1800083401"), "until no create is sent any more");
    assert_eq!((asked[1].field("limit"), asked[1].field("starting_after")), (Some("100"), None));
    assert_eq!(asked[2].field("starting_after"), Some("pi_2"));
    assert!(asked.iter().all(|asked| !asked.call.contains("search")));
}

#[tokio::test]
async fn a_list_that_does_not_end_is_given_up() {
    let stranger = but(intent("succeeded"), &json!({"metadata": {}}));
    let answers = (0..100).map(|_| list([stranger.clone()], true)).collect();
    let (found, _) = against(answers, a_minute_later, async |provider| {
        provider.look_up(Reference::Authorization(attempt()), soon()).await
    })
    .await;
    assert!(matches!(found, LookUp::Unknown(Doubt::TooMany)), "{found:?}");
}

/// An attempt that is told to be nothing is cancelled and failed.
#[tokio::test]
async fn a_look_up_believes_no_complaint_that_there_is_nothing() {
    for answer in [
        complaint(404, "invalid_request_error", "resource_missing"),
        complaint(401, "invalid_request_error", ""),
        complaint(429, "invalid_request_error", "rate_limit"),
        (200, json!({"object": "list", "data": []})),
        (200, json!({"object": "list", "data": [{}], "has_more": false})),
        (503, json!("")),
    ] {
        let shown = format!("{answer:?}");
        let (found, _) = against(vec![answer], a_minute_later, async |provider| {
            provider.look_up(Reference::Authorization(attempt()), soon()).await
        })
        .await;
        assert!(matches!(found, LookUp::Unknown(_)), "{shown}: {found:?}");
    }
}

#[tokio::test]
async fn a_capture_says_why_it_was_not_accepted_by_its_intent() {
    let unexpected = || complaint(400, "invalid_request_error", "payment_intent_unexpected_state");
    let captured = |answers: Vec<(u16, Value)>| {
        let first = vec![(200, intent("requires_capture"))];
        against([first, answers].concat(), a_minute_later, async |provider| {
            assert!(authorized(&authorize(provider).await));
            provider.capture(attempt(), price(), soon()).await
        })
    };
    let (answer, asked) = captured(vec![(200, intent("succeeded"))]).await;
    assert!(matches!(answer, Capture::Captured), "{answer:?}");
    assert_eq!(asked[1].call, "POST /v1/payment_intents/pi_3SampleIntent01/capture");
    assert_eq!(asked[1].field("amount_to_capture"), Some("1456000"));
    assert_eq!(asked[1].headers.get("idempotency-key"), None, "its state lets it happen once");

    let (answer, _) = captured(vec![unexpected(), (200, intent("succeeded"))]).await;
    assert!(matches!(answer, Capture::Captured), "an earlier one whose answer was lost: {answer:?}");
    let (answer, _) = captured(vec![unexpected(), (200, intent("canceled"))]).await;
    assert!(matches!(answer, Capture::Refused(Refusal::Voided)), "{answer:?}");
    let (answer, _) = captured(vec![unexpected(), (200, intent("processing"))]).await;
    assert!(matches!(answer, Capture::Unknown(Doubt::Undecided)), "{answer:?}");
    let (answer, _) = captured(vec![(200, intent("processing"))]).await;
    assert!(matches!(answer, Capture::Unknown(Doubt::Undecided)), "{answer:?}");
    let less = but(intent("succeeded"), &json!({"amount_received": 1}));
    let (answer, _) = captured(vec![(200, less)]).await;
    assert!(matches!(answer, Capture::Unknown(Doubt::NotWhatWasAsked)), "{answer:?}");
    let (answer, _) = captured(vec![complaint(402, "card_error", "expired_card")]).await;
    assert!(matches!(&answer, Capture::Declined(word) if word.as_str() == "expired_card"), "{answer:?}");
    let (answer, _) = captured(vec![complaint(429, "invalid_request_error", "lock_timeout")]).await;
    assert!(matches!(answer, Capture::Unknown(_)), "{answer:?}");
}

async fn void(provider: &StripeProvider) -> Void {
    provider.void(attempt(), soon()).await
}

#[tokio::test]
async fn a_void_of_what_has_not_arrived_takes_its_key_and_its_place() {
    let placeholder = |status: &str| {
        let metadata = json!({
            "keyrack_attempt": attempt().to_string(), "keyrack_placeholder": "true",
        });
        but(intent(status), &json!({"amount": 100, "currency": "usd", "metadata": metadata}))
    };
    let answers = vec![
        list([], false),
        (200, placeholder("requires_payment_method")),
        (200, placeholder("canceled")),
        complaint(400, "idempotency_error", ""),
        (200, placeholder("canceled")),
    ];
    let (late, asked) = against(answers, a_minute_later, async |provider| {
        let answer = void(provider).await;
        assert!(matches!(answer, Void::Voided), "{answer:?}");
        authorize(provider).await
    })
    .await;
    assert!(matches!(late, Authorization::Refused(Refusal::Voided)), "{late:?}");
    assert_eq!(calls(&asked[..3]), [LIST, CREATE, "POST /v1/payment_intents/pi_3SampleIntent01/cancel"]);
    assert_eq!(asked[1].headers.get("idempotency-key"), asked[3].headers.get("idempotency-key"));
    assert_eq!((asked[1].field("confirm"), asked[1].field("payment_method")), (None, None));
}

#[tokio::test]
async fn a_create_that_arrives_before_the_voids_placeholder_is_cancelled_itself() {
    let taken = || complaint(400, "idempotency_error", "");
    let there = intent("requires_capture");
    let answers = vec![list([], false), taken(), list([there], false), (200, intent("canceled"))];
    let (answer, asked) = against(answers, a_minute_later, void).await;
    assert!(matches!(answer, Void::Voided), "{answer:?}");
    assert_eq!(asked[3].call, "POST /v1/payment_intents/pi_3SampleIntent01/cancel");

    let answers = vec![list([], false), taken(), list([], false)];
    let (answer, _) = against(answers, a_minute_later, void).await;
    assert!(matches!(answer, Void::Unknown(Doubt::Undecided)), "it is nowhere to be seen: {answer:?}");
    let working = complaint(409, "invalid_request_error", "idempotency_key_in_use");
    let (answer, _) = against(vec![list([], false), working], a_minute_later, void).await;
    assert!(matches!(answer, Void::Unknown(Doubt::Status(409))), "{answer:?}");
    let (answer, _) = against(vec![list([], false)], a_day_later, void).await;
    assert!(matches!(answer, Void::Voided), "nothing is sent any more: {answer:?}");
}

#[tokio::test]
async fn a_cancel_that_is_not_accepted_says_what_there_is() {
    let unexpected = || complaint(400, "invalid_request_error", "payment_intent_unexpected_state");
    for (status, refusal) in [
        ("succeeded", Some(Refusal::AlreadyCaptured)),
        ("processing", Some(Refusal::CaptureInProgress)),
        ("canceled", None),
    ] {
        let answers = vec![list([intent(status)], false), unexpected(), (200, intent(status))];
        let (answer, _) = against(answers, a_minute_later, void).await;
        let said = match answer {
            Void::Voided => None,
            Void::Refused(said) => Some(said),
            other => panic!("{status}: {other:?}"),
        };
        assert_eq!(said, refusal, "{status}");
    }
}

#[tokio::test]
async fn an_amount_that_stripe_cannot_take_exactly_does_not_leave() {
    let ((), asked) = against(vec![], a_minute_later, async |provider| {
        let method = "pm_1SampleMethod01".parse().expect("a token");
        for (text, currency) in [("1.501", "KWD"), ("5", "UGX"), ("1500.50", "MGA")] {
            let answer = provider.authorize(attempt(), money(text, currency), &method, soon()).await;
            assert!(matches!(answer, Authorization::NotSent(NotSent::NotChargeable)), "{answer:?}");
            let answer = provider.capture(attempt(), money(text, currency), soon()).await;
            assert!(matches!(answer, Capture::NotSent(NotSent::NotChargeable)), "{answer:?}");
        }
    })
    .await;
    assert_eq!(calls(&asked), <[&str; 0]>::default());
}

#[tokio::test]
async fn a_server_that_is_not_there_was_not_asked_and_nothing_shows_the_key() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let ids = Arc::new(ForgetfulIds::default());
    let provider = StripeProvider::new(super::settings(&format!("http://{address}")), ids);
    let provider = provider.expect("settings").telling_time_by(a_minute_later);
    let answer = authorize(&provider).await;
    assert!(matches!(answer, Authorization::NotSent(NotSent::NotReachable(_))), "{answer:?}");
    let found = provider.look_up(Reference::Capture(attempt()), soon()).await;
    assert!(matches!(found, LookUp::Unknown(Doubt::NotAsked(_))), "{found:?}");
    let late = provider.capture(attempt(), price(), Deadline::after(Duration::ZERO)).await;
    assert!(matches!(late, Capture::NotSent(NotSent::DeadlinePassed)), "{late:?}");
    let shown = format!("{provider:?} {:?} {answer:?} {found:?}", super::settings("http://127.0.0.1"));
    assert!(!shown.contains("of_nobody") && !shown.contains("pm_1Sample"), "{shown}");
}

#[test]
fn an_address_and_a_key_are_looked_at_before_they_are_used() {
    let made = |url: &str, key: &str| {
        let mut settings = super::settings(url);
        settings.secret_key = key.into();
        StripeProvider::new(settings, Arc::new(ForgetfulIds::default()))
    };
    for url in ["", "api.stripe.com", "ftp://h", "https://h/?a=b", "https://h/#f", "https://key@h/"] {
        assert!(made(url, "sk_test_1").is_err(), "{url}");
    }
    for key in ["", "sk test", "sk_\n"] {
        assert!(made("https://api.stripe.com", key).is_err(), "{key:?}");
    }
    assert!(made("https://api.stripe.com/", "sk_test_1").is_ok());
}
