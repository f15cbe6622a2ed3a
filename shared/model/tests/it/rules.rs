//! The rules of the write path, told by the model. The product must give the same answers.

use keyrack_domain::{
    hold::HoldState,
    refund::RefundState,
    restriction::{NightRestriction, RatePlanScope, Rule},
};
use keyrack_model::{
    Answer, EditInventory, LateCapture, NightEdit, Outcome, PlaceHold, ProviderAnswer, ProviderRecord,
    Refusal, Shortage, StartAttempt, World, invariants,
};

use crate::sample::*;

fn refusal(answer: Answer) -> Refusal {
    answer.expect_err("a refusal")
}

fn captured(world: &mut World, attempt: u128) -> Outcome {
    world.settle(attempt_id(attempt), ProviderAnswer::Captured, new_ids(attempt)).expect("an attempt")
}

fn confirmed(n: u128) -> Outcome {
    Outcome::Confirmed { attempt: attempt_id(n), reservation: new_ids(n).reservation }
}

fn reconciling(n: u128) -> Outcome {
    Outcome::Pending { attempt: attempt_id(n), reconciling: true }
}

fn failed(n: u128, state: RefundState) -> Outcome {
    Outcome::BookingFailed { attempt: attempt_id(n), refund: new_ids(n).refund, state }
}

#[test]
fn b001_the_last_unit_goes_to_one_and_the_other_is_told_the_night() {
    let mut world = world(1);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.quote(2, AARON, document(14, 16, &[DELUXE]));
    assert_eq!(state_of(&world.place(1, ZOE, 1, "k")), Some(HoldState::Active));
    let shortage = Shortage { room_type: DELUXE, night: day(14), requested: 1, available: 0 };
    assert_eq!(refusal(world.place(2, AARON, 2, "k")), Refusal::RoomNightUnavailable(shortage));
    assert_eq!((world.counters(DELUXE, 14), world.counters(DELUXE, 15)), ((1, 0), (1, 0)));
    assert_eq!(refusal(world.place(2, AARON, 2, "k")).http(), (409, "ROOM_NIGHT_UNAVAILABLE"));
}

#[test]
fn b006_two_entries_of_one_type_count_together() {
    for (sellable, held) in [(1, 0), (2, 2)] {
        let mut world = world(sellable);
        world.quote(1, ZOE, document(14, 16, &[DELUXE, DELUXE]));
        let answer = world.place(1, ZOE, 1, "k");
        assert_eq!(world.counters(DELUXE, 14), (held, 0));
        if held == 0 {
            let shortage = Shortage { room_type: DELUXE, night: day(14), requested: 2, available: 1 };
            assert_eq!(refusal(answer), Refusal::RoomNightUnavailable(shortage));
        }
    }
}

#[test]
fn b010_the_third_of_four_nights_is_named_and_nothing_is_held() {
    let mut world = world(1);
    world.quote(1, AARON, document(16, 17, &[DELUXE]));
    world.quote(2, ZOE, document(14, 18, &[STANDARD, DELUXE]));
    world.place(1, AARON, 1, "k").expect("a hold");
    let shortage = Shortage { room_type: DELUXE, night: day(16), requested: 1, available: 0 };
    assert_eq!(refusal(world.place(2, ZOE, 2, "k")), Refusal::RoomNightUnavailable(shortage));
    assert_eq!([14, 15, 16, 17].map(|date| world.counters(STANDARD, date)), [(0, 0); 4]);
}

#[test]
fn a_night_without_a_row_is_not_for_sale() {
    let mut world = world(1);
    world.quote(1, ZOE, document(20, 22, &[DELUXE]));
    let shortage = Shortage { room_type: DELUXE, night: day(21), requested: 1, available: 0 };
    assert_eq!(refusal(world.place(1, ZOE, 1, "k")), Refusal::RoomNightUnavailable(shortage));
}

#[test]
fn b089_a_quote_lasts_600_seconds_with_its_last_instant() {
    let mut world = world(5);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.pass(600);
    assert!(world.place(1, ZOE, 1, "k1").is_ok());
    world.pass(1);
    assert_eq!(refusal(world.place(2, ZOE, 1, "k2")), Refusal::QuoteExpired);
    let replay = world.place(3, ZOE, 1, "k1").expect("the recorded answer");
    assert!(replay.replayed, "what was answered is repeated although the quote has ended");
}

