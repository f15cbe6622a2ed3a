//! Stays that touch: the check-out date is no night.

use keyrack_booking::{place_hold::PlaceHoldError, release, views::Standing};

use crate::{
    desk_world::DeskWorld,
    world::{day, fresh_key, guest},
};

async fn book(at: &DeskWorld, stay: (&str, &str)) {
    let guest = guest();
    let hold = at.hold(&guest, stay).await;
    let booking = at.pay(&guest, hold.id, "pm_ok").await;
    assert!(matches!(booking.standing, Standing::Confirmed(_)), "{booking:?}");
}

/// B079
#[tokio::test]
async fn b079_guests_leave_on_an_arrival_day_and_arrive_on_a_departure_day_and_nothing_else() {
    let at = DeskWorld::new().await;
    at.sellable(("2027-04-12", "2027-04-21"), 1).await;
    book(&at, ("2027-04-15", "2027-04-18")).await;
    for stay in [("2027-04-12", "2027-04-15"), ("2027-04-18", "2027-04-20")] {
        let guest = guest();
        let hold = at.hold(&guest, stay).await;
        release::run(&at.desk, &guest, hold.id, fresh_key()).await.expect("released");
    }
    for (stay, night) in [
        (("2027-04-14", "2027-04-16"), "2027-04-15"),
        (("2027-04-17", "2027-04-19"), "2027-04-17"),
        (("2027-04-15", "2027-04-18"), "2027-04-15"),
    ] {
        let refused = at.try_hold(&guest(), stay).await.expect_err("taken");
        let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{stay:?}: {refused:?}") };
        assert_eq!(shortage.first.night, day(night), "{stay:?}");
    }
    for (night, confirmed) in [("2027-04-14", 0), ("2027-04-15", 1), ("2027-04-17", 1), ("2027-04-18", 0)] {
        assert_eq!(at.counters(night).await, (1, 0, confirmed), "{night}");
    }
    at.verify().await;
}

/// B011: units are counted by night; which room it is may change during the stay.
#[tokio::test]
async fn b011_one_unit_free_on_every_night_is_a_stay_though_no_room_is_free_throughout() {
    let at = DeskWorld::new().await;
    let whole = ("2026-11-14", "2026-11-18");
    at.sellable(whole, 2).await;
    book(&at, ("2026-11-14", "2026-11-16")).await;
    book(&at, ("2026-11-16", "2026-11-18")).await;
    at.hold(&guest(), whole).await;
    for night in ["2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17"] {
        assert_eq!(at.counters(night).await, (2, 1, 1), "{night}");
    }
    let refused = at.try_hold(&guest(), whole).await.expect_err("every night is full");
    let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{refused:?}") };
    assert_eq!((shortage.first.night, shortage.also_short.len()), (day("2026-11-14"), 3));
    at.verify().await;
}
