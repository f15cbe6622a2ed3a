//! The slower comparison with the provider's books.

use std::time::Duration;

use keyrack_booking::{
    compare_settlement::{self, Compared},
    place_hold, reconcile,
    views::Standing,
};
use keyrack_db::Points;
use keyrack_domain::{hold::HoldState, ids::AttemptId, money::Money, principal::Caller, refund::RefundState};
use keyrack_payment_simulator::{Amount, ReferenceName, State};
use keyrack_payments::{Deadline, PaymentProvider, Refund, RefundTry, SimulatorProvider};
use keyrack_testkit::Gates;

use crate::{
    desk_world::DeskWorld,
    world::{fresh_key, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");
const PAISE: u64 = 1_456_000;

fn reference(text: &str) -> ReferenceName {
    text.to_owned().try_into().expect("a reference")
}

/// The provider takes the price without having been asked to.
async fn taken_unasked(at: &DeskWorld, attempt: AttemptId, call: &str) {
    let amount = Amount { amount: PAISE, currency: "INR".to_owned() };
    let (charge, of) = (reference(&format!("{attempt}-{call}")), reference(&format!("{attempt}-auth")));
    at.simulator.simulator().plant(&charge, of, amount).await.expect("a charge");
}

async fn compare(at: &DeskWorld) -> Compared {
    compare_settlement::run_once(&at.desk).await.expect("the comparison runs")
}

async fn findings(at: &DeskWorld) -> Vec<String> {
    let rows = at
        .database()
        .rows("SELECT kind || ' ' || state AS finding FROM directory.settlement_findings ORDER BY 1")
        .await;
    rows.into_iter().map(|row| row["finding"].as_str().expect("text").to_owned()).collect()
}

/// An attempt that has FAILED, since nothing of it ever reached the provider.
async fn failed(at: &DeskWorld, guest: &Caller) -> AttemptId {
    let hold = at.hold(guest, STAY).await;
    let attempt = at.pay(guest, hold.id, "pm_timeout").await.attempt;
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 1);
    at.settle_money().await;
    assert!(matches!(at.standing(guest, attempt).await, Standing::Declined { .. }));
    let hold = place_hold::find(&at.desk, guest, hold.id).await.expect("a read").expect("the hold");
    assert_eq!(hold.state, HoldState::Expired);
    attempt
}

async fn has_it_back(at: &DeskWorld, guest: &Caller, attempt: AttemptId) {
    let standing = at.standing(guest, attempt).await;
    let Standing::NoRoom { refund } = &standing else { panic!("{standing:?}") };
    assert_eq!((refund.state, refund.amount.to_string().as_str()), (RefundState::Succeeded, "14560.00"));
    let capture = at.charge(attempt, "capture").expect("a capture");
    assert_eq!((capture.state, capture.refunded), (State::Captured, PAISE));
    assert_eq!((at.count("refunds").await, at.count("reservations").await), (1, 0));
}

/// The capture is told by nobody and stands in the books alone, thirty days later.
#[tokio::test]
async fn b017_a_capture_that_only_the_books_know_after_thirty_days_goes_back_once() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let attempt = failed(&at, &guest).await;
    at.advance(30 * 86_400).await;
    taken_unasked(&at, attempt, "capture").await;
    let compared = compare(&at).await;
    assert_eq!((compared.lines, compared.given_back, compared.found), (1, 1, 0));
    at.settle_money().await;
    has_it_back(&at, &guest, attempt).await;
    // The refund is a line too, and agrees; and a page that is compared again changes nothing.
    assert_eq!(compare(&at).await, Compared { lines: 1, ..Compared::default() });
    at.database().execute("DELETE FROM directory.settlement_positions").await;
    assert_eq!(compare(&at).await, Compared { lines: 2, ..Compared::default() });
    at.settle_money().await;
    has_it_back(&at, &guest, attempt).await;
    assert!(findings(&at).await.is_empty());
    at.verify().await;
}

/// The second run of the case: the payment succeeds twelve hours later, and no event ever tells.
#[tokio::test]
async fn b142_a_payment_that_succeeds_later_without_any_event_is_found_in_the_books() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let attempt = failed(&at, &guest).await;
    at.advance(12 * 3_600).await;
    taken_unasked(&at, attempt, "capture").await;
    at.settle_money().await;
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Declined { .. }), "nobody has told");
    assert_eq!(compare(&at).await.given_back, 1);
    at.settle_money().await;
    has_it_back(&at, &guest, attempt).await;
    assert_eq!(at.count("payment_attempts WHERE state IN ('PENDING_PAYMENT', 'RECONCILING')").await, 0);
    at.verify().await;
}