#[test]
fn b088_restrictions_are_read_again_at_the_hold_and_leave_held_rooms_alone() {
    let mut world = world(5);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.quote(2, AARON, document(14, 16, &[DELUXE]));
    world.place(1, ZOE, 1, "k").expect("a hold");
    let stop_sell = NightRestriction { stop_sell: true, ..NightRestriction::default() };
    let restrictions = &mut world.hotels.get_mut(&HOTEL).expect("the hotel").restrictions;
    restrictions.insert((DELUXE, RatePlanScope::Every, day(15)), stop_sell);
    let Refusal::RestrictionViolated(broken) = refusal(world.place(2, AARON, 2, "k")) else {
        panic!("not restricted")
    };
    assert_eq!(broken.iter().map(|v| (v.night, v.rule)).collect::<Vec<_>>(), [(day(15), Rule::StopSell)]);
    world.pay(1, ZOE, 1, "k").expect("an attempt");
    assert_eq!(captured(&mut world, 1), confirmed(1));
}

#[test]
fn b081_a_night_held_before_midnight_is_paid_after_it() {
    let mut world = world(1);
    world.advance_to(at("2026-11-14T18:29:59Z"));
    world.quote(1, ZOE, document(14, 15, &[DELUXE]));
    world.place(1, ZOE, 1, "k").expect("a hold");
    world.pass(2);
    world.pay(1, ZOE, 1, "k").expect("an attempt");
    assert_eq!(captured(&mut world, 1), confirmed(1));
}

#[test]
fn five_active_holds_are_the_limit_and_replays_do_not_count() {
    let mut world = world(9);
    for n in 1..=6 {
        world.quote(n, ZOE, document(14, 15, &[DELUXE]));
    }
    for n in 1..=5 {
        world.place(n, ZOE, n, &format!("k{n}")).expect("a hold");
    }
    assert_eq!(refusal(world.place(6, ZOE, 6, "k6")).http(), (429, "HOLD_LIMIT"));
    assert!(world.place(7, ZOE, 5, "k5").expect("the recorded answer").replayed);
    world.quote(7, AARON, document(14, 15, &[DELUXE]));
    assert!(world.place(8, AARON, 7, "k6").is_ok(), "another guest's holds do not count");
    world.release(1, ZOE, "r1").expect("a release");
    let answer = world.place(6, ZOE, 6, "k6").expect("a refused call leaves no key behind");
    assert!(!answer.replayed);
}

#[test]
fn b005_a_guest_swaps_their_own_hold_on_the_last_unit() {
    let mut world = world(1);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.place(1, ZOE, 1, "k1").expect("a hold");
    let swap = |id, key: &str| PlaceHold {
        principal: ZOE,
        key: key.parse().expect("a key"),
        quote: quote_id(1),
        replaces: Some(hold_id(1)),
        id: hold_id(id),
    };
    world.pay(1, ZOE, 1, "p1").expect("an attempt");
    assert_eq!(refusal(world.place_hold(&swap(2, "k2"))), Refusal::AttemptInProgress(attempt_id(1)));
    world.settle(attempt_id(1), ProviderAnswer::Declined, new_ids(1)).expect("an attempt");
    assert_eq!(state_of(&world.place_hold(&swap(2, "k2"))), Some(HoldState::Active));
    assert_eq!(world.holds[&hold_id(1)].state, HoldState::Released);
    assert_eq!(world.counters(DELUXE, 14), (1, 0));
    assert_eq!(refusal(world.pay(2, ZOE, 1, "p2")), Refusal::HoldNotActive(HoldState::Released));
    assert_eq!(refusal(world.place_hold(&swap(3, "k3"))), Refusal::HoldNotActive(HoldState::Released));
    assert!(world.place_hold(&swap(4, "k2")).expect("the recorded answer").replayed);
}

#[test]
fn one_key_is_one_input_one_effect_and_one_principal() {
    let mut world = world(5);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.quote(2, ZOE, document(14, 15, &[DELUXE]));
    let first = world.place(1, ZOE, 1, "k").expect("a hold");
    let again = world.place(2, ZOE, 1, "k").expect("the recorded answer");
    assert_eq!((again.outcome, again.replayed), (first.outcome, true));
    assert_eq!(refusal(world.place(2, ZOE, 2, "k")).http(), (422, "IDEMPOTENCY_KEY_REUSED"));
    assert_eq!(world.counters(DELUXE, 14), (1, 0));
    assert_eq!(refusal(world.place(2, AARON, 1, "k")), Refusal::NotFound);
    assert_eq!(refusal(world.release(1, AARON, "k")), Refusal::NotFound);
    assert_eq!(refusal(world.pay(1, AARON, 1, "k")), Refusal::NotFound);
    world.pass(24 * 3600 + 1);
    assert_eq!(refusal(world.place(2, ZOE, 1, "k")).http(), (409, "IDEMPOTENCY_KEY_EXPIRED"));
}

