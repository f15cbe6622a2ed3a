//! Every step run twice: the second time changes nothing, wherever it comes from.

use keyrack_booking::{
    KeyRefusal,
    change::Change,
    confirm::ConfirmOp,
    edit_inventory::{self, EditInventoryError},
    expire::ExpireOp,
    fail_attempt::FailAttemptOp,
    give_up_booking::GiveUpBookingOp,
    reconcile, refund,
    release::operation::ReleaseOp,
};
use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    ids::{AttemptId, RefundId, ReservationId},
    money::Money,
};
use keyrack_payments::{Deadline, PaymentProvider, Refund, RefundTry, SimulatorProvider};
use keyrack_testkit::Gates;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    batches::{claim, confirm, release},
    desk_world::DeskWorld,
    world::{guest, key},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// Everything that a booking leaves in the database, row by row.
async fn rows(at: &DeskWorld) -> Value {
    let tables = [
        "room_night_inventory WHERE held + confirmed > 0",
        "holds",
        "payment_attempts",
        "payment_history",
        "refunds",
        "reservations",
        "reservation_nights",
        "idempotency_keys",
        "outbox",
        "audit",
    ];
    let all = tables.map(|table| {
        format!("(SELECT json_agg(to_json(r) ORDER BY r::text) FROM (SELECT * FROM {table}) AS r)")
    });
    at.database().value(&format!("SELECT json_build_array({})", all.join(", "))).await
}

/// The first run changes something, and the second, though it brings other ids, nothing.
async fn twice(at: &DeskWorld, first: impl Into<Change>, second: impl Into<Change>) {
    let (first, second) = (first.into(), second.into());
    let told = format!("{first:?}");
    let before = rows(at).await;
    at.ledger().run(first).await.expect("an answer");
    let after = rows(at).await;
    assert_ne!(before, after, "it did something: {told}");
    at.ledger().run(second).await.expect("an answer");
    assert_eq!(rows(at).await, after, "{told}");
    at.verify().await;
}

/// An attempt that was paid for, RECONCILING, whose hold has ended.
async fn unplaced(at: &DeskWorld) -> (AttemptId, Money) {
    let late = confirm(at, &guest()).await;
    at.advance(721).await;
    assert!(at.expire().await.expired >= 1);
    let (attempt, captured) = (late.attempt, late.captured);
    twice(at, late.clone(), ConfirmOp { reservation: new_reservation(attempt), ..late }).await;
    (attempt, captured)
}

fn new_reservation(attempt: AttemptId) -> ReservationId {
    ReservationId::new(attempt.hotel(), Uuid::now_v7())
}

#[tokio::test]
async fn a_confirmation_run_twice_makes_one_reservation() {
    let at = DeskWorld::new().await;
    let paid = confirm(&at, &guest()).await;
    let again = ConfirmOp { reservation: new_reservation(paid.attempt), ..paid.clone() };
    twice(&at, paid, again.clone()).await;
    // The resolver comes to the same attempt.
    let after = rows(&at).await;
    at.ledger().run(ConfirmOp { guard: AttemptState::Reconciling, ..again }).await.expect("an answer");
    assert_eq!(rows(&at).await, after);
}

#[tokio::test]
async fn a_decline_run_twice_fails_the_attempt_once() {
    let at = DeskWorld::new().await;
    let attempt = confirm(&at, &guest()).await.attempt;
    let fail = |failure: &str| FailAttemptOp {
        actor: Actor::Worker,
        attempt,
        guard: AttemptState::PendingPayment,
        failure: failure.to_owned(),
    };
    twice(&at, fail("declined"), fail("not_received")).await;
}

#[tokio::test]
async fn giving_a_booking_up_twice_requests_one_refund() {
    let at = DeskWorld::new().await;
    let (attempt, captured) = unplaced(&at).await;
    let give_up = || GiveUpBookingOp {
        attempt,
        guard: AttemptState::Reconciling,
        captured,
        refund: RefundId::new(attempt.hotel(), Uuid::now_v7()),
    };
    twice(&at, give_up(), give_up()).await;
}

#[tokio::test]
async fn an_expiry_run_twice_gives_back_once() {
    let at = DeskWorld::new().await;
    let hold = at.hold(&guest(), STAY).await.id;
    // Another hold of the same nights, whose units must stay.
    at.advance(300).await;
    at.hold(&guest(), STAY).await;
    at.advance(301).await;
    let expire = ExpireOp { hold, as_drift: false };
    twice(&at, expire.clone(), expire).await;
    assert_eq!(at.counters("2026-11-14").await, (5, 1, 0));
}

#[tokio::test]
async fn a_release_run_twice_with_its_key_gives_back_once() {
    let at = DeskWorld::new().await;
    let caller = guest();
    let hold = at.hold(&caller, STAY).await.id;
    at.hold(&guest(), STAY).await;
    let first = release(&caller, hold, "R");
    let again = claim(&caller, "DELETE /v1/holds/{id}", "R", hold.hotel(), hold.uuid());
    twice(&at, first.clone(), ReleaseOp { claim: again, ..first.clone() }).await;
    // The same try again, as after a commit of which nobody knows.
    let after = rows(&at).await;
    at.ledger().run(first).await.expect("an answer");
    assert_eq!(rows(&at).await, after);
    assert_eq!(at.counters("2026-11-14").await, (5, 1, 0));
}

