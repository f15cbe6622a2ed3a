//! A hold and its nights are read one after the other, and the world goes on in between.

use keyrack_booking::{
    Answered, Desk, Fault, Settings, expire,
    place_hold::{self, PlaceHold, PlaceHoldError},
    release::{self, ReleaseError},
    views::HoldView,
};
use keyrack_db::Points;
use keyrack_domain::{hold::HoldState, ids::HoldId, principal::Caller};
use keyrack_testkit::Gates;

use crate::{
    desk_world::{DeskWorld, desk},
    world::{HORIZON, fresh_key, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// Another process, which no gate stops.
fn another_desk(at: &DeskWorld) -> Desk {
    let settings = Settings { horizon: HORIZON, ..Settings::default() };
    desk(&at.world, &at.simulator, &Points::default(), settings)
}

async fn release(desk: &Desk, guest: &Caller, hold: HoldId) -> Result<Answered<HoldView>, ReleaseError> {
    release::run(desk, guest, hold, fresh_key()).await
}

#[tokio::test]
async fn a_release_that_saw_the_hold_before_and_the_night_after_another_release_is_no_drift() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let mut gate = gates.close("release_hold.while_reading");
    let meanwhile = async {
        gate.reached().await;
        release(&another_desk(&at), &guest, hold.id).await.expect("the other release");
        gate.open();
    };
    let (released, ()) = tokio::join!(release(&at.desk, &guest, hold.id), meanwhile);
    assert_eq!(released.expect("an answer").answer.state, HoldState::Released);
    assert_eq!(at.counters(STAY.0).await, (5, 0, 0));
    at.verify().await;
}

#[tokio::test]
async fn an_expiry_that_saw_the_hold_before_and_the_night_after_another_expiry_is_no_drift() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    at.hold(&guest(), STAY).await;
    at.advance(601).await;
    let mut gate = gates.close("expire_hold.while_reading");
    let other = another_desk(&at);
    let meanwhile = async {
        gate.reached().await;
        let ledger = other.ledgers().next().expect("a shard").1;
        assert_eq!(expire::run_once(ledger).await.expect("the other run").expired, 1);
        gate.open();
    };
    let (run, ()) = tokio::join!(at.expire(), meanwhile);
    assert_eq!((run.looked_at, run.expired, run.drifted), (1, 0, 0));
    assert_eq!(at.counters(STAY.0).await, (5, 0, 0));
    at.verify().await;
}

#[tokio::test]
async fn a_swap_of_a_hold_that_the_counters_do_not_carry_changes_nothing_and_is_told_as_drift() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let lose = "UPDATE room_night_inventory SET held = 0 WHERE stay_date = '2026-11-15'";
    at.database().execute(lose).await;
    let quote = at.quote(&guest, STAY).await;
    let swap = PlaceHold { quote, replaces: Some(hold.id), key: fresh_key() };
    let refused = place_hold::run(&at.desk, &guest, swap).await.expect_err("drift");
    let PlaceHoldError::Fault(Fault::Internal(source)) = refused else { panic!("{refused:?}") };
    assert_eq!(source.to_string(), format!("the counters do not carry hold {}", hold.id));
    assert_eq!((at.counters("2026-11-14").await, at.counters("2026-11-15").await), ((5, 1, 0), (5, 0, 0)));
    assert_eq!(at.count("holds").await, 1);
}

/// Two calls of one guest at one hotel take turns. Who waits too long is told so, and not that a first
/// call with its key is running: there is none.
#[tokio::test]
async fn a_hold_that_waits_for_another_of_the_same_guest_is_busy_and_not_in_progress() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let (first, second) = (at.quote(&guest, STAY).await, at.quote(&guest, STAY).await);
    let mut gate = gates.close("place_hold.before_commit");
    let meanwhile = async {
        gate.reached().await;
        let request = PlaceHold { quote: second, replaces: None, key: fresh_key() };
        let busy = place_hold::run(&another_desk(&at), &guest, request).await;
        gate.open();
        busy
    };
    let (placed, busy) = tokio::join!(at.hold_quote(&guest, first, fresh_key()), meanwhile);
    placed.expect("the first");
    let busy = busy.expect_err("the cap is taken");
    assert!(matches!(busy, PlaceHoldError::Fault(Fault::Busy { .. })), "{busy:?}");
    at.hold_quote(&guest, second, fresh_key()).await.expect("its turn");
    at.verify().await;
}
