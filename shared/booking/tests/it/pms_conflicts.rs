//! A night that the hotel's own system reports below what is committed: it stops, and somebody or something ends that.

use keyrack_booking::{
    channel_booking::ChannelBookingError, place_hold::PlaceHoldError, pms_conflicts::ConflictError,
    quote::QuoteError, release, verify, views::HoldView,
};
use keyrack_domain::{
    pms::{ConflictState, Resolution},
    principal::Caller,
    restriction::Rule,
};

use crate::{
    channel_world::{Channel, delivered},
    desk_world::DeskWorld,
    pms_world::{Pms, absolute, night, resolve, waiting},
    world::{fresh_key, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-15");

/// So many holds on the night of five units, and then the hotel's system says `reported`.
async fn in_conflict(at: &DeskWorld, pms: &Pms, holds: usize, reported: i64) -> Vec<(Caller, HoldView)> {
    let mut held = Vec::new();
    for _ in 0..holds {
        let guest = guest();
        let hold = at.hold(&guest, STAY).await;
        held.push((guest, hold));
    }
    let taken = pms.send(at, absolute(1, vec![night(STAY.0, reported)])).await;
    assert_eq!(taken.batch.verdicts.conflicts.len(), 1);
    held
}

async fn state(at: &DeskWorld) -> String {
    let state =
        at.database().value("SELECT state FROM pms_conflicts ORDER BY conflict_id DESC LIMIT 1").await;
    state.as_str().expect("a state").to_owned()
}

async fn is_stopped(at: &DeskWorld) -> bool {
    match at.world.quote(&guest(), &at.hotel, STAY).await {
        Ok(_) => false,
        Err(QuoteError::Restricted(told)) => {
            assert_eq!(
                told.iter().map(|v| (v.night.to_string(), v.rule)).collect::<Vec<_>>(),
                [(STAY.0.to_owned(), Rule::PmsConflict)]
            );
            true
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// What is available, as the last event of the night and as the night itself tell it.
async fn available(at: &DeskWorld) -> i64 {
    let told = at
        .database()
        .value(&format!(
            "SELECT n.available FROM outbox o
             CROSS JOIN LATERAL jsonb_to_recordset(o.payload -> 'nights') AS n (night date, room_type_id int, available int)
             WHERE n.night = '{}' AND n.room_type_id = 1 ORDER BY o.seq DESC LIMIT 1",
            STAY.0
        ))
        .await;
    at.verify().await;
    told.as_i64().expect("a number")
}

#[tokio::test]
async fn a_night_in_conflict_is_sold_no_more_and_what_is_held_goes_on() {
    let at = DeskWorld::new().await;
    let (pms, channel) = (Pms::of(&at).await, Channel::of(&at).await);
    let late = guest();
    let quote = at.quote(&late, STAY).await;
    let held = in_conflict(&at, &pms, 4, 2).await;
    assert!(is_stopped(&at).await);
    let refused = at.hold_quote(&late, quote, fresh_key()).await.expect_err("it is stopped");
    let PlaceHoldError::Restricted(told) = refused else { panic!("{refused:?}") };
    assert_eq!((told.len(), told[0].rule), (1, Rule::PmsConflict));
    let refused = channel.try_put(&at, "X1", delivered(STAY)).await.expect_err("nothing is left");
    assert!(matches!(refused, ChannelBookingError::SoldOut { .. }), "{refused:?}");
    let (guest, hold) = &held[0];
    at.pay(guest, hold.id, "pm_ok").await;
    assert_eq!((at.counters(STAY.0).await, available(&at).await), ((5, 3, 1), 0));
}

#[tokio::test]
async fn what_is_committed_falls_to_the_reported_number_and_the_conflict_ends_by_itself() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let mut held = in_conflict(&at, &pms, 4, 2).await;
    let (guest, hold) = held.pop().expect("a hold");
    release::run(&at.desk, &guest, hold.id, fresh_key()).await.expect("released");
    assert!(is_stopped(&at).await);
    assert_eq!((at.counters(STAY.0).await, state(&at).await), ((5, 3, 0), "OPEN".to_owned()));
    let (guest, hold) = held.pop().expect("a hold");
    release::run(&at.desk, &guest, hold.id, fresh_key()).await.expect("released");
    assert_eq!((at.counters(STAY.0).await, state(&at).await), ((2, 2, 0), "SETTLED".to_owned()));
    assert!(!is_stopped(&at).await);
    assert_eq!((available(&at).await, waiting(&at).await.len()), (0, 0));
}

/// Several units come back in one transaction, and in a batch: it ends once.
#[tokio::test]
async fn an_expiry_of_all_holds_at_once_settles_the_night_once() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    in_conflict(&at, &pms, 5, 2).await;
    at.advance(601).await;
    assert_eq!(at.expire().await.expired, 5);
    assert_eq!((at.counters(STAY.0).await, state(&at).await), ((2, 0, 0), "SETTLED".to_owned()));
    assert_eq!(available(&at).await, 2);
}

#[tokio::test]
async fn accepting_makes_what_is_committed_the_number_that_can_be_sold() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let held = in_conflict(&at, &pms, 4, 2).await;
    let id = waiting(&at).await[0].id;
    let accepted = resolve(&at, id, Resolution::Accept).await.expect("accepted").answer;
    assert_eq!((accepted.state, at.counters(STAY.0).await), (ConflictState::Accepted, (4, 4, 0)));
    assert_eq!(available(&at).await, 0);
    let (guest, hold) = &held[0];
    release::run(&at.desk, guest, hold.id, fresh_key()).await.expect("released");
    assert!(!is_stopped(&at).await);
    assert_eq!(available(&at).await, 1, "selling goes on as units come back");
    let again = resolve(&at, id, Resolution::Override).await.expect_err("it has ended");
    assert!(matches!(again, ConflictError::Ended(ConflictState::Accepted)), "{again:?}");
}

#[tokio::test]
async fn overriding_keeps_the_number_that_was_there() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    in_conflict(&at, &pms, 4, 2).await;
    let id = waiting(&at).await[0].id;
    resolve(&at, id, Resolution::Override).await.expect("overridden");
    assert_eq!((at.counters(STAY.0).await, available(&at).await), ((5, 4, 0), 1));
    at.hold(&guest(), STAY).await;
    assert_eq!(available(&at).await, 0);
}

#[tokio::test]
async fn walking_leaves_the_night_stopped_until_enough_guests_are_rebooked() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let held = in_conflict(&at, &pms, 3, 2).await;
    let id = waiting(&at).await[0].id;
    assert_eq!(
        resolve(&at, id, Resolution::Walk).await.expect("it walks").answer.state,
        ConflictState::Walking
    );
    // The hotel's system says the same the next night: nobody has to decide twice.
    let same = pms.send(&at, absolute(2, vec![night(STAY.0, 2)])).await;
    assert_eq!((same.batch.verdicts.conflicts.clone(), state(&at).await), (vec![id], "WALKING".to_owned()));
    assert!(is_stopped(&at).await);
    let (guest, hold) = &held[0];
    release::run(&at.desk, guest, hold.id, fresh_key()).await.expect("released");
    assert_eq!((at.counters(STAY.0).await, state(&at).await), ((2, 2, 0), "SETTLED".to_owned()));
    assert!(!is_stopped(&at).await);
    at.verify().await;
}

