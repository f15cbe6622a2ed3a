//! What becomes of a reservation, told by the model. The product must give the same answers.

use std::{sync::Arc, time::Duration};

use keyrack_domain::{
    change::ChangeState,
    ids::{ChangeId, HoldId, RefundId, ReservationId},
    policy::{CancellationPolicy, Penalty, Rung},
    quote::QuoteDocument,
    reservation::ReservationState,
};
use keyrack_model::{
    Answer, Cancel, ConfirmChange, Deliver, Delivery, Happening, Outcome, PriceChange, ProviderAnswer,
    Refusal, Step, TakeStep, Withdraw, World, Worlds, invariants,
};
use uuid::Uuid;

use crate::sample::*;

fn reservation_id(n: u128) -> ReservationId {
    new_ids(n).reservation
}

/// Free until two days before at 18:00 in Kolkata.
fn flexible(first: u32, check_out: u32, rooms: usize) -> QuoteDocument {
    let mut document = document(first, check_out, &vec![DELUXE; rooms]);
    let until_time = chrono::NaiveTime::from_hms_opt(18, 0, 0).expect("a time");
    let rungs = vec![Rung { until_days_before: 2, until_time, penalty: Penalty::None }];
    for room in &mut document.rooms {
        room.cancellation = CancellationPolicy { rungs: rungs.clone() };
    }
    document
}

/// Zoë's stay, paid, as number 1; the desk is Aaron's.
fn booked(document: QuoteDocument, sellable: u32) -> World {
    let mut world = world(sellable);
    world.hotels.get_mut(&HOTEL).expect("the hotel").staff.insert(AARON);
    world.quote(1, ZOE, document);
    world.place(1, ZOE, 1, "k").expect("a hold");
    world.pay(1, ZOE, 1, "p").expect("an attempt");
    world.settle(attempt_id(1), ProviderAnswer::Captured, new_ids(1)).expect("an attempt");
    world
}

fn cancel(world: &mut World, key: &str, room: Option<usize>, if_match: i32) -> Answer {
    let (key, refund) = (key.parse().expect("a key"), RefundId::new(HOTEL, Uuid::from_u128(77)));
    let reservation = reservation_id(1);
    world.cancel(&Cancel { principal: ZOE, key, reservation, room, if_match, refund })
}

fn step(world: &mut World, key: &str, step: Step) -> Answer {
    let key = key.parse().expect("a key");
    let (principal, reservation) = (AARON, reservation_id(1));
    world.take_step(&TakeStep { principal, key, reservation, step, if_match: None })
}

fn price(world: &mut World, n: u128, check_out: u32) -> Answer {
    let (key, id) = (format!("c{n}").parse().expect("a key"), ChangeId::new(HOTEL, Uuid::from_u128(n)));
    let wanted = flexible(14, check_out, 1);
    let reservation = reservation_id(1);
    world.price_change(&PriceChange { principal: ZOE, key, reservation, if_match: 1, wanted, id })
}

fn confirm(world: &mut World, n: u128, key: &str) -> Answer {
    world.confirm_change(&ConfirmChange {
        principal: ZOE,
        key: key.parse().expect("a key"),
        change: ChangeId::new(HOTEL, Uuid::from_u128(n)),
        method: Some("pm_ok".parse().expect("a token")),
        if_match: 1,
        hold: HoldId::new(HOTEL, Uuid::from_u128(50)),
        attempt: attempt_id(50),
        refund: RefundId::new(HOTEL, Uuid::from_u128(51)),
    })
}

