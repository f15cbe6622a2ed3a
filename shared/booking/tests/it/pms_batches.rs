//! Batches of a hotel's own system: their turn, their lines, and what a repeat is told.

use keyrack_booking::{
    apply_pms_batch::{self, LineInput, PmsBatchError},
    forget_batches,
};
use keyrack_domain::{
    pms::{BatchOutcome, LineOutcome},
    principal::{Caller, Role},
};

use crate::{
    desk_world::DeskWorld,
    pms_world::{Pms, absolute, change, delta, full, night, of, outcomes, range, reasons, waiting},
    world::{caller, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-15");

fn codes(refused: PmsBatchError) -> Vec<(String, &'static str, String)> {
    let PmsBatchError::Invalid(faults) = refused else { panic!("{refused:?}") };
    faults.into_iter().map(|fault| (fault.pointer, fault.code, fault.detail.into_owned())).collect()
}

/// B122: below what is committed a night keeps its number and is sold no more; the rest of the batch is applied. A
/// repeat and a late one change nothing.
#[tokio::test]
async fn b122_a_night_below_what_is_committed_is_kept_and_the_rest_is_applied() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let holder = guest();
    at.hold(&holder, STAY).await;
    for _ in 0..3 {
        let booker = guest();
        let hold = at.hold(&booker, STAY).await;
        at.pay(&booker, hold.id, "pm_ok").await;
    }
    pms.send(&at, absolute(884, vec![night("2026-11-20", 5)])).await;
    let batch = absolute(885, vec![night("2026-11-14", 2), night("2026-11-15", 4)]);
    let taken = pms.send(&at, batch.clone()).await;
    assert_eq!(outcomes(&taken), [LineOutcome::Conflict, LineOutcome::Applied]);
    assert_eq!((taken.batch.outcome, taken.batch.verdicts.nights_changed), (BatchOutcome::Applied, 1));
    let (first, second) = (at.counters("2026-11-14").await, at.counters("2026-11-15").await);
    assert_eq!((first, second, pms.cursor(&at).await), ((5, 1, 3), (4, 0, 0), 885));
    let conflicts = waiting(&at).await;
    let told: Vec<_> = conflicts.iter().map(|c| (c.id, c.reported, c.held + c.confirmed)).collect();
    assert_eq!(told, [(taken.batch.verdicts.conflicts[0], 2, 4)]);
    let events = at.count("outbox WHERE type = 'inventory.changed'").await;

    let again = pms.send(&at, batch).await;
    assert!(again.replayed);
    assert_eq!(again.batch, taken.batch);
    let late = pms.send(&at, absolute(883, vec![night("2026-11-15", 1)])).await;
    assert_eq!(
        (late.batch.outcome, outcomes(&late)),
        (BatchOutcome::Superseded, vec![LineOutcome::Superseded])
    );
    assert_eq!((at.counters("2026-11-15").await, pms.cursor(&at).await), ((4, 0, 0), 885));
    assert_eq!(at.count("outbox WHERE type = 'inventory.changed'").await, events);
    at.verify().await;
}

/// B127: codes are compared as they are written. What the hotel does not have is told by its place and its name.
#[tokio::test]
async fn b127_unknown_codes_fail_their_lines_and_nothing_is_guessed() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let lines = vec![night("2026-11-14", 4), of("rt-dlx", "2026-11-15", 4), of("RT-XXX", "2026-11-16", 4)];
    let taken = pms.send(&at, absolute(1, lines)).await;
    assert_eq!(outcomes(&taken), [LineOutcome::Applied, LineOutcome::Invalid, LineOutcome::Invalid]);
    assert_eq!(reasons(&taken), [None, Some("UNKNOWN_ROOM_TYPE"), Some("UNKNOWN_ROOM_TYPE")]);
    let details: Vec<_> = taken
        .batch
        .verdicts
        .lines()
        .filter_map(|line| line.reason.as_ref())
        .map(|r| r.detail.clone())
        .collect();
    assert!(details[0].ends_with(" rt-dlx") && details[1].ends_with(" RT-XXX"), "{details:?}");
    assert_eq!((at.counters("2026-11-14").await.0, at.counters("2026-11-15").await.0), (4, 5));
    at.verify().await;
}

