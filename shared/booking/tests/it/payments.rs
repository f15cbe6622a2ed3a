//! T2, the provider, T3, the sweep and refunds: every way that a payment can end.

use keyrack_booking::{
    KeyRefusal, bookings, operations, place_hold,
    release::{self, ReleaseError},
    reservations,
    start_attempt::StartAttemptError,
    views::{BookingView, Standing},
};
use keyrack_domain::{hold::HoldState, reservation::ReservationState};

use crate::{
    desk_world::DeskWorld,
    world::{fresh_key, guest, key},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

#[tokio::test]
async fn a_paid_hold_becomes_a_reservation() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let booking = at.pay(&guest, hold.id, "pm_ok").await;
    let Standing::Confirmed(reservation) = &booking.standing else { panic!("{booking:?}") };
    assert_eq!((reservation.state, reservation.version), (ReservationState::Confirmed, 1));
    assert_eq!(reservation.document.total.to_string(), "14560.00");
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 1));
    assert_eq!(at.captures(), 1);
    let found = reservations::find(&at.desk, &guest, reservation.id).await.expect("a read");
    assert_eq!(found.as_ref(), Some(reservation.as_ref()));
    let page = reservations::list(&at.desk, &guest, None, 10).await.expect("a page");
    assert_eq!((page.items.len(), page.next), (1, None));
    let stranger = crate::world::guest();
    assert_eq!(reservations::find(&at.desk, &stranger, reservation.id).await.expect("a read"), None);
    assert_eq!(bookings::find(&at.desk, &stranger, booking.attempt).await.expect("a read"), None);
    let hold = place_hold::find(&at.desk, &guest, hold.id).await.expect("a read").expect("the hold");
    assert_eq!(hold.state, HoldState::Consumed);
    let gone = release::run(&at.desk, &guest, hold.id, fresh_key()).await.expect_err("it is a reservation");
    assert!(matches!(gone, ReleaseError::Consumed), "{gone:?}");
    at.verify().await;
}

/// B018
#[tokio::test]
async fn b018_after_a_decline_another_card_pays_for_the_same_hold_and_its_end_never_moves() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let declined = at.try_pay(&guest, hold.id, "pm_declined", key("K1")).await.expect("an answer").answer;
    assert!(matches!(declined.standing, Standing::Declined { .. }), "{declined:?}");
    let now = place_hold::find(&at.desk, &guest, hold.id).await.expect("a read").expect("the hold");
    assert_eq!(now, hold, "as it was");
    let reused = at.try_pay(&guest, hold.id, "pm_ok", key("K1")).await.expect_err("another card");
    assert!(matches!(reused, StartAttemptError::Key(KeyRefusal::Reused)), "{reused:?}");
    let paid = at.try_pay(&guest, hold.id, "pm_ok", key("K2")).await.expect("an answer").answer;
    assert!(matches!(paid.standing, Standing::Confirmed(_)), "{paid:?}");
    let replay = at.try_pay(&guest, hold.id, "pm_declined", key("K1")).await.expect("the original");
    assert!(replay.replayed);
    // The same attempt, and the hold as it is by now.
    let standing = Standing::Declined { reason: "declined".to_owned(), hold: HoldState::Consumed };
    assert_eq!(replay.answer, BookingView { standing, ..declined });
    assert_eq!(at.captures(), 1);
    at.verify().await;
}

