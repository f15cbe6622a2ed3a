//! Changes of stays that have begun, some of them after a no-show that was undone.

use keyrack_booking::{
    change_stay::priced::{self, PriceChangeError},
    front_desk::{self, StepRequest, operation::Step},
};
use keyrack_domain::{ids::ReservationId, reservation::ReservationState};

use super::{book, completed, dates, money, price, rooms, shown};
use crate::{
    desk_world::DeskWorld,
    world::{day, fresh_key, guest, rate_change, room},
};

/// Three nights; the guest comes for the last one.
const STAY: (&str, &str) = ("2026-11-14", "2026-11-17");

async fn step(at: &DeskWorld, reservation: ReservationId, step: Step) {
    let request =
        StepRequest { hotel: at.hotel.clone(), reservation, step, if_match: None, key: fresh_key() };
    front_desk::run(&at.desk, &at.world.operator, request).await.expect("a step");
}

#[tokio::test]
async fn a_guest_who_has_arrived_may_stay_longer_and_not_arrive_otherwise() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, super::STAY, 1).await;
    at.world.clock("2026-11-15T06:00:00Z").await;
    step(&at, booked.id, Step::CheckIn).await;
    for stay in [("2026-11-15", "2026-11-17"), ("2026-11-13", "2026-11-16")] {
        let refused = priced::run(&at.desk, &guest, dates(booked.id, stay, 2)).await;
        assert!(matches!(refused, Err(PriceChangeError::Invalid(_))), "{refused:?}");
    }
    let longer = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 2)).await;
    completed(&at, &guest, &longer, Some("pm_ok"), 2).await;
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!((after.state, after.version), (ReservationState::CheckedIn, 3));
    at.verify().await;
}

#[tokio::test]
async fn a_night_that_passed_without_the_guest_is_neither_priced_anew_nor_taken_again() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 1).await;
    let (guest, other) = (guest(), guest());
    let booked = book(&at, &guest, STAY, 1).await;
    at.world.clock("2026-11-15T06:00:00Z").await;
    step(&at, booked.id, Step::NoShow).await;
    let theirs = book(&at, &other, ("2026-11-15", "2026-11-16"), 1).await;
    at.world.clock("2026-11-16T06:00:00Z").await;
    step(&at, booked.id, Step::UndoNoShow).await;
    let dearer = rate_change(day("2026-11-16"), day("2026-11-17"), "9000.00");
    at.world.set_rates(&at.hotel, vec![dearer]).await;
    let longer = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-18"), 3)).await;
    assert_eq!(money(&longer), ["10080.00", "0.00", "31920.00", "10080.00"]);
    completed(&at, &guest, &longer, Some("pm_ok"), 3).await;
    for night in ["2026-11-14", "2026-11-15", "2026-11-16"] {
        assert_eq!(at.counters(night).await, (1, 0, 1), "{night}");
    }
    assert_eq!(at.counters("2026-11-17").await, (5, 0, 1));
    assert_eq!(shown(&at, &other, theirs.id).await.state, ReservationState::Confirmed);
    at.verify().await;
    // Once more a no-show, and undone: only what is to come goes and comes back.
    step(&at, booked.id, Step::NoShow).await;
    assert_eq!(at.counters("2026-11-17").await, (5, 0, 0));
    at.verify().await;
    step(&at, booked.id, Step::UndoNoShow).await;
    assert_eq!((at.counters("2026-11-15").await, at.counters("2026-11-17").await), ((1, 0, 1), (5, 0, 1)));
    at.verify().await;
}

/// Neither is it where the room is for other guests from now on, at another price.
#[tokio::test]
async fn a_night_that_passed_without_the_guest_stays_as_it_was_sold_to_other_guests() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 1).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    at.world.clock("2026-11-15T06:00:00Z").await;
    step(&at, booked.id, Step::NoShow).await;
    book(&at, &crate::world::guest(), ("2026-11-15", "2026-11-16"), 1).await;
    at.world.clock("2026-11-16T06:00:00Z").await;
    step(&at, booked.id, Step::UndoNoShow).await;
    let dearer = rate_change(day("2026-11-16"), day("2026-11-17"), "9000.00");
    at.world.set_rates(&at.hotel, vec![dearer]).await;
    let alone = price(&at, &guest, rooms(booked.id, vec![room("RT-DLX", 1, &[])], 3)).await;
    completed(&at, &guest, &alone, Some("pm_ok"), 3).await;
    let after = shown(&at, &guest, booked.id).await.document;
    let amounts: Vec<_> = after.rooms[0].nights.iter().map(|night| night.amount.to_string()).collect();
    assert_eq!(amounts, ["6500.00", "6500.00", "9000.00"]);
    for night in ["2026-11-14", "2026-11-15", "2026-11-16"] {
        assert_eq!(at.counters(night).await, (1, 0, 1), "{night}");
    }
    at.verify().await;
    // Left early, it has nothing of that night to give back.
    step(&at, booked.id, Step::CheckIn).await;
    step(&at, booked.id, Step::CheckOut(Some(day("2026-11-16")))).await;
    assert_eq!((at.counters("2026-11-15").await, at.counters("2026-11-16").await), ((1, 0, 1), (1, 0, 0)));
    at.verify().await;
}