/// B128: of a stream of changes nothing is applied over a gap; of absolute numbers the newest one counts.
#[tokio::test]
async fn b128_a_gap_in_a_delta_stream_applies_nothing_until_it_is_closed() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    pms.send(&at, absolute(884, vec![night("2026-11-20", 5)])).await;
    let (fifth, sixth) =
        (delta(885, vec![change("2026-11-14", -2)]), delta(886, vec![change("2026-11-14", -1)]));
    for _ in 0..2 {
        let refused = pms.try_send(&at, sixth.clone()).await.expect_err("885 is missing");
        assert!(matches!(refused, PmsBatchError::Gap { expected: 885 }), "{refused:?}");
        assert_eq!((at.counters("2026-11-14").await.0, pms.cursor(&at).await), (5, 884));
    }
    assert_eq!(at.count("pms_batches").await, 1, "a gap leaves nothing behind");
    pms.send(&at, fifth).await;
    pms.send(&at, sixth.clone()).await;
    assert!(pms.send(&at, sixth).await.replayed);
    assert_eq!((at.counters("2026-11-14").await.0, pms.cursor(&at).await), (2, 886));

    let other = Pms::of(&at).await;
    other.send(&at, absolute(884, vec![night("2026-11-20", 5)])).await;
    other.send(&at, absolute(886, vec![night("2026-11-14", 3)])).await;
    let late = other.send(&at, absolute(885, vec![night("2026-11-14", 4)])).await;
    assert_eq!((late.batch.outcome, at.counters("2026-11-14").await.0), (BatchOutcome::Superseded, 3));
    at.verify().await;
}

/// B129: which of two numbers is meant would depend on their order: the whole batch is refused and names the night.
#[tokio::test]
async fn b129_a_night_named_twice_refuses_the_whole_batch() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let overlapping = vec![range("2026-11-14", "2026-11-16", 3), range("2026-11-16", "2026-11-18", 5)];
    let twice = codes(pms.try_send(&at, absolute(1, overlapping)).await.expect_err("ambiguous"));
    assert_eq!((twice[0].0.as_str(), twice[0].1), ("/nights/1", "DUPLICATE_NIGHT"));
    assert!(twice[0].2.starts_with("2026-11-16"), "{twice:?}");
    assert_eq!((at.counters("2026-11-14").await.0, pms.cursor(&at).await), (5, 0));
    assert_eq!((at.count("pms_batches").await, at.count("pms_cursors").await), (0, 0));
}

/// Each is told by its place, and none of them keeps the others from being applied.
#[tokio::test]
async fn lines_that_cannot_be_applied_are_told_and_the_cursor_goes_on() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let lines = vec![
        night("2026-01-09", 4),
        night("2030-01-01", 4),
        night("2026-11-14", 100_001),
        night("2026-11-15", -1),
        night("2026-11-16", i64::MAX),
        night("2026-11-17", 5),
        night("2026-11-18", 0),
    ];
    let taken = pms.send(&at, absolute(1, lines.clone())).await;
    let why = ["PAST_DATE", "OUT_OF_HORIZON", "OUT_OF_RANGE", "OUT_OF_RANGE", "OUT_OF_RANGE"].map(Some);
    assert_eq!(reasons(&taken), [&why[..], &[None, None]].concat());
    assert_eq!(outcomes(&taken)[5..], [LineOutcome::Unchanged, LineOutcome::Applied]);
    assert_eq!(at.counters("2026-11-18").await.0, 0);
    // All of them invalid: taken all the same, and told the same when it is sent again.
    let nothing = pms.send(&at, absolute(2, lines[..5].to_vec())).await;
    assert_eq!((nothing.batch.outcome, nothing.batch.verdicts.nights_changed), (BatchOutcome::Applied, 0));
    assert_eq!(
        (pms.cursor(&at).await, pms.send(&at, absolute(2, lines[..5].to_vec())).await.replayed),
        (2, true)
    );
    at.verify().await;
}

#[tokio::test]
async fn a_change_that_leaves_the_range_is_invalid_and_one_below_what_is_committed_a_conflict() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    at.hold(&guest(), STAY).await;
    let taken = pms
        .send(
            &at,
            delta(
                1,
                vec![
                    change("2026-11-14", -5),
                    change("2026-11-15", -6),
                    change("2026-11-16", 2),
                    change("2026-11-17", 0),
                ],
            ),
        )
        .await;
    assert_eq!(
        outcomes(&taken),
        [LineOutcome::Conflict, LineOutcome::Invalid, LineOutcome::Applied, LineOutcome::Unchanged]
    );
    // A change counts from what the hotel's system knows, though its number was not applied.
    assert_eq!(waiting(&at).await[0].reported, 0);
    pms.send(&at, delta(2, vec![change("2026-11-14", 3)])).await;
    assert_eq!((at.counters("2026-11-14").await, waiting(&at).await.len()), ((3, 1, 0), 0));
    assert_eq!(at.counters("2026-11-16").await.0, 7);
    at.verify().await;
}

