//! Stripe's books over the wire, by shapes that Stripe documents.

use keyrack_payments::{
    Doubt, Moved, PaymentProvider, Reference, Refund, RefundTry, Refusal, Settlement, SettlementFrom,
    SettlementPage, SettlementPosition,
};
use serde_json::{Value, json};

use super::recorded::{
    Asked, a_minute_later, against, attempt, but, complaint, intent, list, money, price, refund, soon,
};

const OPENED: u64 = 1_800_000_000;

fn charge() -> Value {
    json!({
        "id": "ch_3SampleCharge01",
        "object": "charge",
        "amount": 1_456_000,
        "amount_captured": 1_456_000,
        "amount_refunded": 0,
        "currency": "inr",
        "payment_intent": "pi_3SampleIntent01",
        "metadata": {"keyrack_attempt": attempt().to_string()},
    })
}

/// In the account's currency, which need not be the payment's.
fn moved(id: &str, kind: &str, source: &Value) -> Value {
    json!({
        "id": id, "object": "balance_transaction", "type": kind, "amount": 17_345, "currency": "usd",
        "created": OPENED, "source": source,
    })
}

fn of(refund: &Value, other: &Value) -> Value {
    but(but(refund.clone(), &json!({"charge": "ch_3SampleCharge01"})), other)
}

fn name() -> RefundTry {
    RefundTry { attempt: attempt(), number: 1, try_number: 2 }
}

async fn read(answers: Vec<(u16, Value)>, from: &SettlementFrom) -> (Settlement, Vec<Asked>) {
    against(answers, a_minute_later, async |provider| provider.settlement(from, 50, soon()).await).await
}

fn after(id: &str) -> SettlementFrom {
    SettlementFrom::Position(id.parse().expect("a position"))
}

/// Told oldest first, as Stripe does not.
async fn page(mut transactions: Vec<Value>) -> SettlementPage {
    transactions.reverse();
    match read(vec![list(transactions, true)], &after("txn_0")).await {
        (Settlement::Page(page), _) => page,
        (Settlement::Unknown(doubt), _) => panic!("{doubt:?}"),
    }
}

#[tokio::test]
async fn a_page_goes_on_after_its_place_and_leaves_what_is_young() {
    let others = json!({"id": "po_1", "object": "payout"});
    let newest_first = [moved("txn_2", "payout", &others), moved("txn_1", "charge", &charge())];
    let (said, asked) = read(vec![list(newest_first, true)], &after("txn_0")).await;
    let Settlement::Page(page) = said else { panic!("{said:?}") };
    assert!(page.more);
    assert_eq!(
        page.next.as_ref().map(SettlementPosition::as_str),
        Some("txn_2"),
        "after what is not ours too"
    );
    let line = &page.lines[0];
    let captured = Moved::Captured { attempt: attempt(), refunded: money("0.00", "INR") };
    assert_eq!((page.lines.len(), &line.moved, line.amount), (1, &captured, price()), "as it was taken");
    assert_eq!((&*line.entry, line.next.as_str(), line.at.timestamp()), ("txn_1", "txn_1", 1_800_000_000));
    assert_eq!(asked[0].call, "GET /v1/balance_transactions");
    for (field, value) in [
        ("ending_before", "txn_0"),
        ("limit", "50"),
        ("expand[]", "data.source"),
        ("created[lte]", "1799999460"),
    ] {
        assert_eq!(asked[0].field(field), Some(value), "ten minutes are left for later: {field}");
    }
    let (said, _) = read(vec![list([], true)], &after("txn_2")).await;
    let Settlement::Page(page) = said else { panic!("{said:?}") };
    assert!(page.lines.is_empty() && !page.more && page.next.is_none(), "{page:?}");
}

