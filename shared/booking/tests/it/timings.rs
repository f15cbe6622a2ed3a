//! The times of the design that must come out right, with the sandbox's clock.

use std::time::Duration;

use keyrack_booking::{Settings, bookings, place_hold, views::Standing};
use keyrack_db::Points;
use keyrack_domain::{hold::HoldState, refund::RefundState};
use keyrack_testkit::Gates;

use crate::{
    desk_world::{DeskWorld, desk},
    world::{HORIZON, fresh_key, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// T3 at 598 s, the expiry's tick at 601 s.
#[tokio::test]
async fn a_hold_confirmed_at_598_seconds_is_not_released_at_601() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    at.advance(597).await;
    let booking = at.pay(&guest, hold.id, "pm_ok").await;
    assert!(matches!(booking.standing, Standing::Confirmed(_)), "{booking:?}");
    at.advance(4).await;
    assert_eq!(at.expire().await.expired, 0);
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
    at.verify().await;
}

/// A payment in flight puts the release off, up to the time-out and no further.
#[tokio::test]
async fn a_payment_in_flight_defers_the_release_and_still_confirms() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    at.advance(590).await;
    let mut gate = gates.close("confirm.after_read");
    let paying = at.pay(&guest, hold.id, "pm_ok");
    let meanwhile = async {
        gate.reached().await;
        at.advance(20).await;
        assert_eq!(at.expire().await.expired, 0, "deferred");
        gate.open();
    };
    let (booking, ()) = tokio::join!(paying, meanwhile);
    assert!(matches!(booking.standing, Standing::Confirmed(_)), "{booking:?}");
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
    at.verify().await;
}

/// B013: the provider outlasts the time-out, the hold expires at its time, another guest takes the
/// unit, and the late capture goes back.
#[tokio::test]
async fn b013_a_capture_that_comes_too_late_is_refunded_and_the_other_guest_keeps_the_unit() {
    let at = DeskWorld::impatient(Points::default()).await;
    at.sellable(STAY, 1).await;
    let (late, lucky) = (guest(), guest());
    let hold = at.hold(&late, STAY).await;
    at.advance(400).await;
    let pending = at.pay(&late, hold.id, "pm_slow").await;
    assert!(matches!(pending.standing, Standing::Pending { .. }), "{pending:?}");
    at.advance(201).await;
    assert_eq!(at.expire().await.expired, 1, "the time-out is over");
    at.advance(1).await;
    let taken = at.hold(&lucky, STAY).await;
    at.advance(3).await;
    at.let_captured(pending.attempt).await;
    at.settle_money().await;
    let ended = bookings::find(&at.desk, &late, pending.attempt).await.expect("a read").expect("the attempt");
    let Standing::NoRoom { refund } = &ended.standing else { panic!("{ended:?}") };
    assert_eq!((refund.state, refund.amount.to_string().as_str()), (RefundState::Succeeded, "14560.00"));
    assert_eq!(at.counters("2026-11-14").await, (1, 1, 0));
    let other = place_hold::find(&at.desk, &lucky, taken.id).await.expect("a read").expect("the other hold");
    assert_eq!(other.state, HoldState::Active);
    at.settle_money().await;
    assert_eq!((at.captures(), at.count("refunds").await), (1, 1), "a re-run refunds nothing twice");
    at.verify().await;
}

/// Nothing arrived at the provider: the attempt fails, and only then may another card pay.
#[tokio::test]
async fn a_request_that_the_provider_never_answers_ends_as_nothing() {
    let at = DeskWorld::new().await;
    let impatient =
        Settings { horizon: HORIZON, provider_deadline: Duration::from_millis(300), ..Settings::default() };
    let desk = desk(&at.world, &at.simulator, &Points::default(), impatient);
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let payment = crate::desk_world::payment(hold.id, "pm_timeout", fresh_key());
    let pending =
        keyrack_booking::start_attempt::run(&desk, &guest, payment).await.expect("an answer").answer;
    assert!(matches!(pending.standing, Standing::Pending { .. }), "{pending:?}");
    at.advance(121).await;
    at.settle_money().await;
    let ended =
        bookings::find(&at.desk, &guest, pending.attempt).await.expect("a read").expect("the attempt");
    assert!(matches!(ended.standing, Standing::Declined { .. }), "{ended:?}");
    let paid = at.pay(&guest, hold.id, "pm_ok").await;
    assert!(matches!(paid.standing, Standing::Confirmed(_)), "{paid:?}");
    assert_eq!(at.captures(), 1);
    at.verify().await;
}
