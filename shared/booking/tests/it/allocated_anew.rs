//! Hotels that take the rooms again for money that came too late.

use keyrack_booking::{
    place_hold, reconcile, refund,
    restrictions::{Patch, RestrictionPatch},
    views::Standing,
};
use keyrack_domain::{hold::HoldState, ids::AttemptId, principal::Caller, refund::RefundState};

use crate::{desk_world::DeskWorld, world::guest};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

async fn world() -> DeskWorld {
    let at = DeskWorld::new().await;
    at.database().execute("UPDATE hotels SET late_capture = 'allocate'").await;
    at
}

/// Captured after the hold and its deferral have ended; nobody has looked yet.
async fn captured_too_late(at: &DeskWorld, guest: &Caller) -> AttemptId {
    let hold = at.hold(guest, STAY).await;
    at.pay(guest, hold.id, "pm_lost_response").await.attempt
}

async fn sweep_five_times(at: &DeskWorld) {
    for _ in 0..5 {
        reconcile::run_once(&at.desk, at.ledger()).await.expect("the sweep runs");
        refund::run_once(&at.desk, at.ledger()).await.expect("refunds are sent");
        at.advance(31).await;
    }
}

/// B016 (a): the nights are free; the hold that ended stays as it is.
#[tokio::test]
async fn b016_a_late_capture_gets_its_rooms_once_where_they_are_free() {
    let at = world().await;
    let guest = guest();
    let attempt = captured_too_late(&at, &guest).await;
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 1);
    sweep_five_times(&at).await;
    let standing = at.standing(&guest, attempt).await;
    let Standing::Confirmed(reservation) = standing else { panic!("{standing:?}") };
    assert_eq!(reservation.document.total.to_string(), "14560.00");
    assert_eq!((at.count("reservations").await, at.count("refunds").await, at.captures()), (1, 0, 1));
    assert_eq!((at.counters(STAY.0).await, at.counters("2026-11-15").await), ((5, 0, 1), (5, 0, 1)));
    let states = at.database().value("SELECT json_agg(state ORDER BY created_at) FROM holds").await;
    assert_eq!(states, serde_json::json!(["EXPIRED", "CONSUMED"]));
    let made = place_hold::find(&at.desk, &guest, reservation.hold.expect("of a hold"))
        .await
        .expect("read")
        .expect("there");
    assert_eq!(made.state, HoldState::Consumed);
    at.verify().await;
}

/// B004: two of them and one unit, two resolvers at once.
#[tokio::test]
async fn b004_of_two_late_captures_for_one_unit_one_is_confirmed_and_one_goes_back() {
    let at = world().await;
    at.sellable(STAY, 2).await;
    let (one, other) = (guest(), guest());
    let attempts = [captured_too_late(&at, &one).await, captured_too_late(&at, &other).await];
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 2);
    at.sellable(STAY, 1).await;
    let sweep = || reconcile::run_once(&at.desk, at.ledger());
    let (first, second) = tokio::join!(sweep(), sweep());
    assert_eq!(first.expect("a run").ended + second.expect("a run").ended, 2);
    sweep_five_times(&at).await;
    let standings = [at.standing(&one, attempts[0]).await, at.standing(&other, attempts[1]).await];
    let confirmed = standings.iter().filter(|s| matches!(s, Standing::Confirmed(_))).count();
    let back =
        |s: &&Standing| matches!(s, Standing::NoRoom { refund } if refund.state == RefundState::Succeeded);
    assert_eq!((confirmed, standings.iter().filter(back).count()), (1, 1), "{standings:?}");
    assert_eq!((at.counters(STAY.0).await, at.count("refunds").await), ((1, 0, 1), 1));
    at.verify().await;
}

/// The hotel has closed the night meanwhile, or the stay has begun: the money goes back.
#[tokio::test]
async fn a_late_capture_is_not_allocated_against_the_rules_of_the_day() {
    let at = world().await;
    let guest = guest();
    let attempt = captured_too_late(&at, &guest).await;
    at.advance(721).await;
    assert_eq!(at.expire().await.expired, 1);
    let closed = RestrictionPatch { stop_sell: Patch::Set(true), ..RestrictionPatch::default() };
    at.world.restrict(&at.hotel, None, "2026-11-15", closed).await;
    sweep_five_times(&at).await;
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(standing, Standing::NoRoom { .. }), "{standing:?}");
    assert_eq!((at.count("reservations").await, at.counters(STAY.0).await), (0, (5, 0, 0)));
    at.verify().await;
}
