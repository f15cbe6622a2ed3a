//! One late capture, found by everybody who looks: the request, the provider's notice, the sweep and the comparison
//! with the provider's books. It is one fact, one refund, one event.

use futures::future::join_all;
use keyrack_booking::fail_attempt::FailAttemptOp;
use keyrack_domain::{actor::Actor, attempt::AttemptState};
use keyrack_testkit::Gates;
use serde_json::json;

use crate::{
    desk_world::DeskWorld,
    drivers::{
        Driver::{Books, Notice, Request, Resolver},
        Taken, Told, orders, said,
    },
    telling::PAISE,
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// What the capture finds: the hold has ended, or the attempt has FAILED beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Late {
    HoldEnded,
    AttemptFailed,
}

async fn taken_late(at: &DeskWorld, gates: &Gates, late: Late) -> Taken {
    let taken = Taken::new(at, gates, STAY).await;
    at.advance(600).await;
    assert_eq!(at.expire().await.expired, 1);
    if late == Late::AttemptFailed {
        let failed = FailAttemptOp {
            actor: Actor::Worker,
            attempt: taken.attempt,
            guard: AttemptState::PendingPayment,
            failure: "not_received".to_owned(),
        };
        at.ledger().run(failed).await.expect("written");
    }
    taken
}

/// The `rounds`th that has ended.
async fn is_one_fact(at: &DeskWorld, taken: &mut Taken, rounds: i64, what: &str) {
    assert_eq!(said(&at.standing(&taken.guest, taken.attempt).await), Told::GivenBack, "{what}");
    let id = taken.attempt;
    let of_attempt = format!("payload->>'attempt_id' = '{id}'");
    let given_up = at.count(&format!("audit WHERE action = 'booking.given_up' AND subject = '{id}'")).await;
    assert_eq!(given_up, 1, "{what}");
    let requested = at.count(&format!("outbox WHERE type = 'refund.requested' AND {of_attempt}")).await;
    assert_eq!((requested, at.told("refund.requested").await), (1, rounds), "{what}");
    assert_eq!(at.count("refunds").await, rounds, "{what}");
    at.settle_money().await;
    // Looked at again by all of them, when the refund has been made too.
    for driver in [Books, Notice, Resolver, Books] {
        taken.run(driver).await;
    }
    at.settle_money().await;
    assert_eq!((at.count("refunds").await, at.count("reservations").await), (rounds, 0), "{what}");
    let capture = at.charge(taken.attempt, "capture").expect("a capture");
    assert_eq!(capture.refunded, PAISE, "{what}");
    let state = format!("SELECT state FROM payment_attempts WHERE attempt_id = '{}'", id.uuid());
    assert_eq!(at.database().value(&state).await, json!("REFUNDED"), "{what}");
    let succeeded = at.count(&format!("outbox WHERE type = 'refund.succeeded' AND {of_attempt}")).await;
    assert_eq!(succeeded, 1, "{what}");
    assert_eq!(at.count("directory.settlement_findings").await, 0, "{what}");
    assert_eq!(at.counters(STAY.0).await, (500, 0, 0), "{what}");
}

async fn in_every_order(late: Late) {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    at.sellable(STAY, 500).await;
    let mut rounds = 0;
    for order in orders(&[Request, Notice, Resolver, Books]) {
        let mut taken = taken_late(&at, &gates, late).await;
        for driver in &order {
            taken.run(*driver).await;
        }
        rounds += 1;
        is_one_fact(&at, &mut taken, rounds, &format!("{late:?}, {order:?}")).await;
    }
    at.verify().await;
}

#[tokio::test]
async fn b017_a_capture_after_its_hold_that_four_find_in_each_of_24_orders_is_one_refund_and_one_event() {
    in_every_order(Late::HoldEnded).await;
}

#[tokio::test]
async fn b142_a_capture_of_a_failed_attempt_that_four_find_in_each_of_24_orders_is_one_refund_and_one_event()
{
    in_every_order(Late::AttemptFailed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b017_a_late_capture_that_four_find_at_once_is_one_refund_and_one_event() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    at.sellable(STAY, 500).await;
    for round in 1..=20 {
        let late = if round % 2 == 0 { Late::HoldEnded } else { Late::AttemptFailed };
        let mut taken = taken_late(&at, &gates, late).await;
        let drivers = [Request, Notice, Resolver, Books].map(|driver| taken.start(driver));
        for told in join_all(drivers).await {
            told.expect("it ends");
        }
        // Two that met may have left the case to the sweep.
        at.settle_money().await;
        is_one_fact(&at, &mut taken, round, &format!("{late:?}, round {round}")).await;
    }
    at.verify().await;
}
