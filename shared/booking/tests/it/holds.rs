//! T1 and the release, one at a time.

use std::time::Duration;

use keyrack_booking::{
    Answered, KeyRefusal,
    edit_inventory::{self, EditInventory, EditInventoryError, InventoryChange},
    night_range::NightRange,
    place_hold::{self, PlaceHold, PlaceHoldError},
    release::{self, ReleaseError},
};
use keyrack_domain::{hold::HoldState, ids::HoldId};
use uuid::Uuid;

use crate::{
    desk_world::DeskWorld,
    world::{day, fresh_key, guest, key, room},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

#[tokio::test]
async fn a_hold_claims_every_night_of_its_stay_at_the_quotes_price() {
    let at = DeskWorld::new().await;
    let hold = at.hold(&guest(), STAY).await;
    assert_eq!(hold.total.to_string(), "14560.00");
    assert_eq!(hold.state, HoldState::Active);
    assert_eq!(hold.created_at.until(hold.expires_at), Duration::from_secs(600));
    assert_eq!(at.counters("2026-11-14").await, (5, 1, 0));
    assert_eq!(at.counters("2026-11-15").await, (5, 1, 0));
    assert_eq!(at.counters("2026-11-16").await, (5, 0, 0), "the checkout date is no night");
    at.verify().await;
}

/// B010
#[tokio::test]
async fn b010_a_full_night_in_the_middle_is_named_and_nothing_is_held() {
    let at = DeskWorld::new().await;
    at.sellable(("2026-12-19", "2026-12-20"), 0).await;
    let refused = at.try_hold(&guest(), ("2026-12-17", "2026-12-21")).await.expect_err("a full night");
    let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{refused:?}") };
    assert_eq!(shortage.first.night, day("2026-12-19"));
    assert_eq!((shortage.first.requested, shortage.first.available), (1, 0));
    assert!(shortage.alternatives.iter().any(|other| other.room_type.as_str() == "RT-STD"));
    assert!(shortage.alternatives.iter().all(|other| other.available >= 1));
    for night in ["2026-12-17", "2026-12-18", "2026-12-20"] {
        assert_eq!(at.counters(night).await, (5, 0, 0), "{night}");
    }
    assert_eq!(at.count("holds").await + at.count("outbox WHERE type LIKE 'hold.%'").await, 0);
    at.hold(&guest(), ("2026-12-17", "2026-12-19")).await;
    at.verify().await;
}

/// B006
#[tokio::test]
async fn b006_two_rooms_of_one_type_count_together() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 1).await;
    let guest = guest();
    let mut high = room("RT-DLX", 2, &[]);
    high.note = Some("high floor".to_owned());
    let rooms = vec![high, room("RT-DLX", 2, &[])];
    let quote = at.quote_rooms(&guest, STAY, rooms).await;
    let refused = at.hold_quote(&guest, quote, fresh_key()).await.expect_err("one unit for two rooms");
    let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{refused:?}") };
    assert_eq!(shortage.first.night, day("2026-11-14"));
    assert_eq!(at.counters("2026-11-14").await, (1, 0, 0));
    at.sellable(STAY, 2).await;
    at.hold_quote(&guest, quote, fresh_key()).await.expect("two units for two rooms");
    assert_eq!(at.counters("2026-11-15").await, (2, 2, 0));
    at.verify().await;
}

#[tokio::test]
async fn a_night_without_a_row_is_not_for_sale() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let quote = at.quote(&guest, STAY).await;
    at.database().execute("DELETE FROM room_night_inventory WHERE stay_date = '2026-11-15'").await;
    let refused = at.hold_quote(&guest, quote, fresh_key()).await.expect_err("a night that is not open");
    let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{refused:?}") };
    assert_eq!((shortage.first.night, shortage.first.available), (day("2026-11-15"), 0));
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 0));
}

/// B048
#[tokio::test]
async fn b048_a_key_used_eight_times_at_once_makes_one_hold_and_one_answer() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let quote = at.quote(&guest, STAY).await;
    let calls = (0..8).map(|_| at.hold_quote(&guest, quote, key("K")));
    let answers: Vec<_> =
        futures::future::join_all(calls).await.into_iter().map(|answer| answer.expect("an answer")).collect();
    assert!(answers.iter().all(|other| other.answer == answers[0].answer));
    assert_eq!(answers.iter().filter(|answer| !answer.replayed).count(), 1);
    assert_eq!(at.counters("2026-11-14").await, (5, 1, 0));
    assert_eq!(
        (at.count("holds").await, at.count("idempotency_keys WHERE endpoint = 'POST /v1/holds'").await),
        (1, 1)
    );
    at.verify().await;
}

