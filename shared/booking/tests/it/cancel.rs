//! Cancelling: units back once, the fee of the policy that was sold, and the rest of the money back.

use futures::future::join_all;
use keyrack_booking::{
    Answered,
    cancel::{self, Cancel, CancelError, operation::Cancellation, price::Wanted},
    reservations,
    views::{ReservationView, Standing},
};
use keyrack_domain::{
    ids::ReservationId, operation_key::OperationKey, principal::Caller, principal::Role, refund::RefundState,
    reservation::ReservationState,
};
use keyrack_testkit::{Fault, Gates};

use crate::{
    desk_world::DeskWorld,
    disconnects::{COMMIT, through_a_proxy},
    world::{caller, day, fresh_key, guest, key, room},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

async fn book(at: &DeskWorld, guest: &Caller, rooms: usize) -> ReservationView {
    let quote = at.quote_rooms(guest, STAY, vec![room("RT-DLX", 2, &[]); rooms]).await;
    let hold = at.hold_quote(guest, quote, fresh_key()).await.expect("a hold").answer;
    let booking = at.pay(guest, hold.id, "pm_ok").await;
    let Standing::Confirmed(reservation) = booking.standing else { panic!("{booking:?}") };
    *reservation
}

fn request(id: ReservationId, wanted: Wanted, if_match: i32, key: OperationKey) -> Cancel {
    Cancel { reservation: id, wanted, if_match, key }
}

async fn try_cancel(
    at: &DeskWorld,
    caller: &Caller,
    id: ReservationId,
    wanted: Wanted,
    if_match: i32,
) -> Result<Answered<Cancellation>, CancelError> {
    cancel::run(&at.desk, caller, request(id, wanted, if_match, fresh_key())).await
}

async fn shown(at: &DeskWorld, guest: &Caller, id: ReservationId) -> ReservationView {
    reservations::find(&at.desk, guest, id).await.expect("it is read").expect("it is there")
}

/// Penalty and refund.
fn money(view: &Cancellation) -> (String, String) {
    (view.penalty.to_string(), view.refund.to_string())
}

fn amounts(penalty: &str, refund: &str) -> (String, String) {
    (penalty.to_owned(), refund.to_owned())
}

/// The worked example: free until two days before arrival.
#[tokio::test]
async fn a_free_cancellation_gives_the_nights_and_all_the_money_back() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 1).await;
    let preview = cancel::preview(&at.desk, &guest, booked.id).await.expect("read").expect("there");
    let done = try_cancel(&at, &guest, booked.id, Wanted::Whole, 1).await.expect("cancelled").answer;
    assert_eq!((done.state, done.version), (ReservationState::Cancelled, 2));
    assert_eq!(money(&done), amounts("0.00", "14560.00"));
    assert_eq!((&preview.rooms, preview.penalty, preview.refund), (&done.rooms, done.penalty, done.refund));
    assert_eq!((at.counters(STAY.0).await, at.counters("2026-11-15").await), ((5, 0, 0), (5, 0, 0)));
    assert_eq!(shown(&at, &guest, booked.id).await.refunds[0].state, RefundState::Requested);
    at.verify().await;
    at.settle_money().await;
    let after = shown(&at, &guest, booked.id).await;
    let refunds: Vec<_> = after.refunds.iter().map(|r| (r.state, r.amount.to_string())).collect();
    assert_eq!(refunds, [(RefundState::Succeeded, "14560.00".to_owned())]);
    assert!(after.rooms.iter().all(|room| room.cancelled.is_some()), "{after:?}");
    assert_eq!(at.count("outbox WHERE type = 'reservation.cancelled'").await, 1);
    at.verify().await;
}

