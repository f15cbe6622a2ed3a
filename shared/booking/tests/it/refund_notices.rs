//! What the provider tells of refunds: of ours while we send them, of ours that fail after all, and of those that
//! somebody made there by hand.

use keyrack_booking::{
    Answered,
    cancel::{self, Cancel, price::Wanted},
    ops,
    receive_notice::Received,
    refund, retry_refund,
    staff_refund::{self, StaffRefund},
    views::Standing,
};
use keyrack_db::Points;
use keyrack_domain::{
    ids::{AttemptId, RefundId, ReservationId},
    notice::NoticeOutcome,
    principal::Caller,
    refund::RefundState,
};
use keyrack_testkit::Gates;
use serde_json::{Value, json};

use crate::{
    desk_world::DeskWorld,
    telling::{PAISE, notice},
    world::{fresh_key, guest, key},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");
const APPLIED: Received = Received::Recorded(NoticeOutcome::Applied);
const NO_OP: Received = Received::Recorded(NoticeOutcome::NoOp);

async fn booked(at: &DeskWorld, guest: &Caller) -> (ReservationId, AttemptId) {
    let hold = at.hold(guest, STAY).await;
    let paid = at.pay(guest, hold.id, "pm_ok").await;
    let Standing::Confirmed(reservation) = paid.standing else { panic!("{paid:?}") };
    (reservation.id, paid.attempt)
}

async fn give_back(at: &DeskWorld, reservation: ReservationId, amount: &str) -> RefundId {
    let (amount, reason) = (amount.to_owned(), "goodwill".to_owned());
    let request = StaffRefund { hotel: at.hotel.clone(), reservation, amount, reason, key: fresh_key() };
    staff_refund::run(&at.desk, &at.world.operator, request).await.expect("a refund").answer.id
}

async fn send(at: &DeskWorld) -> usize {
    refund::run_once(&at.desk, at.ledger()).await.expect("refunds are sent").settled
}

/// Of a try of the attempt's first refund.
fn of_first(event: &str, kind: &str, attempt: AttemptId, try_number: u32, amount: u64) -> Value {
    let mut body = notice(event, kind, attempt, &format!("refund-1-{try_number}"), amount);
    body["provider_id"] = json!("re_123");
    body
}

fn by_hand(event: &str, attempt: AttemptId, provider_id: &str, amount: u64) -> Value {
    let mut body = notice(event, "refund.created", attempt, "capture", amount);
    body["provider_id"] = json!(provider_id);
    body
}

/// `(state, try, amount, provider's id)` of each, by their numbers.
async fn refunds(at: &DeskWorld) -> Vec<(String, i64, String, Option<String>)> {
    let query =
        "SELECT state, try, amount::text AS amount, provider_id FROM refunds ORDER BY attempt_id, number";
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let row = |row: Value| {
        let required = |name: &str| text(&row[name]).expect("text");
        (
            required("state"),
            row["try"].as_i64().expect("a number"),
            required("amount"),
            text(&row["provider_id"]),
        )
    };
    at.database().rows(query).await.into_iter().map(row).collect()
}

/// What of the payment has not been given back or promised.
async fn left(at: &DeskWorld) -> String {
    let left = at.database().value("SELECT (captured - refund_committed)::text FROM payment_attempts").await;
    left.as_str().expect("an amount").to_owned()
}

#[tokio::test]
async fn b057_own_refund_and_its_notice_are_one() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let (reservation, attempt) = booked(&at, &guest()).await;
    give_back(&at, reservation, "5000.00").await;
    let mut gate = gates.close("refund.after_provider");
    let meanwhile = async {
        gate.reached().await;
        let told = at.tell(&of_first("evt_1", "refund.succeeded", attempt, 1, 500_000)).await;
        gate.open();
        told
    };
    let (_, told) = tokio::join!(send(&at), meanwhile);
    assert_eq!(told, APPLIED);
    assert_eq!(at.tell(&of_first("evt_2", "refund.succeeded", attempt, 1, 500_000)).await, NO_OP);
    assert_eq!(
        refunds(&at).await,
        [("SUCCEEDED".to_owned(), 1, "5000.000".to_owned(), Some("re_123".to_owned()))]
    );
    assert_eq!(left(&at).await, "9560.000");
    assert_eq!(at.told("refund.succeeded").await, 1);
    assert_eq!(at.charge(attempt, "capture").expect("a capture").refunded, 500_000);
    assert_eq!(at.count("provider_events WHERE finding IS NOT NULL").await, 0);
    at.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b064_a_refund_and_its_notice_race_a_hundred_times_and_make_a_hundred_records() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let (reservation, attempt) = booked(&at, &guest()).await;
    for round in 1..=100_i64 {
        give_back(&at, reservation, "10.00").await;
        let mut gate = gates.close("refund.after_provider");
        let meanwhile = async {
            gate.reached().await;
            let event = format!("evt_{round}");
            let body = notice(&event, "refund.succeeded", attempt, &format!("refund-{round}-1"), 1_000);
            gate.open();
            at.tell(&body).await
        };
        let (_, told) = tokio::join!(send(&at), meanwhile);
        assert!([APPLIED, NO_OP].contains(&told), "{round}: {told:?}");
        assert_eq!(at.count("refunds WHERE state = 'SUCCEEDED'").await, round);
        assert_eq!(at.told("refund.succeeded").await, round);
    }
    assert_eq!(at.count("payment_history WHERE kind = 'refund_succeeded'").await, 100);
    assert_eq!((at.count("refunds").await, left(&at).await.as_str()), (100, "13560.000"));
    at.verify().await;
}