/// B043
#[tokio::test]
async fn b043_a_booking_repeated_at_once_charges_once_and_answers_the_same() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let calls = (0..8).map(|_| at.try_pay(&guest, hold.id, "pm_ok", key("K")));
    for answer in futures::future::join_all(calls).await {
        let answer = answer.expect("an answer");
        let told = matches!(answer.answer.standing, Standing::Confirmed(_) | Standing::Pending { .. });
        assert!(told, "{answer:?}");
    }
    let last = at.try_pay(&guest, hold.id, "pm_ok", key("K")).await.expect("the original");
    assert!(last.replayed && matches!(last.answer.standing, Standing::Confirmed(_)), "{last:?}");
    assert_eq!(
        (at.captures(), at.count("reservations").await, at.count("payment_attempts").await),
        (1, 1, 1)
    );
    let told =
        operations::find(&at.desk, &guest, &key("K"), &operations::Filter::default()).await.expect("a read");
    assert_eq!(told.len(), 1);
    let stranger = crate::world::guest();
    let told = operations::find(&at.desk, &stranger, &key("K"), &operations::Filter::default()).await;
    assert!(told.expect("a read").is_empty());
    at.verify().await;
}

/// B015
#[tokio::test]
async fn b015_nobody_pays_for_a_hold_that_is_not_theirs() {
    let at = DeskWorld::new().await;
    let hold = at.hold(&guest(), STAY).await;
    let refused = at.try_pay(&guest(), hold.id, "pm_ok", fresh_key()).await.expect_err("not theirs");
    assert!(matches!(refused, StartAttemptError::HoldNotFound), "{refused:?}");
    assert_eq!((at.captures(), at.count("payment_attempts").await), (0, 0));
}

/// B053
#[tokio::test]
async fn b053_while_the_outcome_is_unknown_no_second_card_is_charged() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let unknown = at.try_pay(&guest, hold.id, "pm_lost_response", key("K")).await.expect("an answer").answer;
    assert!(matches!(unknown.standing, Standing::Pending { reconciling: false, .. }), "{unknown:?}");
    at.advance(30).await;
    let second = at.try_pay(&guest, hold.id, "pm_ok", fresh_key()).await.expect_err("one at a time");
    let StartAttemptError::AttemptInProgress(open) = second else { panic!("{second:?}") };
    assert_eq!(open, unknown.attempt);
    let kept = release::run(&at.desk, &guest, hold.id, fresh_key()).await.expect_err("being paid for");
    assert!(matches!(kept, ReleaseError::AttemptInProgress(_)), "{kept:?}");
    for _ in 0..5 {
        let read =
            bookings::find(&at.desk, &guest, unknown.attempt).await.expect("a read").expect("the attempt");
        assert_eq!(read, unknown, "B056: a read changes nothing");
    }
    at.advance(121).await;
    at.settle_money().await;
    let ended = at.try_pay(&guest, hold.id, "pm_lost_response", key("K")).await.expect("the original");
    assert!(ended.replayed && matches!(ended.answer.standing, Standing::Confirmed(_)), "{ended:?}");
    assert_eq!((at.captures(), at.counters("2026-11-14").await), (1, (5, 0, 1)));
    at.verify().await;
}

#[tokio::test]
async fn a_payment_that_only_got_authorized_is_ended_without_taking_money() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let booking = at.pay(&guest, hold.id, "pm_capture_fails").await;
    assert!(matches!(booking.standing, Standing::Declined { .. }), "{booking:?}");
    assert_eq!(at.captures(), 0);
    let again = at.pay(&guest, hold.id, "pm_ok").await;
    assert!(matches!(again.standing, Standing::Confirmed(_)), "{again:?}");
    at.verify().await;
}

#[tokio::test]
async fn an_expired_hold_is_not_paid_for_and_stays_to_be_seen() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    at.advance(601).await;
    let late = at.try_pay(&guest, hold.id, "pm_ok", fresh_key()).await.expect_err("its time has run out");
    assert!(matches!(late, StartAttemptError::HoldExpired(_)), "{late:?}");
    at.expire().await;
    let late = at.try_pay(&guest, hold.id, "pm_ok", fresh_key()).await.expect_err("its time has run out");
    assert!(matches!(late, StartAttemptError::HoldExpired(_)), "{late:?}");
    let seen = place_hold::find(&at.desk, &guest, hold.id).await.expect("a read").expect("the hold");
    assert_eq!(seen.state, HoldState::Expired);
    assert_eq!(at.captures(), 0);
    at.verify().await;
}
