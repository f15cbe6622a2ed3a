//! One guest many times at once, and different ways to a night's last unit.

use chrono::Days;
use futures::future::join_all;
use keyrack_booking::{
    Answered, Fault, KeyRefusal,
    edit_inventory::{self, EditInventoryError},
    front_desk::{
        self, StepError, StepRequest,
        operation::{Step, Stepped},
    },
    place_hold::{self, PlaceHold, PlaceHoldError},
    release,
    views::{HoldView, Standing},
};
use keyrack_domain::{hold::HoldState, ids::ReservationId};
use keyrack_testkit::Gates;

use crate::{
    desk_world::DeskWorld,
    world::{day, fresh_key, guest},
};

const ROUNDS: u32 = 100;
const SEASON: (&str, &str) = ("2026-03-01", "2026-07-01");

/// A night that nobody has touched, with its morning.
fn night(round: u32) -> (String, String) {
    let night = day(SEASON.0) + Days::new(round.into());
    (night.to_string(), (night + Days::new(1)).to_string())
}

/// False where the unit was gone.
fn has(answer: Result<Answered<HoldView>, PlaceHoldError>, night: &str) -> bool {
    match answer {
        Ok(_) => true,
        Err(PlaceHoldError::SoldOut(shortage)) => {
            assert_eq!(shortage.first.night, day(night));
            false
        }
        Err(other) => panic!("{night}: {other:?}"),
    }
}

/// B021: the cap is counted under a lock, so that calls at once do not pass it together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b021_twelve_holds_of_one_guest_at_once_leave_five() {
    let at = DeskWorld::new().await;
    let stay = ("2026-11-14", "2026-11-16");
    at.sellable(stay, 20).await;
    let guest = guest();
    let quote = at.quote(&guest, stay).await;
    let calls = (0..12).map(|_| at.hold_quote(&guest, quote, fresh_key()));
    let mut held = 0;
    for answer in join_all(calls).await {
        match answer {
            Ok(_) => held += 1,
            Err(
                PlaceHoldError::HoldLimit { limit: 5, .. }
                | PlaceHoldError::Fault(Fault::Busy { .. })
                | PlaceHoldError::Key(KeyRefusal::InProgress { .. }),
            ) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(held, 5);
    assert_eq!(at.count("holds WHERE state = 'ACTIVE'").await, 5);
    assert_eq!(at.counters("2026-11-14").await, (20, 5, 0));
    let sixth = at.hold_quote(&guest, quote, fresh_key()).await.expect_err("the cap is reached");
    assert!(matches!(sixth, PlaceHoldError::HoldLimit { .. }), "{sixth:?}");
    at.verify().await;
}

/// B003: a hold and the staff's edit that takes the unit away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b003_a_hold_and_an_edit_to_nothing_never_both_get_the_unit() {
    let at = DeskWorld::new().await;
    at.sellable(SEASON, 1).await;
    let mut taken_away = 0;
    for round in 0..ROUNDS {
        let (night, morning) = night(round);
        let guest = guest();
        let quote = at.quote(&guest, (&night, &morning)).await;
        let edit = at.edit("RT-DLX", (&night, &morning), 0, fresh_key());
        let hold = at.hold_quote(&guest, quote, fresh_key());
        let edit = edit_inventory::run(&at.desk, &at.world.operator, edit);
        // Either of them is asked first in half of the rounds.
        let (held, edited) = if round % 2 == 0 {
            tokio::join!(hold, edit)
        } else {
            let (edited, held) = tokio::join!(edit, hold);
            (held, edited)
        };
        let edited = match edited {
            Ok(_) => true,
            Err(EditInventoryError::BelowCommitted(_)) => false,
            Err(other) => panic!("{night}: {other:?}"),
        };
        assert_ne!(has(held, &night), edited, "{night}");
        taken_away += i64::from(edited);
    }
    // What each of them was told is what is there.
    let nights = |state: &str| format!("room_night_inventory WHERE stay_date < '2026-07-01' AND {state}");
    assert_eq!(at.count(&nights("sellable = 0")).await, taken_away);
    assert_eq!(at.count(&nights("held = 1")).await, i64::from(ROUNDS) - taken_away);
    at.verify().await;
}