/// B094: by the hotel's time, its instant included.
#[test]
fn b094_one_room_is_free_until_the_rung_and_the_other_costs_all_after_it() {
    let mut world = booked(flexible(14, 16, 2), 3);
    world.advance_to(at("2026-11-12T12:30:00Z"));
    let Ok(told) = cancel(&mut world, "a", Some(2), 1) else { panic!("it can be cancelled") };
    let Outcome::Cancelled { state, version, penalty, refund, .. } = told.outcome else {
        panic!("cancelled")
    };
    assert_eq!((state, version, penalty.is_zero()), (ReservationState::Confirmed, 2, true));
    assert_eq!(refund.to_string(), "14560.00");
    assert_eq!(world.counters(DELUXE, 14), (0, 1));
    assert_eq!(cancel(&mut world, "b", None, 1), Err(Refusal::VersionConflict(2)));
    world.advance_to(at("2026-11-12T12:30:01Z"));
    let Ok(told) = cancel(&mut world, "b", None, 2) else { panic!("it can be cancelled") };
    let Outcome::Cancelled { state, penalty, refund, .. } = told.outcome else { panic!("cancelled") };
    assert_eq!((state, refund.is_zero()), (ReservationState::Cancelled, true));
    assert_eq!(penalty.to_string(), "14560.00");
    assert_eq!((world.counters(DELUXE, 14), invariants(&world)), ((0, 0), vec![]));
}

#[test]
fn a_no_show_gives_back_what_is_to_come_and_takes_it_again_where_it_is_free() {
    let mut world = booked(flexible(14, 17, 1), 1);
    assert_eq!(step(&mut world, "n", Step::NoShow), Err(Refusal::NotToday));
    world.advance_to(at("2026-11-15T06:00:00Z"));
    step(&mut world, "n", Step::NoShow).expect("a no-show");
    let counters = |world: &World| [14, 15, 16].map(|date| world.counters(DELUXE, date).1);
    assert_eq!(counters(&world), [1, 0, 0]);
    let mut sold = world.clone();
    sold.quote(2, AARON, document(16, 17, &[DELUXE]));
    sold.place(2, AARON, 2, "k").expect("a hold");
    assert!(matches!(step(&mut sold, "u", Step::UndoNoShow), Err(Refusal::RoomNightUnavailable(_))));
    step(&mut world, "u", Step::UndoNoShow).expect("the guest has come");
    assert_eq!(counters(&world), [1, 1, 1]);
    step(&mut world, "i", Step::CheckIn).expect("a guest");
    step(&mut world, "o", Step::CheckOut(Some(day(16)))).expect("an early departure");
    assert_eq!((counters(&world), invariants(&world)), ([1, 1, 0], vec![]));
}

#[test]
fn a_longer_stay_is_held_paid_and_swapped_and_a_declined_card_leaves_it_priced() {
    let mut world = booked(flexible(14, 16, 1), 1);
    let Ok(told) = price(&mut world, 9, 17) else { panic!("a price") };
    let Outcome::ChangePriced { difference, charge, total, .. } = told.outcome else { panic!("priced") };
    assert_eq!(
        [difference, charge, total].map(|money| money.to_string()),
        ["7280.00", "7280.00", "21840.00"]
    );
    let mut declined = world.clone();
    for world in [&mut world, &mut declined] {
        assert!(
            confirm(world, 9, "x").is_ok_and(|told| matches!(told.outcome, Outcome::ChangePending { .. }))
        );
        assert_eq!(world.counters(DELUXE, 16), (1, 0));
    }
    declined.settle(attempt_id(50), ProviderAnswer::Declined, new_ids(50)).expect("an attempt");
    assert_eq!(declined.changes.values().map(|change| change.state).next(), Some(ChangeState::Priced));
    assert_eq!((declined.counters(DELUXE, 16), invariants(&declined)), ((0, 0), vec![]));
    world.settle(attempt_id(50), ProviderAnswer::Captured, new_ids(50)).expect("an attempt");
    let told = confirm(&mut world, 9, "x").expect("a repeat");
    assert!(told.replayed && matches!(told.outcome, Outcome::Changed { version: Some(2), .. }));
    assert_eq!((world.counters(DELUXE, 16), invariants(&world)), ((0, 1), vec![]));
}