/// A late capture with its refund requested; nothing is sent yet.
async fn refund_due(gates: &Gates) -> (DeskWorld, AttemptId) {
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await.id;
    let attempt = at.pay(&guest, hold, "pm_lost_response").await.attempt;
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 1);
    reconcile::run_once(&at.desk, at.ledger()).await.expect("the sweep runs");
    (at, attempt)
}

/// A sender that has taken the refund and is overtaken by another one, to whom the provider says the same.
/// Returns what stood before the second of them wrote.
async fn sent_twice(at: &DeskWorld, gates: &Gates) -> Value {
    let mut gate = gates.close("take_due_refunds.after_commit");
    let slow = refund::run_once(&at.desk, at.ledger());
    let quick = async {
        gate.reached().await;
        at.advance(31).await;
        let sent = refund::run_once(&at.desk, at.ledger()).await.expect("refunds are sent");
        assert_eq!(sent.taken, 1, "the first sender's turn is over");
        let after = rows(at).await;
        gate.open();
        after
    };
    let (slow, after) = tokio::join!(slow, quick);
    assert_eq!(slow.expect("refunds are sent").taken, 1);
    after
}

#[tokio::test]
async fn a_refund_settled_twice_is_recorded_once() {
    let gates = Gates::new();
    let (at, attempt) = refund_due(&gates).await;
    let after = sent_twice(&at, &gates).await;
    assert_eq!(at.charge(attempt, "refund-1-1").expect("a refund").calls, 2, "both were sent");
    assert_eq!(at.count("refunds WHERE state = 'SUCCEEDED'").await, 1);
    assert_eq!(rows(&at).await, after);
    at.verify().await;
}

/// Five definite failures: the try rises by one each time, though two senders are told of each.
#[tokio::test]
async fn a_refund_refused_twice_is_counted_once_up_to_the_bound() {
    let gates = Gates::new();
    let (at, attempt) = refund_due(&gates).await;
    refunded_by_hand(&at, attempt).await;
    for (round, state) in [(1, "REQUESTED"), (2, "REQUESTED"), (3, "REQUESTED"), (4, "REQUESTED")]
        .into_iter()
        .chain([(5, "NEEDS_ATTENTION")])
    {
        let after = sent_twice(&at, &gates).await;
        let stands = format!("refunds WHERE state = '{state}' AND try = {}", (round + 1).min(5));
        assert_eq!(at.count(&stands).await, 1, "{round}");
        let failures = at.count("payment_history WHERE kind = 'refund_failed'").await;
        assert_eq!(failures, round, "{round}");
        assert_eq!(rows(&at).await, after, "{round}");
        at.advance(31).await;
    }
    let sent = refund::run_once(&at.desk, at.ledger()).await.expect("a run");
    assert_eq!(sent.taken, 0, "an operator must look");
    at.verify().await;
}

/// Nothing is left of the capture, so that the provider refuses every refund of ours.
async fn refunded_by_hand(at: &DeskWorld, attempt: AttemptId) {
    let provider = SimulatorProvider::new(&at.simulator.base_url()).expect("the provider's address");
    let patience = Deadline::after(std::time::Duration::from_secs(10));
    let name = RefundTry { attempt, number: 9, try_number: 1 };
    let amount = Money::parse("14560.00", "INR".parse().expect("a currency")).expect("an amount");
    let refunded = provider.refund(name, amount, patience).await;
    assert!(matches!(refunded, Refund::Refunded), "{refunded:?}");
}

/// Whoever did not hear the answer before midnight asks after it, and is not told that nothing was done.
#[tokio::test]
async fn an_edit_of_a_night_that_has_passed_since_is_told_again_as_it_was() {
    let at = DeskWorld::new().await;
    let zone = at.world.hotels.by_code(&at.hotel).await.expect("the hotel").zone;
    let today = at.world.now().await.date_in(zone);
    let (night, next) = (today.to_string(), today.succ_opt().expect("tomorrow").to_string());
    let edit = |sellable| at.edit("RT-DLX", (&night, &next), sellable, key("edit"));
    let operator = &at.world.operator;
    let first = edit_inventory::run(&at.desk, operator, edit(7)).await.expect("the edit");
    // Within the time in which a repeat is answered from memory.
    at.advance(20 * 3600).await;
    assert!(at.world.now().await.date_in(zone) > today, "the night has passed");
    let again = edit_inventory::run(&at.desk, operator, edit(7)).await.expect("the same answer");
    assert_eq!((again.answer, again.replayed), (first.answer, true));
    let other = edit_inventory::run(&at.desk, operator, edit(8)).await;
    assert!(matches!(other, Err(EditInventoryError::Key(KeyRefusal::Reused))), "{other:?}");
    let late = at.edit("RT-DLX", (&night, &next), 8, key("late"));
    let late = edit_inventory::run(&at.desk, operator, late).await;
    assert!(matches!(late, Err(EditInventoryError::Invalid(_))), "{late:?}");
}
