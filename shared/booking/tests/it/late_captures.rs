//! Money that was taken after the hold had ended: it goes back once, and nobody else notices.

use keyrack_booking::{
    fail_attempt::FailAttemptOp, place_hold, reconcile, refund, start_attempt::StartAttemptError,
    views::Standing,
};
use keyrack_db::Points;
use keyrack_domain::{
    actor::Actor, attempt::AttemptState, hold::HoldState, ids::AttemptId, principal::Caller,
    refund::RefundState,
};
use keyrack_payment_simulator::{Kind, State};
use keyrack_testkit::Gates;

use crate::{
    desk_world::DeskWorld,
    world::{fresh_key, guest, key},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");
const PAISE: u64 = 1_456_000;

/// The guest has the whole amount back, by one refund.
async fn has_it_back(at: &DeskWorld, guest: &Caller, attempt: AttemptId) {
    let standing = at.standing(guest, attempt).await;
    let Standing::NoRoom { refund } = &standing else { panic!("{standing:?}") };
    assert_eq!((refund.state, refund.amount.to_string().as_str()), (RefundState::Succeeded, "14560.00"));
    let capture = at.charge(attempt, "capture").expect("a capture");
    assert_eq!((capture.state, capture.refunded), (State::Captured, PAISE));
}

/// What the provider has given back: how often.
fn refunds_made(at: &DeskWorld) -> usize {
    let charges = at.simulator.simulator().charges("", None, 1_000);
    charges.iter().filter(|c| (c.kind, c.state) == (Kind::Refund, State::Refunded)).count()
}

/// B013: T3 at 605 s by the request itself, whose hold ended at 600 s. Its fence matches nothing.
#[tokio::test]
async fn b013_a_request_that_comes_back_to_a_lost_hold_takes_no_unit_and_hands_over() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    at.sellable(STAY, 1).await;
    let (late, lucky) = (guest(), guest());
    let hold = at.hold(&late, STAY).await;
    at.advance(400).await;
    let mut gate = gates.close("pay.after_provider");
    let paying = at.pay(&late, hold.id, "pm_ok");
    let meanwhile = async {
        gate.reached().await;
        at.advance(201).await;
        assert_eq!(at.expire().await.expired, 1);
        at.advance(1).await;
        let taken = at.hold(&lucky, STAY).await;
        at.advance(3).await;
        gate.open();
        taken
    };
    let (pending, taken) = tokio::join!(paying, meanwhile);
    assert!(matches!(pending.standing, Standing::Pending { reconciling: true, .. }), "{pending:?}");
    assert_eq!(at.counters("2026-11-14").await, (1, 1, 0));
    at.verify().await;
    at.settle_money().await;
    has_it_back(&at, &late, pending.attempt).await;
    assert_eq!((at.count("refunds").await, refunds_made(&at), at.count("reservations").await), (1, 1, 0));
    let other = place_hold::find(&at.desk, &lucky, taken.id).await.expect("a read").expect("the other hold");
    assert_eq!(other.state, HoldState::Active);
    assert_eq!(at.counters("2026-11-14").await, (1, 1, 0));
    let again = at.try_pay(&late, hold.id, "pm_ok", fresh_key()).await.expect_err("nothing to pay for");
    assert!(matches!(again, StartAttemptError::HoldExpired(_)), "{again:?}");
    at.verify().await;
}

/// B004, B016: the default is to give the money back, even where the nights are free.
#[tokio::test]
async fn b004_b016_two_late_captures_and_two_resolvers_make_two_refunds_and_no_reservation() {
    let at = DeskWorld::new().await;
    let mut late = Vec::new();
    for guest in [guest(), guest()] {
        let hold = at.hold(&guest, STAY).await;
        let attempt = at.pay(&guest, hold.id, "pm_lost_response").await.attempt;
        late.push((guest, attempt));
    }
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 2);
    let sweep = || reconcile::run_once(&at.desk, at.ledger());
    let (one, other) = tokio::join!(sweep(), sweep());
    let (one, other) = (one.expect("the sweep runs"), other.expect("the sweep runs"));
    assert_eq!(one.ended + other.ended, 2, "{one:?} {other:?}");
    assert_eq!(at.count("refunds WHERE state = 'REQUESTED'").await, 2);
    at.verify().await;
    let send = || refund::run_once(&at.desk, at.ledger());
    let (one, other) = tokio::join!(send(), send());
    assert_eq!(one.expect("refunds are sent").settled + other.expect("refunds are sent").settled, 2);
    for _ in 0..5 {
        at.advance(31).await;
        let again = sweep().await.expect("the sweep runs");
        let sent = send().await.expect("refunds are sent");
        assert_eq!((again.taken, sent.taken), (0, 0));
    }
    for (guest, attempt) in &late {
        has_it_back(&at, guest, *attempt).await;
    }
    assert_eq!((at.count("refunds").await, refunds_made(&at), at.count("reservations").await), (2, 2, 0));
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 0));
    at.verify().await;
}