/// B003, stepped: each of them decides after it has read, and is overtaken by the other in between.
#[tokio::test]
async fn b003_whoever_of_hold_and_edit_is_overtaken_sees_what_the_other_did() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    at.sellable(SEASON, 1).await;
    let guest = guest();
    let (night, morning) = night(0);
    let quote = at.quote(&guest, (&night, &morning)).await;
    let mut gate = gates.close("place_hold.after_claim");
    let overtaken = async {
        gate.reached().await;
        at.sellable((&night, &morning), 0).await;
        gate.open();
    };
    let (held, ()) = tokio::join!(at.hold_quote(&guest, quote, fresh_key()), overtaken);
    assert!(!has(held, &night));
    assert_eq!(at.counters(&night).await, (0, 0, 0));

    let (night, morning) = self::night(1);
    let quote = at.quote(&guest, (&night, &morning)).await;
    let edit = at.edit("RT-DLX", (&night, &morning), 0, fresh_key());
    let mut gate = gates.close("edit_inventory.after_claim");
    let overtaken = async {
        gate.reached().await;
        let held = at.hold_quote(&guest, quote, fresh_key()).await;
        gate.open();
        held
    };
    let (edited, held) = tokio::join!(edit_inventory::run(&at.desk, &at.world.operator, edit), overtaken);
    assert!(has(held, &night));
    assert!(matches!(edited, Err(EditInventoryError::BelowCommitted(_))), "{edited:?}");
    assert_eq!(at.counters(&night).await, (1, 1, 0));
    at.verify().await;
}

/// B003: the unit of a swapped hold is never free in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b003_a_swap_in_place_keeps_its_unit_from_strangers() {
    let at = DeskWorld::new().await;
    at.sellable(SEASON, 1).await;
    for round in 0..ROUNDS / 2 {
        let (night, morning) = night(round);
        let (owner, stranger) = (guest(), guest());
        let own = at.hold(&owner, (&night, &morning)).await.id;
        let (quote, theirs) =
            tokio::join!(at.quote(&owner, (&night, &morning)), at.quote(&stranger, (&night, &morning)));
        let swap = PlaceHold { quote, replaces: Some(own), key: fresh_key() };
        let (swapped, taken) = tokio::join!(
            place_hold::run(&at.desk, &owner, swap),
            at.hold_quote(&stranger, theirs, fresh_key())
        );
        assert!(has(swapped, &night), "{night}: it needs no other unit than its own");
        assert!(!has(taken, &night), "{night}");
    }
    at.verify().await;
}

/// B003: a swap that moves to another night races for that night like everybody else, and keeps what it
/// had when it loses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b003_a_swap_to_another_night_and_a_stranger_never_both_get_it() {
    let at = DeskWorld::new().await;
    at.sellable(SEASON, 1).await;
    let before = ("2026-11-14", "2026-11-15");
    at.sellable(before, 500).await;
    let mut kept = 0;
    for round in 0..ROUNDS / 2 {
        let (night, morning) = night(round);
        let (owner, stranger) = (guest(), guest());
        let own = at.hold(&owner, before).await.id;
        let (quote, theirs) =
            tokio::join!(at.quote(&owner, (&night, &morning)), at.quote(&stranger, (&night, &morning)));
        let swap =
            place_hold::run(&at.desk, &owner, PlaceHold { quote, replaces: Some(own), key: fresh_key() });
        let hold = at.hold_quote(&stranger, theirs, fresh_key());
        let (swapped, taken) = if round % 2 == 0 {
            tokio::join!(swap, hold)
        } else {
            let (taken, swapped) = tokio::join!(hold, swap);
            (swapped, taken)
        };
        let swapped = has(swapped, &night);
        assert_ne!(swapped, has(taken, &night), "{night}");
        let first = place_hold::find(&at.desk, &owner, own).await.expect("a read").expect("the hold");
        let expected = if swapped { HoldState::Released } else { HoldState::Active };
        assert_eq!(first.state, expected, "{night}");
        kept += i64::from(!swapped);
    }
    assert_eq!(at.counters(before.0).await, (500, kept, 0));
    at.verify().await;
}

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");
const TONIGHT: (&str, &str) = ("2026-11-15", "2026-11-16");