#[tokio::test]
async fn b060_a_refund_that_fails_days_after_its_success_is_owed_and_sent_again() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let (reservation, attempt) = booked(&at, &guest).await;
    let request = Cancel { reservation, wanted: Wanted::Whole, if_match: 1, key: fresh_key() };
    cancel::run(&at.desk, &guest, request).await.expect("cancelled");
    assert_eq!(send(&at).await, 1);
    at.advance(3 * 24 * 3_600).await;
    let failed = of_first("evt_1", "refund.failed", attempt, 1, PAISE);
    assert_eq!(at.tell(&failed).await, APPLIED);
    assert_eq!(refunds(&at).await[0].0, "REQUESTED");
    at.verify().await;
    // The same under another id, and what was true before it: neither undoes anything again.
    assert_eq!(at.tell(&of_first("evt_2", "refund.failed", attempt, 1, PAISE)).await, NO_OP);
    assert_eq!(refunds(&at).await[0].1, 2);
    let state = "SELECT state FROM reservations";
    assert_eq!(
        (at.database().value(state).await, at.counters(STAY.0).await),
        (json!("CANCELLED"), (5, 0, 0))
    );
    at.advance(31).await;
    // The simulator still has the first one, and gives nothing back twice: it refuses the second name.
    assert_eq!(send(&at).await, 0);
    let kinds = "SELECT string_agg(kind, ' ' ORDER BY entry_id) FROM payment_history";
    let expected = "captured refund_requested refund_succeeded refund_failed refund_failed";
    assert_eq!(at.database().value(kinds).await, json!(expected));
    let arrived = of_first("evt_3", "refund.succeeded", attempt, 3, PAISE);
    assert_eq!(at.tell(&arrived).await, APPLIED);
    assert_eq!(refunds(&at).await[0].0, "SUCCEEDED");
    assert_eq!((at.count("refunds").await, left(&at).await.as_str()), (1, "0.000"));
    at.verify().await;
}

/// The attempt whose booking failed is REFUNDED, is not, and is again.
#[tokio::test]
async fn b060_an_attempt_is_refunded_only_as_long_as_its_refund_is() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let attempt = at.pay(&guest, hold.id, "pm_slow").await.attempt;
    at.advance(721).await;
    at.expire().await;
    at.let_captured(attempt).await;
    at.settle_money().await;
    let state = || at.database().value("SELECT state FROM payment_attempts");
    assert_eq!(state().await, "REFUNDED");
    assert_eq!(at.tell(&of_first("evt_1", "refund.failed", attempt, 1, PAISE)).await, APPLIED);
    assert_eq!(state().await, "PAYMENT_CAPTURED_BOOKING_FAILED");
    at.verify().await;
    assert_eq!(at.tell(&of_first("evt_2", "refund.succeeded", attempt, 2, PAISE)).await, APPLIED);
    assert_eq!(state().await, "REFUNDED");
    at.verify().await;
}

#[tokio::test]
async fn b061_a_refund_made_at_the_provider_is_recorded_once_as_what_it_is() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let (_, attempt) = booked(&at, &guest).await;
    assert_eq!(at.tell(&by_hand("evt_1", attempt, "re_1", 200_000)).await, APPLIED);
    assert_eq!(at.tell(&by_hand("evt_2", attempt, "re_1", 200_000)).await, NO_OP);
    assert_eq!(
        refunds(&at).await,
        [("SUCCEEDED".to_owned(), 1, "2000.000".to_owned(), Some("re_1".to_owned()))]
    );
    assert_eq!(left(&at).await, "12560.000");
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Confirmed(_)));
    assert_eq!((at.told("refund.requested").await, at.told("refund.succeeded").await), (0, 1));
    assert_eq!(send(&at).await, 0);
    at.verify().await;
}