#[tokio::test]
async fn b055_a_second_charge_is_found_in_the_books_and_goes_back_once() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let key = fresh_key();
    let booked = at.try_pay(&guest, hold.id, "pm_ok", key.clone()).await.expect("a booking").answer;
    for _ in 0..3 {
        at.try_pay(&guest, hold.id, "pm_ok", key.clone()).await.expect("the same booking");
    }
    assert_eq!(at.captures(), 1);
    assert_eq!(compare(&at).await, Compared { lines: 1, ..Compared::default() }, "no difference");
    taken_unasked(&at, booked.attempt, "capture-2").await;
    let (one, other) = tokio::join!(compare(&at), compare(&at));
    assert_eq!((one.found + other.found, one.returned + other.returned), (1, 1), "{one:?} {other:?}");
    assert_eq!(findings(&at).await, ["other_charge RETURNED"]);
    at.advance(31).await;
    let again = compare(&at).await;
    assert_eq!((again.found, again.returned), (0, 0));
    let second = at.charge(booked.attempt, "capture-2").expect("the second charge");
    let first = at.charge(booked.attempt, "capture").expect("the first");
    assert_eq!((second.refunded, first.refunded), (PAISE, 0));
    assert!(matches!(at.standing(&guest, booked.attempt).await, Standing::Confirmed(_)));
    assert_eq!(at.count("refunds").await, 0);
    at.verify().await;
}

#[tokio::test]
async fn an_open_attempt_belongs_to_the_sweep_which_finds_the_same_capture() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let attempt = at.pay(&guest, hold.id, "pm_lost_response").await.attempt;
    for _ in 0..2 {
        assert_eq!(compare(&at).await, Compared { lines: 1, ..Compared::default() }, "it waits for that");
    }
    at.advance(121).await;
    at.settle_money().await;
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Confirmed(_)));
    assert_eq!(compare(&at).await, Compared { lines: 1, ..Compared::default() });
    assert_eq!(compare(&at).await, Compared::default(), "and goes on from there");
    assert!(findings(&at).await.is_empty());
    at.verify().await;
}

/// The resolver has taken the case and died: its lease still runs.
#[tokio::test]
async fn a_case_that_is_open_long_past_its_deadline_is_ended_by_what_the_books_say() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let attempt = at.pay(&guest, hold.id, "pm_lost_response").await.attempt;
    at.advance(121).await;
    let mut gate = gates.close("lease_unknown_attempts.after_commit");
    tokio::select! {
        biased;
        ended = reconcile::run_once(&at.desk, at.ledger()) => panic!("{ended:?}"),
        () = gate.reached() => {}
    }
    gate.open();
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Pending { reconciling: true, .. }));
    let (one, other) = tokio::join!(compare(&at), compare(&at));
    assert_eq!((one.found, other.found), (0, 0));
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Confirmed(_)));
    assert_eq!((at.captures(), at.count("reservations").await), (1, 1));
    at.verify().await;
}

#[tokio::test]
async fn a_capture_of_another_amount_than_recorded_is_told() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    at.pay(&guest, hold.id, "pm_ok").await;
    at.database().execute("UPDATE payment_attempts SET amount = 14560.01, captured = 14560.01").await;
    assert_eq!(compare(&at).await.found, 1);
    assert_eq!(findings(&at).await, ["amount_differs OPEN"]);
}

#[tokio::test]
async fn a_refund_that_is_called_a_success_and_is_not_in_the_books_is_told_after_a_day() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let attempt = at.pay(&guest, hold.id, "pm_declined").await.attempt;
    taken_unasked(&at, attempt, "capture").await;
    compare(&at).await;
    at.settle_money().await;
    // Of two that are called a success the books have one.
    at.database()
        .execute(
            "INSERT INTO refunds (hotel_id, refund_id, attempt_id, number, state, amount, currency, reason,
                                  requested_at, retry_at, settled_at)
             SELECT hotel_id, gen_random_uuid(), attempt_id, 2, state, 1, currency, reason, requested_at, retry_at,
                    settled_at
             FROM refunds",
        )
        .await;
    at.advance(3_600).await;
    assert_eq!(compare(&at).await.found, 0, "it is early");
    at.advance(24 * 3_600).await;
    assert_eq!(compare(&at).await.found, 1);
    assert_eq!(compare(&at).await.found, 0, "once");
    assert_eq!(findings(&at).await, ["refund_missing OPEN"]);
}