#[tokio::test]
async fn the_oldest_is_found_by_halving_the_time() {
    let from = SettlementFrom::Instant("2027-01-15T07:00:00Z".parse().expect("an instant"));
    let at = |id: &str, created: u64| but(moved(id, "charge", &charge()), &json!({"created": created}));
    // 1799996400 is where it begins, 1799999460 where it ends; the oldest two are of 1799996405.
    let oldest = at("txn_1", 1_799_996_405);
    let answers = vec![
        list([at("txn_9", 1_799_996_409)], true),
        list([], false),
        list([at("txn_3", 1_799_996_407)], true),
        list([at("txn_2", 1_799_996_405)], true),
        list([at("txn_2", 1_799_996_405)], true),
        list([oldest], false),
    ];
    let (said, asked) = read(answers, &from).await;
    let Settlement::Page(page) = said else { panic!("{said:?}") };
    assert_eq!(page.lines.iter().map(|line| &*line.entry).collect::<Vec<_>>(), ["txn_1"]);
    assert!(page.more && page.next.as_ref().map(SettlementPosition::as_str) == Some("txn_1"), "{page:?}");
    let until: Vec<_> = asked.iter().map(|asked| asked.field("created[lte]").expect("an end")).collect();
    let ends = [1_799_999_460_u64, 1_799_996_404, 1_799_996_407, 1_799_996_406, 1_799_996_405, 1_799_996_405];
    assert_eq!(until, ends.map(|end| end.to_string()));
    assert_eq!(asked[5].field("starting_after"), Some("txn_2"));

    let (said, _) = read(vec![list([], false)], &from).await;
    let Settlement::Page(page) = said else { panic!("{said:?}") };
    assert!(page.lines.is_empty() && !page.more && page.next.is_none(), "{page:?}");
}

#[tokio::test]
async fn each_movement_of_our_money_is_a_line_and_no_other() {
    let (id, other) = (attempt(), |reference: &str| Moved::Other { reference: reference.to_owned() });
    let ours = refund(&Reference::from(name()).to_string(), "succeeded");
    let by_hand = of(&ours, &json!({"id": "re_2", "metadata": {}}));
    let elsewhere = json!({"id": "re_3", "metadata": {}, "payment_intent": "pi_of_somebody"});
    let returned = |of_charge: &str| json!({"id": "re_4", "metadata": {"keyrack_return": of_charge}});
    let dispute = json!({
        "id": "dp_1", "object": "dispute", "amount": 1_456_000, "currency": "inr",
        "payment_intent": "pi_3SampleIntent01",
    });
    let again = but(charge(), &json!({"id": "ch_2", "payment_intent": "pi_2"}));
    let strange = but(charge(), &json!({"id": "ch_3", "metadata": {"keyrack_attempt": "att_7"}}));
    let told = [
        ("charge", charge(), Some(Moved::Captured { attempt: id, refunded: money("0.00", "INR") })),
        ("charge", again.clone(), Some(Moved::Charged { charge: "ch_2".to_owned(), attempt: Some(id) })),
        ("charge", strange, Some(other("ch_3"))),
        ("charge", but(charge(), &json!({"metadata": {"order": "7"}})), None),
        ("of_next_year", charge(), Some(other("ch_3SampleCharge01"))),
        ("refund", of(&ours, &json!({})), Some(Moved::Refunded { refund: name() })),
        ("refund_failure", of(&ours, &json!({})), Some(Moved::RefundFailed { refund: name() })),
        ("of_next_year", of(&ours, &json!({})), Some(other("re_3SampleRefund01"))),
        (
            "refund",
            by_hand.clone(),
            Some(Moved::RefundedByHand { attempt: id, provider_id: "re_2".to_owned() }),
        ),
        ("refund_failure", by_hand, Some(other("re_2"))),
        ("refund", of(&ours, &elsewhere), None),
        (
            "refund",
            of(&ours, &returned("ch_3SampleCharge01")),
            Some(Moved::Returned { charge: "ch_3SampleCharge01".to_owned() }),
        ),
        ("refund", of(&ours, &returned("ch_9")), Some(other("re_4"))),
        ("refund_failure", of(&ours, &returned("ch_3SampleCharge01")), Some(other("re_4"))),
        ("adjustment", dispute.clone(), Some(other("dp_1"))),
        ("adjustment", but(dispute, &json!({"payment_intent": "pi_of_somebody"})), None),
        ("stripe_fee", json!(null), None),
        ("payout", json!("po_1"), None),
    ];
    let transactions =
        told.iter().enumerate().map(|(n, (kind, source, _))| moved(&format!("txn_{n}"), kind, source));
    let page = page(transactions.collect()).await;
    let lines: Vec<_> = page.lines.into_iter().map(|line| (line.entry, line.moved)).collect();
    let expected = told.into_iter().enumerate();
    let expected: Vec<_> =
        expected.filter_map(|(n, (_, _, moved))| Some((format!("txn_{n}"), moved?))).collect();
    assert_eq!(lines, expected);
}

/// One line must not hide all that follow.
#[tokio::test]
async fn an_amount_that_cannot_be_read_is_told_by_the_accounts() {
    let strange = but(charge(), &json!({"currency": "ugx"}));
    let page = page(vec![moved("txn_1", "charge", &strange), moved("txn_2", "charge", &charge())]).await;
    assert_eq!(page.lines.len(), 2);
    assert_eq!(page.lines[0].amount, money("173.45", "USD"));
    assert!(matches!(page.lines[0].moved, Moved::Other { .. }), "{page:?}");
}

