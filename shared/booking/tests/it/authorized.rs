//! The process dies between T2 and the provider's answer: what was authorized and not captured.

use keyrack_booking::{Settings, place_hold, reconcile, start_attempt::StartAttemptError, views::Standing};
use keyrack_db::Points;
use keyrack_domain::{
    hold::HoldState,
    ids::{AttemptId, HoldId},
    principal::Caller,
};
use keyrack_payment_simulator::State;
use keyrack_payments::{Authorization, Deadline, PaymentProvider, SimulatorProvider};
use keyrack_testkit::Gates;

use crate::{
    desk_world::{DeskWorld, desk, payment},
    world::{HORIZON, fresh_key, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// A guest whose payment got as far as the authorization, which only the provider remembers.
async fn authorized_only(at: &DeskWorld) -> (Caller, HoldId, AttemptId) {
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let dies = Points::hooked(|transaction, step| {
        assert!((transaction, step) != ("pay", "before_provider"), "the process dies here");
        Box::pin(std::future::ready(()))
    });
    let desk = desk(&at.world, &at.simulator, &dies, Settings { horizon: HORIZON, ..Settings::default() });
    let request = payment(hold.id, "pm_ok", fresh_key());
    keyrack_booking::start_attempt::run(&desk, &guest, request).await.expect_err("it died");
    let other = at.try_pay(&guest, hold.id, "pm_ok", fresh_key()).await.expect_err("one at a time");
    let StartAttemptError::AttemptInProgress(attempt) = other else { panic!("{other:?}") };
    let provider = SimulatorProvider::new(&at.simulator.base_url()).expect("the provider's address");
    let patience = Deadline::after(std::time::Duration::from_secs(10));
    let method = "pm_ok".parse().expect("a token");
    let authorized = provider.authorize(attempt, hold.total, &method, patience).await;
    assert!(matches!(authorized, Authorization::Authorized), "{authorized:?}");
    (guest, hold.id, attempt)
}

/// B053: the resolver asks for exactly this attempt, and completes what it finds.
#[tokio::test]
async fn b053_an_authorization_on_a_live_hold_is_captured_once_and_becomes_the_reservation() {
    let at = DeskWorld::new().await;
    let (guest, hold, attempt) = authorized_only(&at).await;
    at.advance(121).await;
    at.settle_money().await;
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(standing, Standing::Confirmed(_)), "{standing:?}");
    let hold = place_hold::find(&at.desk, &guest, hold).await.expect("a read").expect("the hold");
    assert_eq!(hold.state, HoldState::Consumed);
    assert_eq!((at.captures(), at.counters("2026-11-14").await), (1, (5, 0, 1)));
    at.verify().await;
}

/// B053, stepped: the first resolver has taken the money and read what it needs for T3, loses its lease, and
/// comes back when the second one has confirmed.
#[tokio::test]
async fn b053_two_resolvers_of_one_authorization_make_one_reservation() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let (guest, _, attempt) = authorized_only(&at).await;
    at.advance(121).await;
    let mut gate = gates.close("confirm.after_read");
    let overtaking = async {
        gate.reached().await;
        at.advance(31).await;
        let swept = reconcile::run_once(&at.desk, at.ledger()).await.expect("the sweep runs");
        assert_eq!((swept.taken, swept.ended), (1, 1));
        gate.open();
    };
    let (overtaken, ()) = tokio::join!(reconcile::run_once(&at.desk, at.ledger()), overtaking);
    assert_eq!(overtaken.expect("the sweep runs").taken, 1);
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(standing, Standing::Confirmed(_)), "{standing:?}");
    assert_eq!((at.captures(), at.count("reservations").await), (1, 1));
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
    at.verify().await;
}

/// B033: the local side ends too, so that the guest may try again.
#[tokio::test]
async fn b033_an_authorization_without_a_hold_is_voided_and_takes_no_money() {
    let at = DeskWorld::new().await;
    let (guest, _, attempt) = authorized_only(&at).await;
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 1);
    at.settle_money().await;
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(standing, Standing::Declined { .. }), "{standing:?}");
    assert_eq!((at.captures(), at.count("refunds").await), (0, 0));
    let authorization = at.charge(attempt, "auth").expect("it was asked for");
    assert_eq!(authorization.state, State::Voided);
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 0));
    let hold = at.hold(&guest, STAY).await;
    let again = at.pay(&guest, hold.id, "pm_ok").await;
    assert!(matches!(again.standing, Standing::Confirmed(_)), "{again:?}");
    assert_eq!(at.captures(), 1);
    at.verify().await;
}
