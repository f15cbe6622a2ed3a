//! The guest comes, leaves, never comes, or comes after all.

use keyrack_booking::{
    Answered,
    cancel::{self, Cancel, price::Wanted},
    front_desk::{
        self, StepError, StepRequest,
        operation::{Step, Stepped},
    },
    reservations,
    staff_refund::{self, StaffRefund, StaffRefundError},
    views::{ReservationView, Standing},
};
use keyrack_domain::{
    ids::ReservationId,
    principal::{Caller, Role},
    refund::RefundState,
    reservation::ReservationState,
};

use crate::{
    desk_world::DeskWorld,
    world::{caller, day, fresh_key, guest, room},
};

/// Three nights.
const STAY: (&str, &str) = ("2026-11-14", "2026-11-17");
const NIGHTS: [&str; 3] = ["2026-11-14", "2026-11-15", "2026-11-16"];

async fn book(at: &DeskWorld, guest: &Caller, rooms: usize) -> ReservationView {
    let quote = at.quote_rooms(guest, STAY, vec![room("RT-DLX", 2, &[]); rooms]).await;
    let hold = at.hold_quote(guest, quote, fresh_key()).await.expect("a hold").answer;
    let booking = at.pay(guest, hold.id, "pm_ok").await;
    let Standing::Confirmed(reservation) = booking.standing else { panic!("{booking:?}") };
    *reservation
}

async fn step(at: &DeskWorld, id: ReservationId, step: Step) -> Result<Answered<Stepped>, StepError> {
    as_seen_by(at, &at.world.operator, id, step, None).await
}

async fn as_seen_by(
    at: &DeskWorld,
    caller: &Caller,
    reservation: ReservationId,
    step: Step,
    if_match: Option<i32>,
) -> Result<Answered<Stepped>, StepError> {
    let request = StepRequest { hotel: at.hotel.clone(), reservation, step, if_match, key: fresh_key() };
    front_desk::run(&at.desk, caller, request).await
}

/// `confirmed` of each night.
async fn confirmed(at: &DeskWorld) -> Vec<i64> {
    let mut nights = Vec::new();
    for night in NIGHTS {
        nights.push(at.counters(night).await.2);
    }
    nights
}

#[tokio::test]
async fn a_guest_checks_in_and_out_by_the_calendar_of_the_hotel() {
    let at = DeskWorld::new().await;
    let booked = book(&at, &guest(), 1).await;
    // 23:59 of the day before, at the hotel.
    at.world.clock("2026-11-13T18:29:00Z").await;
    let early = step(&at, booked.id, Step::CheckIn).await;
    assert!(
        matches!(early, Err(StepError::NotToday { first, .. }) if first == day("2026-11-14")),
        "{early:?}"
    );
    let not_there = step(&at, booked.id, Step::CheckOut(None)).await;
    assert!(matches!(not_there, Err(StepError::WrongState(ReservationState::Confirmed))), "{not_there:?}");
    at.advance(60).await;
    let there = step(&at, booked.id, Step::CheckIn).await.expect("checked in").answer;
    assert_eq!((there.state, there.version), (ReservationState::CheckedIn, 2));
    let again = step(&at, booked.id, Step::CheckIn).await;
    assert!(matches!(again, Err(StepError::WrongState(ReservationState::CheckedIn))), "{again:?}");
    at.world.clock("2026-11-17T05:00:00Z").await;
    let gone = step(&at, booked.id, Step::CheckOut(None)).await.expect("checked out").answer;
    assert_eq!((gone.state, gone.version), (ReservationState::CheckedOut, 3));
    assert_eq!(confirmed(&at).await, [1, 1, 1]);
    at.verify().await;
}

#[tokio::test]
async fn an_early_departure_gives_back_the_nights_to_come_and_no_other() {
    let at = DeskWorld::new().await;
    let booked = book(&at, &guest(), 2).await;
    at.world.clock("2026-11-15T06:00:00Z").await;
    step(&at, booked.id, Step::CheckIn).await.expect("checked in");
    for date in ["2026-11-14", "2026-11-18"] {
        let refused = step(&at, booked.id, Step::CheckOut(Some(day(date)))).await;
        assert!(matches!(refused, Err(StepError::NoSuchDeparture(..))), "{date}: {refused:?}");
    }
    step(&at, booked.id, Step::CheckOut(Some(day("2026-11-16")))).await.expect("an early departure");
    assert_eq!(confirmed(&at).await, [2, 2, 0]);
    at.verify().await;
}