#[tokio::test]
async fn books_that_are_not_stripes_are_not_believed() {
    for answer in [
        complaint(404, "invalid_request_error", "resource_missing"),
        complaint(429, "invalid_request_error", "rate_limit"),
        list([json!({"id": "txn_1"})], false),
        list([moved("txn_1", "charge", &json!("ch_1"))], false),
        list([moved("txn_1", "charge", &but(charge(), &json!({"amount_captured": null})))], false),
        (200, json!({"object": "list", "data": []})),
        (503, json!("")),
    ] {
        let shown = format!("{answer:?}");
        let (said, _) = read(vec![answer], &after("txn_0")).await;
        assert!(matches!(said, Settlement::Unknown(_)), "{shown}: {said:?}");
    }
}

/// A charge, which is no attempt's own unless it says so, with these refunds.
async fn given_back(there: Value, earlier: &[Value], answer: Option<(u16, Value)>) -> (Refund, Vec<Asked>) {
    let mut answers = vec![(200, intent("requires_capture")), (200, there), list(earlier.to_vec(), false)];
    answers.extend(answer);
    let charge = "ch_2".parse().expect("a name");
    let method = "pm_1SampleMethod01".parse().expect("a token");
    against(answers, a_minute_later, async |provider| {
        let _ = provider.authorize(attempt(), price(), &method, soon()).await;
        provider.return_charge(&charge, price(), soon()).await
    })
    .await
}

fn stray() -> Value {
    but(charge(), &json!({"id": "ch_2", "payment_intent": "pi_2"}))
}

fn of_stray(status: &str) -> Value {
    but(refund("", status), &json!({"charge": "ch_2", "metadata": {"keyrack_return": "ch_2"}}))
}

#[tokio::test]
async fn b055_a_charge_goes_back_once_under_its_own_name() {
    let (answer, asked) = given_back(stray(), &[], Some((200, of_stray("succeeded")))).await;
    assert!(matches!(answer, Refund::Refunded), "{answer:?}");
    assert_eq!(asked[2].field("charge"), Some("ch_2"));
    let sent = &asked[3];
    assert_eq!(sent.call, "POST /v1/refunds");
    assert_eq!(sent.headers.get("idempotency-key").map(String::as_str), Some("ch_2-return"));
    let fields = ["charge", "amount", "metadata[keyrack_return]"].map(|name| sent.field(name));
    assert_eq!((fields, sent.fields.len()), ([Some("ch_2"), Some("1456000"), Some("ch_2")], 3));

    let (answer, _) = given_back(stray(), &[of_stray("succeeded")], None).await;
    assert!(matches!(answer, Refund::Refunded), "{answer:?}");
    let (answer, _) = given_back(stray(), &[of_stray("pending")], None).await;
    assert!(matches!(answer, Refund::Unknown(Doubt::Undecided)), "{answer:?}");
    let (answer, _) = given_back(stray(), &[of_stray("failed")], None).await;
    assert!(matches!(answer, Refund::Refused(Refusal::RefundFailed)), "{answer:?}");
}

#[tokio::test]
async fn an_attempts_own_charge_and_what_has_gone_back_already_do_not_go_back() {
    let own = but(stray(), &json!({"payment_intent": "pi_3SampleIntent01"}));
    let (answer, asked) = given_back(own, &[], None).await;
    assert!(matches!(answer, Refund::Refused(Refusal::ReferenceTaken)), "{answer:?}");
    assert_eq!(asked.len(), 2, "nothing was sent");
    let by_hand = but(of_stray("succeeded"), &json!({"id": "re_2", "amount": 1, "metadata": {}}));
    let (answer, _) = given_back(stray(), &[by_hand], None).await;
    assert!(matches!(answer, Refund::Refused(Refusal::ExceedsWhatIsThere)), "{answer:?}");
    let other = but(stray(), &json!({"currency": "jpy"}));
    let (answer, _) = given_back(other, &[], None).await;
    assert!(matches!(answer, Refund::Refused(Refusal::NothingToActOn)), "{answer:?}");
    let (answer, _) = given_back(stray(), &[], Some((500, json!("")))).await;
    assert!(matches!(answer, Refund::Unknown(_)), "{answer:?}");
    let (answer, _) = given_back(but(stray(), &json!({"id": "ch_5"})), &[], None).await;
    assert!(matches!(answer, Refund::Unknown(Doubt::NotWhatWasAsked)), "{answer:?}");
}