/// B004, stepped: the first resolver has read the case, loses its lease, and comes back when the second one
/// has ended it.
#[tokio::test]
async fn b004_a_resolver_that_is_overtaken_requests_no_second_refund() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let attempt = at.pay(&guest, hold.id, "pm_lost_response").await.attempt;
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 1);
    let mut gate = gates.close("give_up_booking.after_read");
    let overtaking = async {
        gate.reached().await;
        at.advance(31).await;
        let swept = reconcile::run_once(&at.desk, at.ledger()).await.expect("the sweep runs");
        assert_eq!((swept.taken, swept.ended), (1, 1));
        gate.open();
    };
    let (overtaken, ()) = tokio::join!(reconcile::run_once(&at.desk, at.ledger()), overtaking);
    assert_eq!(overtaken.expect("the sweep runs").taken, 1);
    assert_eq!(at.count("refunds").await, 1);
    at.settle_money().await;
    has_it_back(&at, &guest, attempt).await;
    assert_eq!((at.count("refunds").await, refunds_made(&at)), (1, 1));
    at.verify().await;
}

/// B017: the hold is still there to be seen when its payer comes a day late.
#[tokio::test]
async fn b017_a_capture_a_day_late_finds_its_expired_hold_and_goes_back() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let pending = at.pay(&guest, hold.id, "pm_slow").await;
    assert!(matches!(pending.standing, Standing::Pending { .. }), "{pending:?}");
    at.advance(24 * 3_600).await;
    assert_eq!(at.expire().await.expired, 1);
    at.let_captured(pending.attempt).await;
    at.settle_money().await;
    let seen = place_hold::find(&at.desk, &guest, hold.id).await.expect("a read").expect("the hold");
    assert_eq!(seen.state, HoldState::Expired);
    has_it_back(&at, &guest, pending.attempt).await;
    assert_eq!((at.captures(), refunds_made(&at)), (1, 1));
    let again = at.try_pay(&guest, hold.id, "pm_ok", fresh_key()).await.expect_err("no pay again");
    assert!(matches!(again, StartAttemptError::HoldExpired(_)), "{again:?}");
    assert_eq!(at.captures(), 1);
    at.verify().await;
}

/// B055: however often the guest asks, the provider is asked once.
#[tokio::test]
async fn b055_a_slow_provider_that_is_retried_four_times_charges_once() {
    let at = DeskWorld::impatient(Points::default()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let mut attempts = Vec::new();
    for place in 0..4 {
        let told = at.try_pay(&guest, hold.id, "pm_slow", key("K")).await.expect("an answer");
        assert_eq!(told.replayed, place > 0);
        assert!(matches!(told.answer.standing, Standing::Pending { .. }), "{told:?}");
        attempts.push(told.answer.attempt);
    }
    attempts.dedup();
    assert_eq!(attempts.len(), 1);
    at.let_captured(attempts[0]).await;
    at.advance(121).await;
    at.settle_money().await;
    let told = at.try_pay(&guest, hold.id, "pm_slow", key("K")).await.expect("an answer");
    assert!(matches!(told.answer.standing, Standing::Confirmed(_)), "{told:?}");
    let capture = at.charge(attempts[0], "capture").expect("a capture");
    assert_eq!((at.captures(), capture.calls), (1, 1));
    assert_eq!((at.count("reservations").await, at.count("payment_attempts").await), (1, 1));
    at.verify().await;
}

/// The payer stands still before it asks, for longer than any deadline: the sweep finds nothing at the
/// provider. What was cancelled by reference can no longer be paid, however late it is asked for.
#[tokio::test]
async fn a_payer_that_wakes_up_after_the_attempt_was_given_up_takes_nothing() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let mut gate = gates.close("pay.before_provider");
    let meanwhile = async {
        gate.reached().await;
        at.advance(185).await;
        at.settle_money().await;
        gate.open();
    };
    let (failed, ()) = tokio::join!(at.pay(&guest, hold.id, "pm_ok"), meanwhile);
    assert!(matches!(failed.standing, Standing::Declined { .. }), "{failed:?}");
    assert_eq!((at.captures(), at.count("reservations").await), (0, 0));
    // The hold is as it was, and another card pays for it.
    let paid = at.pay(&guest, hold.id, "pm_ok").await;
    assert!(matches!(paid.standing, Standing::Confirmed(_)), "{paid:?}");
    assert_eq!(at.captures(), 1);
    at.verify().await;
}