/// B072: the nights that have passed stay sold; those to come go back once, and are taken again once.
#[tokio::test]
async fn b072_a_no_show_gives_back_the_nights_to_come_and_can_be_undone() {
    let at = DeskWorld::new().await;
    let booked = book(&at, &guest(), 1).await;
    // 23:59 of the arrival's day, at the hotel.
    at.world.clock("2026-11-14T18:29:00Z").await;
    let early = step(&at, booked.id, Step::NoShow).await;
    assert!(
        matches!(early, Err(StepError::NotToday { first, .. }) if first == day("2026-11-15")),
        "{early:?}"
    );
    at.advance(60).await;
    step(&at, booked.id, Step::NoShow).await.expect("a no-show");
    assert_eq!(confirmed(&at).await, [1, 0, 0]);
    at.verify().await;
    let back = step(&at, booked.id, Step::UndoNoShow).await.expect("undone").answer;
    assert_eq!((back.state, back.version), (ReservationState::Confirmed, 3));
    assert_eq!(confirmed(&at).await, [1, 1, 1]);
    step(&at, booked.id, Step::NoShow).await.expect("a no-show again");
    at.verify().await;
    assert_eq!(at.count("outbox WHERE type = 'reservation.no_show'").await, 2);
}

#[tokio::test]
async fn a_no_show_whose_nights_are_sold_to_others_stays_one() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 1).await;
    let booked = book(&at, &guest(), 1).await;
    at.world.clock("2026-11-15T06:00:00Z").await;
    step(&at, booked.id, Step::NoShow).await.expect("a no-show");
    at.hold(&guest(), ("2026-11-16", "2026-11-17")).await;
    let refused = step(&at, booked.id, Step::UndoNoShow).await;
    let Err(StepError::SoldOut { room_type, night }) = refused else { panic!("{refused:?}") };
    assert_eq!((room_type.as_str(), night), ("RT-DLX", day("2026-11-16")));
    assert_eq!(confirmed(&at).await, [1, 0, 0]);
    let shown =
        reservations::find(&at.desk, &at.world.operator, booked.id).await.expect("read").expect("there");
    assert_eq!((shown.state, shown.version), (ReservationState::NoShow, 2));
    at.verify().await;
}

#[tokio::test]
async fn only_the_hotels_own_people_move_a_reservation_and_a_stale_view_is_told() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 1).await;
    at.world.clock("2026-11-14T06:00:00Z").await;
    for stranger in [guest.clone(), caller(Role::Staff), caller(Role::Pms)] {
        let refused = as_seen_by(&at, &stranger, booked.id, Step::CheckIn, None).await;
        assert!(matches!(refused, Err(StepError::NotFound)), "{refused:?}");
    }
    let stale = as_seen_by(&at, &at.world.operator, booked.id, Step::CheckIn, Some(7)).await;
    assert!(matches!(stale, Err(StepError::Stale(1, ReservationState::Confirmed))), "{stale:?}");
    as_seen_by(&at, &at.world.operator, booked.id, Step::CheckIn, Some(1)).await.expect("checked in");
    at.verify().await;
}

/// B065: money given back as goodwill, in parts; together never more than was taken, and the reservation
/// stays as it is, cancelled or not.
#[tokio::test]
async fn b065_staff_gives_money_back_in_parts_up_to_what_was_taken() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 1).await;
    let give = |amount: &str| {
        let request = StaffRefund {
            hotel: at.hotel.clone(),
            reservation: booked.id,
            amount: amount.to_owned(),
            reason: "the lift was out of order".to_owned(),
            key: fresh_key(),
        };
        let (desk, operator) = (at.desk.clone(), at.world.operator.clone());
        async move { staff_refund::run(&desk, &operator, request).await }
    };
    for wrong in ["0", "-1", "1.005", "x"] {
        let refused = give(wrong).await;
        assert!(matches!(refused, Err(StaffRefundError::Invalid(_))), "{wrong}: {refused:?}");
    }
    // Three nights of 7,280.00.
    give("840.00").await.expect("a part");
    give("1000.00").await.expect("another");
    let refused = give("20000.01").await;
    let Err(StaffRefundError::TooMuch(left)) = refused else { panic!("{refused:?}") };
    assert_eq!(left.to_string(), "20000.00");
    let shown = reservations::find(&at.desk, &guest, booked.id).await.expect("read").expect("there");
    assert_eq!((shown.state, shown.version), (ReservationState::Confirmed, 1));
    assert_eq!(confirmed(&at).await, [1, 1, 1]);
    // Past the free time: the whole price is the fee, and there is nothing to give back by rule.
    at.world.clock("2026-11-13T00:00:00Z").await;
    let cancel = Cancel { reservation: booked.id, wanted: Wanted::Whole, if_match: 1, key: fresh_key() };
    let fee = cancel::run(&at.desk, &guest, cancel).await.expect("cancelled").answer;
    assert_eq!((fee.penalty.to_string(), fee.refund.to_string()), ("21840.00".into(), "0.00".into()));
    at.verify().await;
    give("20000.00").await.expect("the rest");
    at.settle_money().await;
    let shown = reservations::find(&at.desk, &guest, booked.id).await.expect("read").expect("there");
    assert_eq!((shown.state, shown.version), (ReservationState::Cancelled, 2));
    let refunds: Vec<_> = shown.refunds.iter().map(|r| (r.state, r.amount.to_string())).collect();
    let succeeded = |amount: &str| (RefundState::Succeeded, amount.to_owned());
    assert_eq!(refunds, [succeeded("840.00"), succeeded("1000.00"), succeeded("20000.00")]);
    assert_eq!(confirmed(&at).await, [0, 0, 0]);
    at.verify().await;
}