/// B043, B045, B047
#[tokio::test]
async fn b043_b045_b047_a_key_means_one_input_of_one_guest_and_a_refusal_leaves_none() {
    let at = DeskWorld::new().await;
    let (a, b) = (guest(), guest());
    let first = at.quote(&a, STAY).await;
    let other = at.quote(&a, ("2026-11-20", "2026-11-21")).await;
    let held = at.hold_quote(&a, first, key("abc")).await.expect("a hold").answer;
    let reused = at.hold_quote(&a, other, key("abc")).await.expect_err("other input");
    assert!(matches!(reused, PlaceHoldError::Key(KeyRefusal::Reused)), "{reused:?}");
    let foreign = at.hold_quote(&b, first, key("abc")).await.expect_err("another guest's quote");
    assert!(matches!(foreign, PlaceHoldError::QuoteNotFound), "{foreign:?}");
    let own = at.quote(&b, STAY).await;
    let second = at.hold_quote(&b, own, key("abc")).await.expect("a hold of their own");
    assert!(!second.replayed);
    assert_ne!(second.answer.id, held.id);
    assert_eq!(place_hold::find(&at.desk, &b, held.id).await.expect("a read"), None);
    let unknown = HoldId::new(held.id.hotel(), Uuid::new_v4());
    assert_eq!(place_hold::find(&at.desk, &a, unknown).await.expect("a read"), None);
    at.sellable(("2026-11-20", "2026-11-21"), 0).await;
    at.hold_quote(&a, other, key("later")).await.expect_err("sold out");
    at.sellable(("2026-11-20", "2026-11-21"), 1).await;
    let cured = at.hold_quote(&a, other, key("later")).await.expect("the retry is a new try");
    assert!(!cured.replayed);
    at.verify().await;
}

/// B089
#[tokio::test]
async fn b089_an_expired_quote_is_refused_and_one_at_its_last_instant_is_not() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let quote = at.quote(&guest, STAY).await;
    at.advance(590).await;
    at.hold_quote(&guest, quote, fresh_key()).await.expect("still promised");
    at.advance(11).await;
    let late = at.hold_quote(&guest, quote, fresh_key()).await.expect_err("past its end");
    assert!(matches!(late, PlaceHoldError::QuoteExpired(_)), "{late:?}");
}

/// B021
#[tokio::test]
async fn b021_a_guest_has_at_most_five_open_holds_at_a_hotel() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 20).await;
    let (p, q) = (guest(), guest());
    let quote = at.quote(&p, STAY).await;
    let mut last = key("none");
    for _ in 0..5 {
        last = fresh_key();
        at.hold_quote(&p, quote, last.clone()).await.expect("within the cap");
    }
    let sixth = at.hold_quote(&p, quote, fresh_key()).await.expect_err("the sixth");
    let PlaceHoldError::HoldLimit { limit: 5, retry_after } = sixth else { panic!("{sixth:?}") };
    assert!(retry_after <= Duration::from_secs(600));
    assert!(at.hold_quote(&p, quote, last).await.expect("a replay never counts").replayed);
    at.hold(&q, STAY).await;
    assert_eq!(at.counters("2026-11-14").await, (20, 6, 0));
    at.advance(601).await;
    at.hold(&p, STAY).await;
    at.verify().await;
}

/// B005
#[tokio::test]
async fn b005_whoever_meets_their_own_hold_is_told_so_and_may_swap_it() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 1).await;
    let (p, stranger) = (guest(), guest());
    let first = at.hold(&p, STAY).await;
    let refused = at.try_hold(&p, STAY).await.expect_err("their own hold is in the way");
    let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{refused:?}") };
    assert_eq!(shortage.own_hold, Some(first.id));
    let refused = at.try_hold(&stranger, STAY).await.expect_err("sold out");
    let PlaceHoldError::SoldOut(shortage) = refused else { panic!("{refused:?}") };
    assert_eq!(shortage.own_hold, None, "nobody else is told of it");
    let quote = at.quote(&p, STAY).await;
    let swap = PlaceHold { quote, replaces: Some(first.id), key: fresh_key() };
    let second = place_hold::run(&at.desk, &p, swap).await.expect("the swap").answer;
    let old = place_hold::find(&at.desk, &p, first.id).await.expect("a read").expect("the old hold");
    assert_eq!((old.state, second.state), (HoldState::Released, HoldState::Active));
    assert_eq!(at.counters("2026-11-14").await, (1, 1, 0));
    let quote = at.quote(&stranger, STAY).await;
    let theft = PlaceHold { quote, replaces: Some(second.id), key: fresh_key() };
    let theft = place_hold::run(&at.desk, &stranger, theft).await.expect_err("not theirs");
    assert!(matches!(theft, PlaceHoldError::ReplacedNotFound), "{theft:?}");
    at.verify().await;
}