/// Money that was taken although the attempt had been called FAILED goes back, whoever erred: it never
/// becomes a reservation, since the guest was told otherwise.
#[tokio::test]
async fn a_capture_for_an_attempt_that_had_failed_goes_back() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let mut gate = gates.close("pay.after_provider");
    let meanwhile = async {
        gate.reached().await;
        let open = at.try_pay(&guest, hold.id, "pm_ok", fresh_key()).await.expect_err("one is open");
        let StartAttemptError::AttemptInProgress(attempt) = open else { panic!("{open:?}") };
        let failed = FailAttemptOp {
            actor: Actor::Worker,
            attempt,
            guard: AttemptState::PendingPayment,
            failure: "not_received".to_owned(),
        };
        at.ledger().run(failed).await.expect("written");
        gate.open();
    };
    let (given_up, ()) = tokio::join!(at.pay(&guest, hold.id, "pm_ok"), meanwhile);
    at.verify().await;
    at.settle_money().await;
    has_it_back(&at, &guest, given_up.attempt).await;
    assert_eq!((at.count("reservations").await, at.counters(STAY.0).await), (0, (5, 1, 0)));
    at.verify().await;
}

/// The night is locked by somebody else when the money has been taken: that is tried again at once, and the
/// guest is never told that nothing was done.
#[tokio::test]
async fn a_confirmation_that_meets_a_busy_night_is_tried_again() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let mut blocker = at.database().connect().await;
    let mut taken = gates.close("pay.after_provider");
    let mut waiting = gates.close_after("confirm.after_rows_locked", 1);
    let meanwhile = async {
        taken.reached().await;
        let lock = "BEGIN; SELECT 1 FROM room_night_inventory WHERE stay_date = '2026-11-15' FOR UPDATE";
        at.database().execute_on(&mut blocker, lock).await;
        taken.open();
        // Its second try: the first has met the lock.
        waiting.reached().await;
        at.database().execute_on(&mut blocker, "ROLLBACK").await;
        waiting.open();
    };
    let (paid, ()) = tokio::join!(at.pay(&guest, hold.id, "pm_ok"), meanwhile);
    assert!(matches!(paid.standing, Standing::Confirmed(_)), "{paid:?}");
    assert_eq!((at.captures(), at.counters(STAY.0).await), (1, (5, 0, 1)));
    at.verify().await;
}

/// The night stays locked: the guest hears that the outcome is open, which it is, and the sweep ends it.
#[tokio::test]
async fn a_confirmation_that_never_gets_its_night_is_pending_and_ended_by_the_sweep() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let mut blocker = at.database().connect().await;
    let mut taken = gates.close("pay.after_provider");
    let meanwhile = async {
        taken.reached().await;
        let lock = "BEGIN; SELECT 1 FROM room_night_inventory WHERE stay_date = '2026-11-15' FOR UPDATE";
        at.database().execute_on(&mut blocker, lock).await;
        taken.open();
    };
    let (pending, ()) = tokio::join!(at.pay(&guest, hold.id, "pm_ok"), meanwhile);
    assert!(matches!(pending.standing, Standing::Pending { reconciling: false, .. }), "{pending:?}");
    at.database().execute_on(&mut blocker, "ROLLBACK").await;
    at.advance(121).await;
    at.settle_money().await;
    let paid = at.standing(&guest, pending.attempt).await;
    assert!(matches!(paid, Standing::Confirmed(_)), "{paid:?}");
    assert_eq!(at.captures(), 1);
    at.verify().await;
}