/// More than is left goes into no record; what we were about to send waits, and the bound stands.
#[tokio::test]
async fn b061_more_than_is_left_waits_for_an_operator_who_may_send_ours_again() {
    let at = DeskWorld::new().await;
    let (reservation, attempt) = booked(&at, &guest()).await;
    let ours = give_back(&at, reservation, "14000.00").await;
    assert_eq!(at.tell(&by_hand("evt_1", attempt, "re_1", 1_400_000)).await, APPLIED);
    let rows = refunds(&at).await;
    assert_eq!((rows[0].0.as_str(), rows[1].2.as_str()), ("NEEDS_ATTENTION", "560.000"));
    assert_eq!(left(&at).await, "0.000");
    assert_eq!(at.recorded().await[0].2.as_deref(), Some("more_than_is_left"));
    assert_eq!(send(&at).await, 0);
    at.verify().await;
    let operator = &at.world.operator;
    let listed = ops::refunds(&at.desk, operator, None, 10).await.expect("a list");
    assert_eq!(listed.items.iter().map(|(row, _)| row.id).collect::<Vec<_>>(), [ours]);
    let retry = || retry_refund::run(&at.desk, operator, ours, key("retry"));
    let first = retry().await.expect("sent again");
    // It has never failed: it keeps its name, by which the provider may know it.
    assert_eq!(
        (first.answer.state, first.answer.try_number, first.replayed),
        (RefundState::Requested, 1, false)
    );
    let repeated = retry().await.expect("the same");
    assert_eq!((repeated.answer, repeated.replayed), (first.answer, true));
    assert_eq!(send(&at).await, 1);
    let again = retry_refund::run(&at.desk, operator, ours, fresh_key()).await.expect_err("it is done");
    assert!(matches!(again, retry_refund::RetryRefundError::NotWaiting(RefundState::Succeeded)), "{again:?}");
    at.verify().await;
}

#[tokio::test]
async fn b063_a_notice_settles_a_refund_whose_call_was_lost_and_keeps_the_providers_id() {
    let at = DeskWorld::new().await;
    let (reservation, attempt) = booked(&at, &guest()).await;
    give_back(&at, reservation, "5000.00").await;
    assert_eq!(at.tell(&of_first("evt_1", "refund.succeeded", attempt, 1, 500_000)).await, APPLIED);
    assert_eq!(at.tell(&by_hand("evt_2", attempt, "re_123", 500_000)).await, NO_OP);
    assert_eq!(refunds(&at).await[0].3.as_deref(), Some("re_123"));
    assert_eq!(send(&at).await, 0);
    assert!(at.charge(attempt, "refund-1-1").is_none(), "nothing was asked of the provider again");
    assert_eq!((at.count("refunds").await, at.told("refund.succeeded").await), (1, 1));
    at.verify().await;
}

#[tokio::test]
async fn a_refund_that_failed_too_often_is_sent_by_the_next_name_when_an_operator_says_so() {
    let at = DeskWorld::new().await;
    let (reservation, attempt) = booked(&at, &guest()).await;
    let ours = give_back(&at, reservation, "5000.00").await;
    for try_number in 1..=5 {
        let failed = of_first(&format!("evt_{try_number}"), "refund.failed", attempt, try_number, 500_000);
        assert_eq!(at.tell(&failed).await, APPLIED);
    }
    assert_eq!(refunds(&at).await[0].0, "NEEDS_ATTENTION");
    assert_eq!(at.tell(&of_first("evt_6", "refund.failed", attempt, 5, 500_000)).await, NO_OP);
    at.verify().await;
    let Answered { answer, .. } =
        retry_refund::run(&at.desk, &at.world.operator, ours, fresh_key()).await.expect("sent again");
    assert_eq!(answer.try_number, 6);
    assert_eq!(send(&at).await, 1);
    assert!(at.charge(attempt, "refund-1-6").is_some());
    let stranger = retry_refund::run(&at.desk, &guest(), ours, fresh_key()).await;
    assert!(matches!(stranger, Err(retry_refund::RetryRefundError::NotFound)));
    at.verify().await;
}

#[tokio::test]
async fn a_refund_notice_of_another_amount_stops_ours_until_somebody_has_looked() {
    let at = DeskWorld::new().await;
    let (reservation, attempt) = booked(&at, &guest()).await;
    give_back(&at, reservation, "5000.00").await;
    assert_eq!(at.tell(&of_first("evt_1", "refund.succeeded", attempt, 1, 400_000)).await, APPLIED);
    assert_eq!(at.recorded().await[0].2.as_deref(), Some("another_amount"));
    assert_eq!((refunds(&at).await[0].0.as_str(), send(&at).await), ("NEEDS_ATTENTION", 0));
    at.verify().await;
}

/// It comes before the capture that it is of: kept until that is known.
#[tokio::test]
async fn a_refund_by_hand_of_an_unknown_capture_is_kept() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let attempt = at.pay(&guest, hold.id, "pm_lost_response").await.attempt;
    assert_eq!(at.tell(&by_hand("evt_1", attempt, "re_1", 100)).await, Received::Unmatched);
    assert_eq!(
        at.tell(&notice("evt_2", "refund.succeeded", attempt, "refund-1-1", 100)).await,
        Received::Unmatched
    );
    assert_eq!(at.tell(&notice("evt_3", "capture.succeeded", attempt, "capture", PAISE)).await, APPLIED);
    let matched = keyrack_booking::receive_notice::unmatched::run_once(&at.desk).await.expect("a run");
    assert_eq!((matched.taken, matched.applied), (2, 1));
    assert_eq!(refunds(&at).await.len(), 1);
    at.verify().await;
}
