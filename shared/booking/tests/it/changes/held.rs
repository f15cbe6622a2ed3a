//! What a change holds is the change's alone: no booking pays for it, and its guest neither gives it up nor swaps
//! it for something else.

use keyrack_booking::{
    change_stay::Confirmed,
    place_hold::{self, PlaceHold, PlaceHoldError},
    release::{self, ReleaseError},
    repair::{self, Mode},
    start_attempt::StartAttemptError,
    views::{ChangeView, Standing},
};
use keyrack_domain::{actor::Actor, change::ChangeState, ids::HoldId, principal::Caller};
use keyrack_testkit::Gates;

use super::{STAY, book, completed, confirm, dates, price, state};
use crate::{
    desk_world::DeskWorld,
    world::{fresh_key, guest},
};

const LONGER: (&str, &str) = ("2026-11-14", "2026-11-17");

/// Its payment ended while a night did not carry what it held: that stayed ACTIVE, and the night was repaired.
async fn left_active(at: &DeskWorld, guest: &Caller) -> (ChangeView, HoldId) {
    let booked = book(at, guest, STAY, 1).await;
    let change = price(at, guest, dates(booked.id, LONGER, 1)).await;
    let pending = confirm(at, guest, &change, Some("pm_timeout"), 1).await.expect("told").answer;
    assert!(matches!(pending, Confirmed::Pending { .. }), "{pending:?}");
    at.database().execute("UPDATE room_night_inventory SET held = 0 WHERE stay_date = '2026-11-16'").await;
    at.advance(121).await;
    at.settle_money().await;
    assert_eq!(state(at, guest, &change).await, ChangeState::Priced);
    let mode = Mode::Apply(Actor::Caller(at.world.operator.clone()));
    repair::run(at.world.hotels.shards(), &at.hotel, mode).await.expect("repaired");
    assert_eq!(at.counters("2026-11-16").await, (1, 1, 0));
    let hold = at.database().value("SELECT hold_id FROM holds WHERE state = 'ACTIVE'").await;
    let hold = hold.as_str().expect("one hold").parse().expect("an id");
    (change, HoldId::new(booked.id.hotel(), hold))
}

#[tokio::test]
async fn no_guest_pays_for_gives_up_or_swaps_what_a_change_holds() {
    let at = DeskWorld::impatient(Gates::new().points()).await;
    at.sellable(LONGER, 1).await;
    let guest = guest();
    let (change, hold) = left_active(&at, &guest).await;
    let paid = at.try_pay(&guest, hold, "pm_ok", fresh_key()).await;
    assert!(matches!(paid, Err(StartAttemptError::HoldNotFound)), "{paid:?}");
    let given_up = release::run(&at.desk, &guest, hold, fresh_key()).await;
    assert!(matches!(given_up, Err(ReleaseError::NotFound)), "{given_up:?}");
    assert_eq!(place_hold::find(&at.desk, &guest, hold).await.expect("read"), None);
    let quote = at.quote(&guest, ("2026-11-16", "2026-11-17")).await;
    let swap = PlaceHold { quote, replaces: Some(hold), key: fresh_key() };
    let swapped = place_hold::run(&at.desk, &guest, swap).await;
    assert!(matches!(swapped, Err(PlaceHoldError::ReplacedNotFound)), "{swapped:?}");
    // Nor is it offered for that.
    let refused = at.hold_quote(&guest, quote, fresh_key()).await.expect_err("sold out");
    assert!(matches!(&refused, PlaceHoldError::SoldOut(short) if short.own_hold.is_none()), "{refused:?}");
    assert_eq!((at.captures(), at.counters("2026-11-16").await), (1, (1, 1, 0)));
    at.verify().await;
    at.advance(480).await;
    assert_eq!(at.expire().await.expired, 1);
    // Ended, it is as little the guest's.
    let paid = at.try_pay(&guest, hold, "pm_ok", fresh_key()).await;
    assert!(matches!(paid, Err(StartAttemptError::HoldNotFound)), "{paid:?}");
    let again = price(&at, &guest, dates(change.reservation, LONGER, 1)).await;
    completed(&at, &guest, &again, Some("pm_ok"), 1).await;
    assert_eq!((at.captures(), at.counters("2026-11-16").await), (2, (1, 0, 1)));
    at.verify().await;
}

/// A booking that is being paid all the same, for what turns out to be a change's, is none: the money goes back.
#[tokio::test]
async fn a_booking_is_never_confirmed_on_what_a_change_holds() {
    let at = DeskWorld::impatient(Gates::new().points()).await;
    let (owner, other) = (guest(), guest());
    let booked = book(&at, &owner, STAY, 1).await;
    price(&at, &owner, dates(booked.id, LONGER, 1)).await;
    let hold = at.hold(&other, ("2026-11-20", "2026-11-21")).await;
    let pending = at.pay(&other, hold.id, "pm_slow").await;
    assert!(matches!(pending.standing, Standing::Pending { .. }), "{pending:?}");
    at.database()
        .execute(
            "UPDATE holds SET change_id = (SELECT change_id FROM reservation_changes) WHERE state = 'ACTIVE'",
        )
        .await;
    at.let_captured(pending.attempt).await;
    at.advance(121).await;
    at.settle_money().await;
    let standing = at.standing(&other, pending.attempt).await;
    assert!(matches!(standing, Standing::NoRoom { .. }), "{standing:?}");
    assert_eq!((at.count("reservations").await, at.counters("2026-11-20").await), (1, (5, 1, 0)));
    at.verify().await;
    at.advance(601).await;
    assert_eq!(at.expire().await.expired, 1);
    at.verify().await;
}