#[tokio::test]
async fn what_the_books_have_and_we_have_not_is_kept_once_for_an_operator() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let booked = at.pay(&guest, hold.id, "pm_ok").await.attempt;
    // A capture and a refund of an attempt that is not there, and a refund made by hand.
    let stranger = AttemptId::new(booked.hotel(), uuid::Uuid::from_u128(7));
    taken_unasked(&at, stranger, "capture").await;
    let simulator = at.simulator.simulator();
    let some = Amount { amount: 100, currency: "INR".to_owned() };
    let by_hand = simulator.refund_by_hand(reference(&format!("{booked}-capture")), some).await;
    assert!(by_hand.is_some_and(|charge| charge.state == State::Refunded));
    let provider = SimulatorProvider::new(&at.simulator.base_url()).expect("its address");
    let refund = RefundTry { attempt: stranger, number: 1, try_number: 1 };
    let amount = Money::parse("0.05", "INR".parse().expect("a currency")).expect("money");
    let answer = provider.refund(refund, amount, Deadline::after(Duration::from_secs(20))).await;
    assert!(matches!(answer, Refund::Refunded), "{answer:?}");
    let compared = compare(&at).await;
    assert_eq!((compared.lines, compared.found, compared.applied), (4, 2, 1));
    assert_eq!(findings(&at).await, ["unknown_attempt OPEN", "unknown_refund OPEN"]);
    assert_eq!(at.count("refunds WHERE by_hand AND state = 'SUCCEEDED'").await, 1);
    at.database().execute("DELETE FROM directory.settlement_positions").await;
    let again = compare(&at).await;
    assert_eq!((again.found, again.applied), (0, 0), "each once");
    assert_eq!(compare_settlement::open_findings(&at.desk).await.expect("a read"), 2);
    at.verify().await;
}

#[tokio::test]
async fn a_refund_that_comes_back_is_found_in_the_books() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let attempt = failed(&at, &guest).await;
    taken_unasked(&at, attempt, "capture").await;
    compare(&at).await;
    at.settle_money().await;
    has_it_back(&at, &guest, attempt).await;
    let refund = reference(&format!("{attempt}-refund-1-1"));
    at.simulator.simulator().fail_refund(&refund).await.expect("it had left");
    let compared = compare(&at).await;
    assert_eq!((compared.applied, compared.found), (1, 0));
    assert!(findings(&at).await.is_empty());
    assert_eq!(at.told("refund.failed").await, 1);
    // It is owed again, and goes by its next name.
    at.advance(31).await;
    at.settle_money().await;
    has_it_back(&at, &guest, attempt).await;
    assert_eq!(at.charge(attempt, "refund-1-2").map(|charge| charge.state), Some(State::Refunded));
    at.verify().await;
}

#[tokio::test]
async fn each_providers_books_have_a_place_of_their_own() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    at.pay(&guest, hold.id, "pm_ok").await;
    let elsewhere = "INSERT INTO directory.settlement_positions VALUES ('stripe', 'txn_9', now())";
    at.database().execute(elsewhere).await;
    assert_eq!(compare(&at).await.lines, 1, "from its own beginning");
    let places = at.database().rows("SELECT provider FROM directory.settlement_positions ORDER BY 1").await;
    let places: Vec<_> = places.iter().map(|row| row["provider"].as_str()).collect();
    assert_eq!(places, [Some("simulator"), Some("stripe")]);
    let untouched = "SELECT position FROM directory.settlement_positions WHERE provider = 'stripe'";
    assert_eq!(at.database().value(untouched).await, "txn_9");
}

/// A run that dies at any of its points, and another one after it: nothing twice, nothing lost.
#[tokio::test]
async fn a_comparison_that_dies_at_any_point_is_taken_up_by_the_next_one() {
    for point in [
        "give_up_booking.after_read",
        "give_up_booking.before_commit",
        "give_up_booking.after_commit",
        "enter_finding.before_commit",
        "enter_finding.after_commit",
        "advance_settlement.before_commit",
        "advance_settlement.after_commit",
        "take_strays.before_commit",
        "take_strays.after_commit",
        "settle_stray.before_commit",
        "settle_stray.after_commit",
    ] {
        let gates = Gates::new();
        let at = DeskWorld::with_points(gates.points()).await;
        let guest = guest();
        let hold = at.hold(&guest, STAY).await;
        let attempt = at.pay(&guest, hold.id, "pm_declined").await.attempt;
        taken_unasked(&at, attempt, "capture").await;
        taken_unasked(&at, attempt, "capture-2").await;
        let mut gate = gates.close(point);
        tokio::select! {
            biased;
            ended = compare_settlement::run_once(&at.desk) => panic!("{point}: {ended:?}"),
            () = gate.reached() => {}
        }
        // What is in the database's hands ends there; the run itself is gone.
        gate.open();
        for _ in 0..2 {
            at.advance(31).await;
            compare(&at).await;
            at.settle_money().await;
        }
        has_it_back(&at, &guest, attempt).await;
        assert_eq!(findings(&at).await, ["other_charge RETURNED"], "{point}");
        assert_eq!(at.charge(attempt, "capture-2").map(|charge| charge.refunded), Some(PAISE), "{point}");
        at.verify().await;
    }
}