/// B094: the last free instant is 18:00 on the hotel's wall, included. After it the whole price is kept, and
/// a refund of zero makes no record.
#[tokio::test]
async fn b094_the_fee_is_decided_by_the_hotels_clock_at_the_instant_of_the_cancellation() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let (early, late) = (book(&at, &guest, 1).await, book(&at, &guest, 1).await);
    at.world.clock("2026-11-12T12:29:00Z").await;
    let free = try_cancel(&at, &guest, early.id, Wanted::Whole, 1).await.expect("cancelled").answer;
    assert_eq!(money(&free), amounts("0.00", "14560.00"));
    at.advance(61).await;
    let full = try_cancel(&at, &guest, late.id, Wanted::Whole, 1).await.expect("cancelled").answer;
    assert_eq!(money(&full), amounts("14560.00", "0.00"));
    assert_eq!(at.count("refunds").await, 1);
    at.settle_money().await;
    assert_eq!(at.counters(STAY.0).await, (5, 0, 0));
    at.verify().await;
}

/// B025, B067, B069: rooms one by one; each gives back its own units and its own money, once.
#[tokio::test]
async fn b025_b067_b069_rooms_are_cancelled_one_by_one_and_each_once() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 3).await;
    assert_eq!(at.counters(STAY.0).await, (5, 0, 3));
    let first = try_cancel(&at, &guest, booked.id, Wanted::Room(2), 1).await.expect("room 2").answer;
    assert_eq!((first.state, first.version), (ReservationState::Confirmed, 2));
    assert_eq!((first.rooms[0].room, money(&first)), (2, amounts("0.00", "14560.00")));
    assert_eq!(at.counters(STAY.0).await, (5, 0, 2));
    at.verify().await;
    // Past the free time: this one costs all, and makes no refund.
    at.world.clock("2026-11-13T00:00:00Z").await;
    let second = try_cancel(&at, &guest, booked.id, Wanted::Room(1), 2).await.expect("room 1").answer;
    assert_eq!((second.state, money(&second)), (ReservationState::Confirmed, amounts("14560.00", "0.00")));
    // Once more, with whatever version: what was done then.
    let again = try_cancel(&at, &guest, booked.id, Wanted::Room(2), 1).await.expect("as it was").answer;
    assert_eq!((&again.rooms, again.version), (&first.rooms, 3));
    assert_eq!(at.counters(STAY.0).await, (5, 0, 1));
    let rest = try_cancel(&at, &guest, booked.id, Wanted::Whole, 3).await.expect("the rest").answer;
    assert_eq!((rest.state, rest.rooms.len(), rest.rooms[0].room), (ReservationState::Cancelled, 1, 3));
    assert_eq!(at.counters(STAY.0).await, (5, 0, 0));
    assert_eq!(
        (at.count("refunds").await, at.count("reservation_nights WHERE given_back_at IS NULL").await),
        (1, 0)
    );
    assert_eq!(at.count("outbox WHERE type = 'reservation.cancelled'").await, 3);
    at.settle_money().await;
    at.verify().await;
}

/// B073: impatient clicks, each with a key of its own.
#[tokio::test]
async fn b073_five_cancellations_at_once_are_one() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 1).await;
    let clicks = (0..5).map(|_| try_cancel(&at, &guest, booked.id, Wanted::Whole, 1));
    for answer in join_all(clicks).await {
        let answer = answer.expect("cancelled").answer;
        assert_eq!((answer.state, answer.version), (ReservationState::Cancelled, 2));
        assert_eq!(money(&answer), amounts("0.00", "14560.00"));
    }
    assert_eq!((at.count("refunds").await, at.counters(STAY.0).await), (1, (5, 0, 0)));
    at.settle_money().await;
    at.verify().await;
}

/// B046: the same text is another key on another endpoint; under its own it is a replay.
#[tokio::test]
async fn b046_the_key_of_the_booking_cancels_too_and_a_repeat_tells_the_same() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let booking = at.try_pay(&guest, hold.id, "pm_ok", key("K")).await.expect("paid").answer;
    let Standing::Confirmed(booked) = booking.standing else { panic!("{booking:?}") };
    let cancel = || cancel::run(&at.desk, &guest, request(booked.id, Wanted::Whole, 1, key("K")));
    let first = cancel().await.expect("cancelled");
    let again = cancel().await.expect("replayed");
    assert_eq!((first.replayed, again.replayed, &again.answer), (false, true, &first.answer));
    let other = request(booked.id, Wanted::Whole, 2, key("K"));
    let reused = cancel::run(&at.desk, &guest, other).await.expect_err("another input");
    assert!(matches!(reused, CancelError::Key(_)), "{reused:?}");
    assert_eq!(at.count("refunds").await, 1);
}