#[test]
fn a_second_delete_gives_the_same_answer() {
    let mut world = world(1);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.place(1, ZOE, 1, "k").expect("a hold");
    let first = world.release(1, ZOE, "r1").expect("a release");
    let again = world.release(1, ZOE, "r2").expect("a release");
    assert_eq!(first, again);
    assert_eq!(world.counters(DELUXE, 14), (0, 0));
}

#[test]
fn a_booking_paid_at_598_seconds_survives_the_tick_at_601() {
    let mut world = world(1);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.place(1, ZOE, 1, "k").expect("a hold");
    world.pass(598);
    world.pay(1, ZOE, 1, "p").expect("an attempt");
    assert_eq!(captured(&mut world, 1), confirmed(1));
    world.pass(3);
    assert_eq!(world.expire(), []);
    assert_eq!(world.counters(DELUXE, 14), (0, 1));
    assert_eq!(refusal(world.release(1, ZOE, "r")), Refusal::HoldNotActive(HoldState::Consumed));
}

/// Hold 1 expired while its payment hung, Aaron holds the unit, and the money comes at t=605 s.
fn late_capture(sellable: u32, policy: LateCapture) -> World {
    let mut world = world(sellable);
    world.settings.late_capture = policy;
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.place(1, ZOE, 1, "k").expect("a hold");
    world.pass(470);
    world.pay(1, ZOE, 1, "p").expect("an attempt");
    world.pass(130);
    assert_eq!(world.expire(), [], "valid at its own last instant");
    world.pass(1);
    assert_eq!(world.expire(), [hold_id(1)]);
    world.pass(1);
    world.quote(2, AARON, document(14, 16, &[DELUXE]));
    world.place(2, AARON, 2, "k").expect("a hold");
    world.pass(3);
    assert_eq!(captured(&mut world, 1), reconciling(1));
    world
}

#[test]
fn b013_a_late_capture_is_refunded_and_the_other_guests_unit_is_untouched() {
    let mut world = late_capture(1, LateCapture::Refund);
    assert_eq!(refusal(world.pay(2, ZOE, 1, "p2")), Refusal::AttemptInProgress(attempt_id(1)));
    let outcome = world.reconcile(attempt_id(1), ProviderRecord::Captured, new_ids(1));
    assert_eq!(outcome, Ok(failed(1, RefundState::Requested)));
    assert_eq!(world.settle_refund(new_ids(1).refund, true), Ok(RefundState::Succeeded));
    assert_eq!(world.standing(attempt_id(1)), Ok(failed(1, RefundState::Succeeded)));
    assert_eq!(refusal(world.pay(2, ZOE, 1, "p2")).http(), (410, "HOLD_EXPIRED"));
    assert_eq!(world.counters(DELUXE, 14), (1, 0));
    assert_eq!((world.refunds.len(), world.reservations.len()), (1, 0));
    world.pay(3, AARON, 2, "p").expect("an attempt");
    assert_eq!(captured(&mut world, 3), confirmed(3));
    assert_eq!(invariants(&world), []);
}

#[test]
fn b016_a_late_capture_is_allocated_anew_where_that_is_the_setting_and_room_is_left() {
    for (sellable, policy, expected) in [
        (2, LateCapture::Reallocate, confirmed(1)),
        (1, LateCapture::Reallocate, failed(1, RefundState::Requested)),
        (2, LateCapture::Refund, failed(1, RefundState::Requested)),
    ] {
        let mut world = late_capture(sellable, policy);
        for sweep in 1..=5 {
            let outcome = world.reconcile(attempt_id(1), ProviderRecord::Captured, new_ids(1));
            assert_eq!(outcome, Ok(expected.clone()), "sweep {sweep}");
        }
        assert_eq!(world.holds[&hold_id(1)].state, HoldState::Expired);
        assert_eq!(invariants(&world), []);
    }
}