#[tokio::test]
async fn a_later_batch_that_names_the_night_ends_the_conflict_or_begins_another() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    in_conflict(&at, &pms, 4, 2).await;
    let first = waiting(&at).await[0].id;
    let lower = pms.send(&at, absolute(2, vec![night(STAY.0, 1)])).await;
    assert_eq!((waiting(&at).await.len(), waiting(&at).await[0].reported), (1, 1));
    assert_ne!(lower.batch.verdicts.conflicts, [first]);
    pms.send(&at, absolute(3, vec![night(STAY.0, 5)])).await;
    assert_eq!((waiting(&at).await.len(), state(&at).await), (0, "REPLACED".to_owned()));
    assert!(!is_stopped(&at).await);
    assert_eq!((at.counters(STAY.0).await, available(&at).await), ((5, 4, 0), 1));
}

#[tokio::test]
async fn verify_misses_a_conflict_and_a_night_that_lost_each_other() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    in_conflict(&at, &pms, 4, 2).await;
    at.database().execute("UPDATE room_night_inventory SET reported = 1 WHERE reported = 2").await;
    at.database().execute("UPDATE pms_cursors SET sequence = 5").await;
    at.database().execute("UPDATE pms_batches SET sequence = 6").await;
    let report = verify::run(at.world.hotels.shards(), verify::Options::default()).await;
    assert_eq!(report.exit_code(), 1, "{report}");
    let told = report.to_string();
    assert!(told.contains("a night's reported number is that of the conflict that waits there"), "{told}");
    assert!(told.contains("a connector's cursor is at no lower sequence than its batches"), "{told}");
}