/// The guest of the only room has not come; tonight is free again.
async fn missed(at: &DeskWorld) -> ReservationId {
    at.sellable(STAY, 1).await;
    let owner = guest();
    let hold = at.hold(&owner, STAY).await;
    let paid = at.pay(&owner, hold.id, "pm_ok").await;
    let Standing::Confirmed(booked) = paid.standing else { panic!("{paid:?}") };
    at.world.clock("2026-11-15T06:00:00Z").await;
    step(at, booked.id, Step::NoShow).await.expect("a no-show");
    booked.id
}

async fn step(
    at: &DeskWorld,
    reservation: ReservationId,
    step: Step,
) -> Result<Answered<Stepped>, StepError> {
    let request =
        StepRequest { hotel: at.hotel.clone(), reservation, step, if_match: None, key: fresh_key() };
    front_desk::run(&at.desk, &at.world.operator, request).await
}

/// False where tonight was gone.
fn came(answer: Result<Answered<Stepped>, StepError>) -> bool {
    match answer {
        Ok(_) => true,
        Err(StepError::SoldOut { night, .. }) => {
            assert_eq!(night, day(TONIGHT.0));
            false
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// B003: the guest comes after all, and somebody else wants the night.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b003_an_undone_no_show_and_a_guest_never_both_get_the_last_unit() {
    let at = DeskWorld::new().await;
    let booked = missed(&at).await;
    for round in 0..ROUNDS {
        let other = guest();
        let quote = at.quote(&other, TONIGHT).await;
        let hold = at.hold_quote(&other, quote, fresh_key());
        let undo = step(&at, booked, Step::UndoNoShow);
        let (held, undone) = if round % 2 == 0 {
            tokio::join!(hold, undo)
        } else {
            let (undone, held) = tokio::join!(undo, hold);
            (held, undone)
        };
        let held_id = held.as_ref().ok().map(|held| held.answer.id);
        let (held, undone) = (has(held, TONIGHT.0), came(undone));
        assert_ne!(held, undone, "round {round}");
        let expected = if undone { (1, 0, 1) } else { (1, 1, 0) };
        assert_eq!(at.counters(TONIGHT.0).await, expected, "round {round}");
        // As it was, for the next round.
        if let Some(hold) = held_id {
            release::run(&at.desk, &other, hold, fresh_key()).await.expect("released");
        } else {
            step(&at, booked, Step::NoShow).await.expect("a no-show again");
        }
    }
    at.verify().await;
}

/// B003, stepped: whichever of them is overtaken after it has read sees what the other did.
#[tokio::test]
async fn b003_whoever_of_undone_no_show_and_hold_is_overtaken_is_refused() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let booked = missed(&at).await;
    let other = guest();
    let quote = at.quote(&other, TONIGHT).await;
    let mut gate = gates.close("undo_no_show.after_claim");
    let overtaking = async {
        gate.reached().await;
        let held = at.hold_quote(&other, quote, fresh_key()).await;
        gate.open();
        held.expect("it is free").answer.id
    };
    let (undone, hold) = tokio::join!(step(&at, booked, Step::UndoNoShow), overtaking);
    assert!(!came(undone));
    release::run(&at.desk, &other, hold, fresh_key()).await.expect("released");

    let mut gate = gates.close("place_hold.after_claim");
    let overtaking = async {
        gate.reached().await;
        let undone = step(&at, booked, Step::UndoNoShow).await;
        gate.open();
        undone
    };
    let (held, undone) = tokio::join!(at.hold_quote(&other, quote, fresh_key()), overtaking);
    assert!(came(undone) && !has(held, TONIGHT.0));
    assert_eq!(at.counters(TONIGHT.0).await, (1, 0, 1));
    at.verify().await;
}