/// B023
#[tokio::test]
async fn b023_a_release_gives_back_once_and_its_repeat_tells_the_same() {
    let at = DeskWorld::new().await;
    let (a, b) = (guest(), guest());
    let hold = at.hold(&a, STAY).await;
    let foreign = release::run(&at.desk, &b, hold.id, fresh_key()).await.expect_err("not theirs");
    assert!(matches!(foreign, ReleaseError::NotFound), "{foreign:?}");
    let released = release::run(&at.desk, &a, hold.id, key("R")).await.expect("released");
    assert_eq!((released.answer.state, released.replayed), (HoldState::Released, false));
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 0));
    let again: Answered<_> = release::run(&at.desk, &a, hold.id, key("R")).await.expect("the same answer");
    assert_eq!((again.answer, again.replayed), (released.answer.clone(), true));
    let fresh = release::run(&at.desk, &a, hold.id, fresh_key()).await.expect("the same state");
    assert_eq!(fresh.answer, released.answer);
    let lapsed = at.hold(&a, STAY).await;
    at.advance(601).await;
    assert_eq!(at.expire().await.expired, 1);
    let ended = release::run(&at.desk, &a, lapsed.id, fresh_key()).await.expect("its present state");
    assert_eq!(ended.answer.state, HoldState::Expired);
    assert_eq!(at.counters("2026-11-14").await, (5, 0, 0));
    at.verify().await;
}

/// B020
#[tokio::test]
async fn b020_two_hundred_abandoned_holds_come_back_once_each() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 200).await;
    for _ in 0..40 {
        let guest = guest();
        let quote = at.quote(&guest, STAY).await;
        for _ in 0..5 {
            at.hold_quote(&guest, quote, fresh_key()).await.expect("a hold");
        }
    }
    assert_eq!(at.counters("2026-11-14").await, (200, 200, 0));
    at.advance(900).await;
    let lag = keyrack_booking::expire::lag(at.ledger()).await.expect("the lag");
    assert!(lag >= Duration::from_secs(290), "{lag:?}");
    let (one, other) = tokio::join!(at.expire(), at.expire());
    let rest = at.expire().await;
    assert_eq!(one.expired + other.expired + rest.expired, 200);
    assert_eq!(at.counters("2026-11-14").await, (200, 0, 0));
    assert_eq!(at.count("outbox WHERE type = 'hold.expired'").await, 200);
    at.verify().await;
}

#[tokio::test]
async fn an_edit_below_what_is_committed_applies_nothing() {
    let at = DeskWorld::new().await;
    at.hold(&guest(), STAY).await;
    let change = |sellable| InventoryChange {
        room_type: "RT-DLX".parse().expect("a code"),
        nights: NightRange::new(day("2026-11-13"), day("2026-11-15"), None),
        sellable,
    };
    let edit = |sellable| EditInventory {
        hotel: at.hotel.clone(),
        changes: vec![change(sellable)],
        key: fresh_key(),
    };
    let refused =
        edit_inventory::run(&at.desk, &at.world.operator, edit(0)).await.expect_err("a unit is held");
    let EditInventoryError::BelowCommitted(nights) = refused else { panic!("{refused:?}") };
    assert_eq!(nights.iter().map(|n| n.night).collect::<Vec<_>>(), [day("2026-11-14"), day("2026-11-15")]);
    assert_eq!(at.counters("2026-11-13").await, (5, 0, 0), "nothing was applied");
    let done = edit_inventory::run(&at.desk, &at.world.operator, edit(1)).await.expect("it fits").answer;
    assert_eq!(done.nights.len(), 3);
    assert_eq!(at.counters("2026-11-14").await, (1, 1, 0));
    let stranger = edit_inventory::run(&at.desk, &guest(), edit(9)).await.expect_err("no staff");
    assert!(matches!(stranger, EditInventoryError::HotelNotFound), "{stranger:?}");
    at.verify().await;
}