/// A stay of one night: its guest may come after midnight, and a no-show of it can be undone the day after.
#[tokio::test]
async fn a_stay_of_one_night_is_checked_in_late_and_its_no_show_is_undone() {
    let at = DeskWorld::new().await;
    let book = async || {
        let guest = guest();
        let hold = at.hold(&guest, ("2026-11-14", "2026-11-15")).await;
        let Standing::Confirmed(booked) = at.pay(&guest, hold.id, "pm_ok").await.standing else {
            panic!("paid")
        };
        booked.id
    };
    let (late, missed) = (book().await, book().await);
    // 00:30 of the 15th, at the hotel.
    at.world.clock("2026-11-14T19:00:00Z").await;
    step(&at, late, Step::CheckIn).await.expect("late, and there");
    step(&at, missed, Step::NoShow).await.expect("a no-show");
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 2));
    step(&at, missed, Step::UndoNoShow).await.expect("undone");
    step(&at, missed, Step::CheckIn).await.expect("there after all");
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 2));
    at.verify().await;
    at.world.clock("2026-11-16T06:00:00Z").await;
    step(&at, missed, Step::CheckOut(Some(day("2026-11-15")))).await.expect("as booked, written late");
    at.verify().await;
}

/// Who comes two days late takes tonight, and not the night that somebody else has had meanwhile.
#[tokio::test]
async fn an_undone_no_show_takes_the_nights_to_come_only() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 1).await;
    let booked = book(&at, &guest(), 1).await;
    at.world.clock("2026-11-15T06:00:00Z").await;
    step(&at, booked.id, Step::NoShow).await.expect("a no-show");
    let other = guest();
    let hold = at.hold(&other, ("2026-11-15", "2026-11-16")).await;
    at.pay(&other, hold.id, "pm_ok").await;
    at.world.clock("2026-11-16T06:00:00Z").await;
    step(&at, booked.id, Step::UndoNoShow).await.expect("tonight is free");
    assert_eq!(confirmed(&at).await, [1, 1, 1]);
    at.verify().await;
}

/// Rooms cancelled before stay cancelled, whatever the desk does with the others.
#[tokio::test]
async fn a_room_cancelled_before_is_not_taken_again_with_the_others() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 2).await;
    let cancel = |room, if_match| Cancel {
        reservation: booked.id,
        wanted: Wanted::Room(room),
        if_match,
        key: fresh_key(),
    };
    cancel::run(&at.desk, &guest, cancel(2, 1)).await.expect("one room");
    at.world.clock("2026-11-15T06:00:00Z").await;
    step(&at, booked.id, Step::NoShow).await.expect("a no-show");
    step(&at, booked.id, Step::UndoNoShow).await.expect("undone");
    assert_eq!(confirmed(&at).await, [1, 1, 1]);
    // The stay has begun: it can be left early, and not cancelled.
    let begun = cancel::run(&at.desk, &guest, cancel(1, 4)).await;
    assert!(
        matches!(begun, Err(cancel::CancelError::NotConfirmed(ReservationState::Confirmed))),
        "{begun:?}"
    );
    at.verify().await;
}

/// What the hotel has given back before is not given back twice, and the guest is told the true sum.
#[tokio::test]
async fn a_cancellation_after_a_goodwill_refund_gives_back_the_rest() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, 1).await;
    let goodwill = StaffRefund {
        hotel: at.hotel.clone(),
        reservation: booked.id,
        amount: "840.00".to_owned(),
        reason: "noise".to_owned(),
        key: fresh_key(),
    };
    staff_refund::run(&at.desk, &at.world.operator, goodwill).await.expect("goodwill");
    let preview = cancel::preview(&at.desk, &guest, booked.id).await.expect("read").expect("there");
    let cancel = Cancel { reservation: booked.id, wanted: Wanted::Whole, if_match: 1, key: fresh_key() };
    let done = cancel::run(&at.desk, &guest, cancel).await.expect("cancelled").answer;
    assert_eq!((done.refund.to_string(), preview.refund), ("21000.00".to_owned(), done.refund));
    at.settle_money().await;
    let shown = reservations::find(&at.desk, &guest, booked.id).await.expect("read").expect("there");
    let amounts: Vec<_> = shown.refunds.iter().map(|refund| refund.amount.to_string()).collect();
    assert_eq!(amounts, ["840.00", "21000.00"]);
    at.verify().await;
    // By another click it is told what the first one did.
    let again = Cancel { reservation: booked.id, wanted: Wanted::Whole, if_match: 1, key: fresh_key() };
    let again = cancel::run(&at.desk, &guest, again).await.expect("cancelled before").answer;
    assert_eq!(again, done);
}