#[test]
fn b018_a_decline_is_followed_by_another_card_and_never_moves_the_end_of_the_hold() {
    let mut world = world(1);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    let answer = world.place(1, ZOE, 1, "k").expect("a hold");
    let Outcome::Hold { expires_at, .. } = answer.outcome else { panic!("not a hold") };
    world.pay(1, ZOE, 1, "p1").expect("an attempt");
    assert_eq!(refusal(world.pay(2, ZOE, 1, "p2")), Refusal::AttemptInProgress(attempt_id(1)));
    let declined = world.settle(attempt_id(1), ProviderAnswer::Declined, new_ids(1));
    assert_eq!(declined, Ok(Outcome::Declined { attempt: attempt_id(1) }));
    let replay = world.pay(9, ZOE, 1, "p1").expect("the present state");
    assert_eq!((replay.outcome, replay.replayed), (Outcome::Declined { attempt: attempt_id(1) }, true));
    world.pay(2, ZOE, 1, "p2").expect("an attempt");
    assert_eq!(world.holds[&hold_id(1)].expires_at, expires_at);
    assert_eq!(captured(&mut world, 2), confirmed(2));
}

#[test]
fn the_key_of_a_booking_is_bound_to_its_hold_card_and_guest() {
    let mut world = world(5);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.place(1, ZOE, 1, "k1").expect("a hold");
    world.place(2, ZOE, 1, "k2").expect("a hold");
    let call = |hold, method: &str, name: &str| StartAttempt {
        principal: ZOE,
        key: "p".parse().expect("a key"),
        hold: hold_id(hold),
        method: method.parse().expect("a token"),
        guest: guest(name),
        id: attempt_id(1),
    };
    world.start_attempt(&call(1, "pm_ok", "Zoë")).expect("an attempt");
    for other in [call(2, "pm_ok", "Zoë"), call(1, "pm_slow", "Zoë"), call(1, "pm_ok", "Zoe")] {
        assert_eq!(refusal(world.start_attempt(&other)), Refusal::KeyReused);
    }
    world.pass(30 * 24 * 3600);
    assert!(world.start_attempt(&call(1, "pm_ok", "Zoë")).expect("attempts never expire").replayed);
}

#[test]
fn nothing_at_the_provider_is_believed_only_after_a_while_or_a_cancel() {
    let mut world = world(1);
    world.quote(1, ZOE, document(14, 16, &[DELUXE]));
    world.place(1, ZOE, 1, "k").expect("a hold");
    world.pay(1, ZOE, 1, "p").expect("an attempt");
    let asked = |world: &mut World, record| world.reconcile(attempt_id(1), record, new_ids(1));
    world.pass(120);
    let pending = Outcome::Pending { attempt: attempt_id(1), reconciling: false };
    assert_eq!(asked(&mut world, ProviderRecord::Cancelled), Ok(pending), "not due at its own deadline");
    world.pass(1);
    assert_eq!(asked(&mut world, ProviderRecord::Nothing), Ok(reconciling(1)));
    world.pass(59);
    assert_eq!(asked(&mut world, ProviderRecord::Nothing), Ok(reconciling(1)));
    let mut cancelled = world.clone();
    let declined = Ok(Outcome::Declined { attempt: attempt_id(1) });
    assert_eq!(asked(&mut cancelled, ProviderRecord::Cancelled), declined);
    world.pass(1);
    assert_eq!(asked(&mut world, ProviderRecord::Nothing), declined);
    // It was travelling all the same.
    assert_eq!(captured(&mut world, 1), failed(1, RefundState::Requested));
    assert_eq!(invariants(&world), []);
}

#[test]
fn a_staff_edit_below_what_is_committed_changes_nothing() {
    let mut world = world(3);
    world.quote(1, ZOE, document(15, 16, &[DELUXE, DELUXE]));
    world.place(1, ZOE, 1, "k").expect("a hold");
    let edit = |of_november, sellable| NightEdit { room_type: DELUXE, night: day(of_november), sellable };
    let call = |key: &str, edits| EditInventory {
        principal: AARON,
        key: key.parse().expect("a key"),
        hotel: HOTEL,
        edits,
    };
    let before = world.clone();
    let Refusal::BelowCommitted(nights) =
        refusal(world.edit_inventory(&call("e1", vec![edit(14, 9), edit(15, 1)])))
    else {
        panic!("not refused")
    };
    assert_eq!(nights.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [night(DELUXE, 15)]);
    assert_eq!(refusal(world.edit_inventory(&call("e1", vec![edit(29, 1)]))), Refusal::OutOfHorizon);
    assert_eq!(world, before);
    world.edit_inventory(&call("e1", vec![edit(15, 2), edit(14, 1), edit(14, 0)])).expect("an edit");
    assert_eq!([14, 15].map(|date| world.nights[&night(DELUXE, date)].available()), [0, 0]);
}