#[tokio::test]
async fn a_full_batch_closes_every_night_of_its_window_that_it_does_not_name() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    at.hold(&guest(), ("2026-11-16", "2026-11-17")).await;
    let lines = vec![night("2026-11-14", 3), of("RT-XXX", "2026-11-15", 3), night("2026-11-20", 3)];
    let taken = pms.send(&at, full(1, ("2026-11-14", "2026-11-17"), lines)).await;
    assert_eq!(reasons(&taken), [None, Some("UNKNOWN_ROOM_TYPE"), Some("OUT_OF_WINDOW")]);
    let mut deluxe = Vec::new();
    for date in
        ["2026-11-13", "2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17", "2026-11-18", "2026-11-20"]
    {
        deluxe.push(at.counters(date).await.0);
    }
    // The night with a hold keeps its number and waits for somebody.
    assert_eq!(deluxe, [5, 3, 0, 5, 0, 5, 5]);
    assert_eq!(at.counters_of("RT-STD", "2026-11-14").await.0, 0);
    assert_eq!(waiting(&at).await.iter().map(|c| c.id).collect::<Vec<_>>(), taken.batch.verdicts.conflicts);
    // A night of an invalid line is left as it is, and a window that began in the past is no fault.
    let wrong = full(2, ("2026-01-01", "2026-11-13"), vec![night("2026-11-13", -1)]);
    pms.send(&at, wrong).await;
    assert_eq!((at.counters("2026-11-13").await.0, at.counters("2026-11-12").await.0), (5, 0));
    at.verify().await;
}

#[tokio::test]
async fn a_range_with_weekdays_is_one_line() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let weekend = LineInput {
        weekdays: Some(vec![chrono::Weekday::Sat, chrono::Weekday::Sun]),
        ..range("2026-11-09", "2026-11-22", 2)
    };
    let taken = pms.send(&at, absolute(1, vec![weekend])).await;
    assert_eq!((outcomes(&taken), taken.batch.verdicts.nights_changed), (vec![LineOutcome::Applied], 4));
    assert_eq!((at.counters("2026-11-13").await.0, at.counters("2026-11-14").await.0), (5, 2));
}

#[tokio::test]
async fn another_batch_of_the_same_sequence_is_refused_and_changes_nothing() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    pms.send(&at, absolute(7, vec![night("2026-11-14", 4)])).await;
    let refused =
        pms.try_send(&at, absolute(7, vec![night("2026-11-14", 3)])).await.expect_err("it was used");
    assert!(matches!(refused, PmsBatchError::SequenceReused), "{refused:?}");
    assert_eq!(at.counters("2026-11-14").await.0, 4);
}

/// Nobody but the hotel's own system sends; each connector has a cursor of its own; the staff reads.
#[tokio::test]
async fn b139_a_batch_is_its_hotels_systems_alone() {
    let at = DeskWorld::new().await;
    let (pms, other) = (Pms::of(&at).await, Pms::of(&at).await);
    let batch = absolute(1, vec![night("2026-11-14", 4)]);
    let elsewhere = keyrack_domain::ids::HotelId(999);
    let strangers = [
        Caller { hotel: Some(elsewhere), ..caller(Role::Pms) },
        Caller { hotel: pms.caller.hotel, ..caller(Role::Staff) },
        Caller { hotel: pms.caller.hotel, ..caller(Role::Channel) },
        at.world.operator.clone(),
        guest(),
    ];
    for stranger in strangers {
        let refused = apply_pms_batch::run(&at.desk, &stranger, &at.hotel, batch.clone()).await;
        assert!(matches!(refused, Err(PmsBatchError::NotFound)), "{:?}", stranger.role);
    }
    pms.send(&at, batch.clone()).await;
    assert!(!other.send(&at, batch).await.replayed, "another connector, another sequence");
    let read = async |caller: &Caller| apply_pms_batch::find(&at.desk, caller, &at.hotel, 1).await;
    assert_eq!(read(&pms.caller).await.expect("its own").key.connector, pms.caller.principal);
    assert_eq!(read(&at.world.operator).await.expect("the last").key.connector, other.caller.principal);
    assert!(matches!(read(&Pms::of(&at).await.caller).await, Err(PmsBatchError::NotFound)));
}

#[tokio::test]
async fn a_forgotten_batch_is_superseded_and_never_applied_again() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let batch = delta(1, vec![change("2026-11-14", -1)]);
    pms.send(&at, batch.clone()).await;
    at.advance(91 * 24 * 3600).await;
    let keep = std::time::Duration::from_hours(90 * 24);
    assert_eq!(forget_batches::run_once(at.ledger().database(), keep).await.expect("a run"), 1);
    assert_eq!(pms.send(&at, batch).await.batch.outcome, BatchOutcome::Superseded);
    assert_eq!(at.counters("2026-11-14").await.0, 4);
    at.verify().await;
}
