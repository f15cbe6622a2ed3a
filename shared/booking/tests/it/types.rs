//! Several rooms of several types in one hold.

use keyrack_booking::{
    place_hold::PlaceHoldError,
    release,
    views::{HoldView, Standing},
};
use keyrack_domain::principal::Caller;

use crate::{
    desk_world::DeskWorld,
    world::{day, fresh_key, guest, rate_change, room},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-18");
const NIGHTS: [&str; 4] = ["2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17"];

/// HTL-204 with a price for RT-STD too.
async fn two_types() -> DeskWorld {
    let at = DeskWorld::new().await;
    let mut standard = rate_change(day("2026-11-01"), day("2026-11-30"), "5000.00");
    standard.room_type = "RT-STD".parse().expect("a code");
    at.world.set_rates(&at.hotel, vec![standard]).await;
    at
}

/// Three of RT-DLX and two of RT-STD, in mixed order.
async fn try_hold(at: &DeskWorld, guest: &Caller) -> Result<HoldView, PlaceHoldError> {
    let rooms = ["RT-DLX", "RT-STD", "RT-DLX", "RT-STD", "RT-DLX"].map(|code| room(code, 2, &[]));
    let quote = at.quote_rooms(guest, STAY, rooms.to_vec()).await;
    at.hold_quote(guest, quote, fresh_key()).await.map(|answered| answered.answer)
}

/// `(held, confirmed)` of every night of both types.
async fn every_night_has(at: &DeskWorld, deluxe: (i64, i64), standard: (i64, i64)) {
    for night in NIGHTS {
        assert_eq!(at.counters_of("RT-DLX", night).await, (5, deluxe.0, deluxe.1), "RT-DLX {night}");
        assert_eq!(at.counters_of("RT-STD", night).await, (5, standard.0, standard.1), "RT-STD {night}");
    }
    let rows = at.count("room_night_inventory WHERE held + confirmed > 0").await;
    assert_eq!(rows, if deluxe == (0, 0) { 0 } else { 8 }, "no other night");
    at.verify().await;
}

/// B026: once for each unit and night, however many of them there are.
#[tokio::test]
async fn b026_five_rooms_of_two_types_are_held_and_given_back_once_each() {
    let at = two_types().await;
    let guest = guest();
    let hold = try_hold(&at, &guest).await.expect("a hold");
    every_night_has(&at, (3, 0), (2, 0)).await;
    release::run(&at.desk, &guest, hold.id, fresh_key()).await.expect("released");
    every_night_has(&at, (0, 0), (0, 0)).await;

    try_hold(&at, &guest).await.expect("a hold");
    at.advance(601).await;
    assert_eq!(at.expire().await.expired, 1);
    every_night_has(&at, (0, 0), (0, 0)).await;

    let hold = try_hold(&at, &guest).await.expect("a hold");
    let booking = at.pay(&guest, hold.id, "pm_ok").await;
    assert!(matches!(booking.standing, Standing::Confirmed(_)), "{booking:?}");
    every_night_has(&at, (0, 3), (0, 2)).await;
    assert_eq!(at.count("reservation_nights").await, 20);
}

/// B006, B010: all rooms or none, and the first night that does not fit is the first by date, whichever
/// type is short on it.
#[tokio::test]
async fn b006_b010_the_first_short_night_of_any_type_is_named_and_nothing_is_held() {
    let at = two_types().await;
    let guest = guest();
    let days = [("2026-11-14", "2026-11-15"), ("2026-11-15", "2026-11-16")];
    for (first, second) in [("RT-DLX", "RT-STD"), ("RT-STD", "RT-DLX")] {
        at.sellable_of(first, days[0], 1).await;
        at.sellable_of(second, days[1], 1).await;
        let refused = try_hold(&at, &guest).await.expect_err("two nights are short");
        let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{refused:?}") };
        assert_eq!((shortage.first.room_type.as_str(), shortage.first.night), (first, day("2026-11-14")));
        let also: Vec<_> = shortage.also_short.iter().map(|n| (n.room_type.as_str(), n.night)).collect();
        assert_eq!(also, [(second, day("2026-11-15"))]);
        at.sellable_of(first, days[0], 5).await;
        at.sellable_of(second, days[1], 5).await;
        every_night_has(&at, (0, 0), (0, 0)).await;
    }
    assert_eq!(at.count("holds").await, 0);
}