#[test]
fn a_change_that_was_overtaken_goes_back_and_the_cancelled_stay_stays_cancelled() {
    let mut world = booked(flexible(14, 16, 1), 1);
    price(&mut world, 9, 17).expect("a price");
    confirm(&mut world, 9, "x").expect("a hold");
    cancel(&mut world, "c", None, 1).expect("a cancellation");
    world.settle(attempt_id(50), ProviderAnswer::Captured, new_ids(50)).expect("an attempt");
    world
        .reconcile(attempt_id(50), keyrack_model::ProviderRecord::Captured, new_ids(50))
        .expect("an attempt");
    assert_eq!(world.changes.values().map(|change| change.state).next(), Some(ChangeState::Failed));
    assert_eq!([14, 15, 16].map(|date| world.counters(DELUXE, date)), [(0, 0); 3]);
    assert_eq!((world.refunds.len(), invariants(&world)), (2, vec![]));
}

#[test]
fn a_channels_booking_is_placed_once_modified_by_a_higher_revision_and_given_back_once() {
    let mut world = world(2);
    let booking = (HOTEL, "B1".to_owned());
    let deliver = |world: &mut World, revision: i64, check_out: u32| {
        let (document, id) = (document(14, check_out, &[DELUXE]), reservation_id(1));
        let told =
            world.deliver(&Deliver { principal: ZOE, booking: booking.clone(), revision, document, id })?;
        let Outcome::Delivered { delivery, .. } = told.outcome else { panic!("delivered") };
        Ok::<_, Refusal>(delivery)
    };
    assert_eq!(deliver(&mut world, 1, 15), Ok(Delivery::Created));
    assert_eq!(deliver(&mut world, 1, 15), Ok(Delivery::Repeated));
    assert_eq!(deliver(&mut world, 1, 16), Err(Refusal::StaleRevision(1)));
    assert_eq!(deliver(&mut world, 2, 16), Ok(Delivery::Modified));
    assert_eq!([14, 15].map(|date| world.counters(DELUXE, date)), [(0, 1), (0, 1)]);
    let withdraw = Withdraw { principal: ZOE, booking: (HOTEL, "B1".to_owned()) };
    for again in [false, true] {
        let told = world.withdraw(&withdraw).expect("it is known").outcome;
        assert!(matches!(told, Outcome::Withdrawn { before, .. } if before == again));
    }
    assert_eq!(deliver(&mut world, 3, 15), Err(Refusal::BookingInactive));
    assert_eq!((world.counters(DELUXE, 14), invariants(&world)), ((0, 0), vec![]));
}

/// Of two who want the last unit, and of whom one heard nothing, the other's answer tells what happened.
#[test]
fn an_answer_that_was_heard_tells_of_one_that_was_not() {
    let mut begun = world(1);
    begun.quote(1, ZOE, document(14, 15, &[DELUXE]));
    begun.quote(2, AARON, document(14, 15, &[DELUXE]));
    let places = |n: u128, who, is_placed: bool| {
        move |world: &Arc<World>| {
            let mut world = World::clone(world);
            let placed = world.place(n, who, n, "k").is_ok();
            if placed == is_placed { vec![Arc::new(world)] } else { vec![] }
        }
    };
    let unheard = || Happening::new(places(1, ZOE, true)).perhaps();
    let mut worlds = Worlds::new(begun.clone());
    assert!(worlds.happen(&[unheard()]));
    assert_eq!(worlds.iter().count(), 2);
    assert!(worlds.happen(&[Happening::new(places(2, AARON, false))]));
    assert_eq!(worlds.any().map(|world| world.holds.contains_key(&hold_id(1))), Some(true));
    // At the same time, and both were told that it is theirs: there is no such world.
    let both = [Happening::new(places(1, ZOE, true)), Happening::new(places(2, AARON, true))];
    let mut worlds = Worlds::new(begun);
    assert!(!worlds.happen(&both));
    assert!(worlds.any().is_some_and(|world| world.holds.is_empty()), "it is as it was");
    worlds.each(|world| world.advance_to(world.now.plus(Duration::from_secs(1))));
    assert!(
        worlds.happen(&[
            Happening::new(places(1, ZOE, true)),
            Happening::new(places(2, AARON, false)).after(0)
        ])
    );
}
