//! The customer has to act first: the attempt waits for that, and no longer.

use keyrack_booking::views::Standing;
use keyrack_domain::{ids::AttemptId, page_url::PageUrl, principal::Caller};
use keyrack_payment_simulator::{Decided, ReferenceName, State};

use crate::{
    desk_world::DeskWorld,
    world::{fresh_key, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

fn authorization(attempt: AttemptId) -> ReferenceName {
    format!("{attempt}-auth").try_into().expect("a reference")
}

async fn decide(at: &DeskWorld, attempt: AttemptId, completes: bool) -> Decided {
    at.simulator.simulator().decide(&authorization(attempt), completes).await
}

/// An attempt that waits for its customer, and the page.
async fn asked(at: &DeskWorld, guest: &Caller) -> (AttemptId, PageUrl) {
    let hold = at.hold(guest, STAY).await;
    let booked = at.pay(guest, hold.id, "pm_3ds").await;
    let Standing::Pending { reconciling: false, next_action: Some(page), .. } = booked.standing else {
        panic!("{booked:?}")
    };
    (booked.attempt, page)
}

#[tokio::test]
async fn a_customer_who_has_to_act_is_told_where_and_a_repeat_tells_the_same() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let key = fresh_key();
    let first = at.try_pay(&guest, hold.id, "pm_3ds", key.clone()).await.expect("an attempt");
    let Standing::Pending { deadline, next_action: Some(page), .. } = &first.answer.standing else {
        panic!("{first:?}")
    };
    assert!(page.expose().ends_with(&format!("/simulator/customer/{}-auth", first.answer.attempt)));
    let waits = "SELECT EXTRACT(epoch FROM deadline_at - created_at)::int FROM payment_attempts";
    assert_eq!(at.database().value(waits).await, 300);
    let deferred =
        "SELECT (h.deferred_until = a.deadline_at) FROM holds h JOIN payment_attempts a USING (hold_id)";
    assert_eq!(at.database().value(deferred).await, true);
    let again = at.try_pay(&guest, hold.id, "pm_3ds", key).await.expect("the same attempt");
    assert!(again.replayed);
    assert_eq!(again.answer.standing, first.answer.standing, "{deadline:?}");
    assert_eq!(at.standing(&guest, first.answer.attempt).await, first.answer.standing);
    at.verify().await;
}

#[tokio::test]
async fn what_the_customer_has_confirmed_becomes_a_reservation_at_the_latest_at_the_deadline() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let (attempt, _) = asked(&at, &guest).await;
    at.advance(250).await;
    at.settle_money().await;
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Pending { reconciling: false, .. }));
    assert!(matches!(decide(&at, attempt, true).await, Decided::Now(_)));
    at.advance(51).await;
    at.settle_money().await;
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Confirmed(_)));
    assert_eq!((at.captures(), at.counters("2026-11-14").await), (1, (5, 0, 1)));
    at.verify().await;
}

#[tokio::test]
async fn a_customer_who_goes_back_keeps_the_hold_and_may_pay_otherwise() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let (attempt, _) = asked(&at, &guest).await;
    assert!(matches!(decide(&at, attempt, false).await, Decided::Now(_)));
    at.advance(301).await;
    at.settle_money().await;
    let standing = at.standing(&guest, attempt).await;
    assert!(matches!(&standing, Standing::Declined { reason, .. } if reason == "declined"), "{standing:?}");
    let view = keyrack_booking::bookings::find(&at.desk, &guest, attempt).await.expect("a read");
    let paid = at.pay(&guest, view.expect("the attempt").hold, "pm_ok").await;
    assert!(matches!(paid.standing, Standing::Confirmed(_)), "{paid:?}");
    at.verify().await;
}

/// The hold's end is the session's end too: one call, repeated until the provider has heard it.
#[tokio::test]
async fn b019_the_session_ends_with_the_hold_and_who_comes_back_pays_nothing() {
    let at = DeskWorld::new().await;
    let guest = guest();
    at.hold(&guest, ("2026-11-20", "2026-11-21")).await;
    let hold = at.hold(&guest, STAY).await;
    at.advance(400).await;
    let attempt = at.pay(&guest, hold.id, "pm_3ds").await.attempt;
    // Past the end of the hold, and not past the deferral.
    at.advance(290).await;
    assert_eq!(at.expire().await.expired, 1, "the other one");
    assert_eq!(at.counters("2026-11-14").await, (5, 1, 0));
    at.advance(11).await;
    assert_eq!(at.expire().await.expired, 1);
    for _ in 0..3 {
        at.settle_money().await;
        at.advance(31).await;
    }
    let ended = at.charge(attempt, "void").expect("the session was ended");
    assert_eq!((ended.state, ended.calls), (State::Voided, 1));
    assert_eq!(decide(&at, attempt, true).await, Decided::Expired);
    at.settle_money().await;
    let standing = at.standing(&guest, attempt).await;
    let told = matches!(&standing, Standing::Declined { reason, .. } if reason == "action_not_completed");
    assert!(told, "{standing:?}");
    assert_eq!((at.captures(), at.count("reservations").await, at.count("refunds").await), (0, 0, 0));
    at.verify().await;
}

/// The race: the customer is through just before the session ends, when the room has gone.
#[tokio::test]
async fn b019_what_was_confirmed_when_the_hold_had_gone_is_let_go() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    at.advance(590).await;
    let attempt = at.pay(&guest, hold.id, "pm_3ds").await.attempt;
    at.advance(301).await;
    assert_eq!(at.expire().await.expired, 1);
    assert!(matches!(decide(&at, attempt, true).await, Decided::Now(_)));
    at.settle_money().await;
    assert!(matches!(at.standing(&guest, attempt).await, Standing::Declined { .. }));
    assert_eq!((at.captures(), at.count("reservations").await), (0, 0));
    assert_eq!(at.charge(attempt, "auth").map(|charge| charge.state), Some(State::Voided));
    at.verify().await;
}
