//! A hotel on each of two shards: bookings, ids and keys.

use std::{net::TcpListener, sync::Arc, time::Duration};

use keyrack_booking::{
    Desk, Settings, operations,
    place_hold::{self, PlaceHold},
    reservations, start_attempt, verify,
    views::Standing,
};
use keyrack_domain::{code::HotelCode, principal::Caller};
use keyrack_payments::SimulatorProvider;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::{
    desk_world::payment,
    world::{HORIZON, World, fresh_key, guest, hotel, htl_204, key, percent},
};

#[tokio::test]
async fn a_booking_on_each_shard_resolves_by_its_id_and_one_key_on_two_hotels_is_two_requests() {
    let world = World::with_shards(2).await;
    let first = world.open(htl_204(), "6500.00").await;
    let london = hotel("HTL-310", "Europe/London", "GBP", vec![percent("VAT", "20", true)]);
    let created = world.create(london, "open-310").await.expect("a hotel");
    let second: HotelCode = created.answer.code;
    world.price(&second, "120.00").await;
    let shards: Vec<_> = [&first, &second].iter().map(|code| world.hotels.by_code(code)).collect();
    let shards: Vec<_> = futures::future::join_all(shards)
        .await
        .into_iter()
        .map(|hotel| hotel.expect("a hotel").shard)
        .collect();
    assert_ne!(shards[0], shards[1], "one on each");

    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let simulator = keyrack_payment_simulator::run(
        listener,
        keyrack_payment_simulator::Settings { slow_capture: Duration::from_hours(1), ..Default::default() },
        &Handle::current(),
    )
    .expect("the simulator");
    let provider = SimulatorProvider::new(&simulator.base_url()).expect("the provider's address");
    let settings = Settings { horizon: HORIZON, ..Settings::default() };
    let desk = Desk::new(
        world.hotels.shards().clone(),
        Arc::new(provider),
        settings,
        Handle::current(),
        TaskTracker::new(),
    );
    let guest = guest();
    let in_kolkata = book(&world, &desk, &guest, &first, ("2026-11-14", "2026-11-16")).await;
    // Over the clock change: two nights, and the checkout is the 26th.
    let in_london = book(&world, &desk, &guest, &second, ("2026-10-24", "2026-10-26")).await;
    assert_eq!(in_london.document.stay.len(), 2);
    assert_eq!(in_london.document.total.to_string(), "240.00");
    for made in [&in_kolkata, &in_london] {
        let found = reservations::find(&desk, &guest, made.id).await.expect("a read");
        assert_eq!(found.as_ref(), Some(made));
    }
    let listed = reservations::list(&desk, &guest, None, 1).await.expect("a page");
    assert_eq!(listed.items.len(), 1);
    let rest = reservations::list(&desk, &guest, listed.next, 10).await.expect("a page");
    assert_eq!((rest.items.len(), rest.next), (1, None));
    let told =
        operations::find(&desk, &guest, &key("H"), &operations::Filter::default()).await.expect("a read");
    assert_eq!(told.len(), 2, "the key was used at two hotels: {told:?}");
    let only = operations::Filter { hotel: Some(second.clone()), ..operations::Filter::default() };
    assert_eq!(operations::find(&desk, &guest, &key("H"), &only).await.expect("a read").len(), 1);
    let report = verify::run(world.hotels.shards(), verify::Options::default()).await;
    assert_eq!(report.exit_code(), 0, "{report}");
}

/// With the same keys at every hotel.
async fn book(
    world: &World,
    desk: &Desk,
    guest: &Caller,
    hotel: &HotelCode,
    stay: (&str, &str),
) -> keyrack_booking::views::ReservationView {
    let quote = world.quote(guest, hotel, stay).await.expect("a quote").id;
    let request = PlaceHold { quote, replaces: None, key: key("H") };
    let held = place_hold::run(desk, guest, request).await.expect("a hold");
    assert!(!held.replayed);
    let paid =
        start_attempt::run(desk, guest, payment(held.answer.id, "pm_ok", key("B"))).await.expect("a booking");
    match paid.answer.standing {
        Standing::Confirmed(reservation) => *reservation,
        other => panic!("{other:?}"),
    }
}

/// Where the night of arrival begins at one o'clock, since midnight does not exist on that day.
#[tokio::test]
async fn a_hotel_whose_local_midnight_does_not_exist_that_day_can_be_booked() {
    let at = crate::desk_world::DeskWorld::new().await;
    let santiago = hotel("HTL-900", "America/Santiago", "CLP", vec![percent("IVA", "19", false)]);
    let code = at.world.create(santiago, "open-900").await.expect("a hotel").answer.code;
    at.world.price(&code, "90000").await;
    let guest = guest();
    let quote = at.world.quote(&guest, &code, ("2026-09-06", "2026-09-07")).await.expect("a quote");
    assert_eq!(quote.document.total.to_string(), "107100");
    let held = at.hold_quote(&guest, quote.id, fresh_key()).await.expect("a hold").answer;
    let paid = at.pay(&guest, held.id, "pm_ok").await;
    assert!(matches!(paid.standing, Standing::Confirmed(_)), "{paid:?}");
    at.verify().await;
}