#[tokio::test]
async fn a_cancellation_priced_on_an_older_version_is_refused_and_strangers_see_nothing() {
    let at = DeskWorld::new().await;
    let owner = guest();
    let booked = book(&at, &owner, 2).await;
    for stranger in [guest(), caller(Role::Pms), caller(Role::Staff)] {
        let refused = try_cancel(&at, &stranger, booked.id, Wanted::Whole, 1).await;
        assert!(matches!(refused, Err(CancelError::NotFound)), "{refused:?}");
        assert_eq!(cancel::preview(&at.desk, &stranger, booked.id).await.expect("read"), None);
    }
    for nothing in [0, 3, -1] {
        let refused = try_cancel(&at, &owner, booked.id, Wanted::Room(nothing), 1).await;
        assert!(matches!(refused, Err(CancelError::NotFound)), "{refused:?}");
    }
    try_cancel(&at, &owner, booked.id, Wanted::Room(1), 1).await.expect("one room");
    let stale = try_cancel(&at, &owner, booked.id, Wanted::Whole, 1).await;
    assert!(matches!(stale, Err(CancelError::Stale(2, ReservationState::Confirmed))), "{stale:?}");
    assert_eq!(at.counters(STAY.0).await, (5, 0, 1));
    // The hotel's own people may.
    try_cancel(&at, &at.world.operator, booked.id, Wanted::Whole, 2).await.expect("by the hotel");
    at.verify().await;
}

/// B050: the answer of the COMMIT is lost; the caller gets the original answer, and nothing happens twice.
#[tokio::test]
async fn b050_a_cancellation_whose_commit_is_not_answered_is_told_once() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 1).await;
    let (desk, proxy) = through_a_proxy(&at, Gates::new().points()).await;
    let fired = proxy.arm(Fault::LoseAnswer(COMMIT.to_vec()));
    let cancelled = cancel::run(&desk, &guest, request(booked.id, Wanted::Whole, 1, key("K"))).await;
    fired.wait().await;
    let cancelled = cancelled.expect("the truth");
    assert_eq!((cancelled.replayed, cancelled.answer.version), (false, 2));
    assert_eq!((at.count("refunds").await, at.counters(STAY.0).await), (1, (5, 0, 0)));
    at.settle_money().await;
    at.verify().await;
}

/// A refund that the provider refuses never opens the reservation again, and what was given back is sold to
/// the next guest.
#[tokio::test]
async fn b051_a_cancelled_night_is_sold_again_and_booked_with_a_new_key() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 1).await;
    let (first, second) = (guest(), guest());
    let booked = book(&at, &first, 1).await;
    try_cancel(&at, &first, booked.id, Wanted::Whole, 1).await.expect("cancelled");
    book(&at, &second, 1).await;
    assert_eq!(at.counters(STAY.0).await, (1, 0, 1));
    assert_eq!(shown(&at, &first, booked.id).await.state, ReservationState::Cancelled);
    at.settle_money().await;
    at.verify().await;
}

#[tokio::test]
async fn a_reservation_that_the_counters_do_not_carry_stays_as_it_is() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 1).await;
    at.database()
        .execute("UPDATE room_night_inventory SET confirmed = 0 WHERE stay_date = '2026-11-15'")
        .await;
    let refused = try_cancel(&at, &guest, booked.id, Wanted::Whole, 1).await;
    assert!(matches!(refused, Err(CancelError::Fault(_))), "{refused:?}");
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!((after.state, after.version), (ReservationState::Confirmed, 1));
    assert_eq!((at.count("refunds").await, at.counters(STAY.0).await), (0, (5, 0, 1)));
    assert_eq!(day("2026-11-15"), after.document.stay.last_night());
}
