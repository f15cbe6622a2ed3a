//! Batches of a hotel's system against each other, against whoever wants the room, and against crashes.

use chrono::Days;
use futures::future::join_all;
use keyrack_booking::{Settings, place_hold::PlaceHoldError};
use keyrack_db::Points;
use keyrack_domain::{
    pms::{BatchOutcome, LineOutcome},
    restriction::Rule,
};
use keyrack_testkit::{Fault, Gates};

use crate::{
    desk_world::{DeskWorld, desk},
    disconnects::{COMMIT, through_a_proxy},
    pms_world::{Pms, absolute, change, delta, large_hotel, night, outcomes, ten_thousand, waiting},
    world::{HORIZON, day, fresh_key, guest},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-15");
const SEASON: (&str, &str) = ("2026-03-01", "2026-07-01");

/// A night that nobody has touched, with its morning.
fn fresh(round: u64) -> (String, String) {
    let night = day(SEASON.0) + Days::new(round);
    (night.to_string(), (night + Days::new(1)).to_string())
}

/// The second one waits, and is told what the first one did.
#[tokio::test]
async fn two_deliveries_of_a_sequence_at_once_are_applied_once() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let pms = Pms::of(&at).await;
    let batch = delta(1, vec![change(STAY.0, -2)]);
    let mut first = gates.close("pms_batch.before_commit");
    let mut second = gates.close_after("pms_batch.after_read", 1);
    let stepped = async {
        first.reached().await;
        second.reached().await;
        // It has read that nobody was here, and finds the connector taken.
        second.open();
        first.open();
    };
    let late = async {
        while !gates.passed().iter().any(|point| point == "pms_batch.before_commit") {
            tokio::task::yield_now().await;
        }
        pms.send(&at, batch.clone()).await
    };
    let (one, other, ()) = tokio::join!(pms.send(&at, batch.clone()), late, stepped);
    assert_eq!((one.replayed, other.replayed), (false, true));
    assert_eq!((one.batch == other.batch, at.counters(STAY.0).await.0), (true, 3));
    at.verify().await;
}

/// Stepped: the newer batch has read its night at the number that it wants, and then the older one changes that.
#[tokio::test]
async fn a_number_that_stood_before_an_older_batch_came_is_set_again() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let pms = Pms::of(&at).await;
    let stood = at.counters(STAY.0).await.0;
    let mut newer = gates.close("pms_batch.after_read");
    let older = async {
        newer.reached().await;
        pms.send(&at, absolute(1, vec![night(STAY.0, stood - 2)])).await;
        newer.open();
    };
    let (taken, ()) = tokio::join!(pms.send(&at, absolute(2, vec![night(STAY.0, stood)])), older);
    assert_eq!(taken.batch.outcome, BatchOutcome::Applied);
    assert_eq!((at.counters(STAY.0).await.0, pms.cursor(&at).await), (stood, 2));
    at.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_deliveries_at_once_leave_the_newest_and_apply_each_once() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    for round in 0..10 {
        let (low, high) = (2 * round + 1, 2 * round + 2);
        let absolutes = [low, high, high, low].map(|sequence| {
            let units = if sequence == low { 3 } else { 4 };
            pms.try_send(&at, absolute(sequence, vec![night(STAY.0, units)]))
        });
        let taken: Vec<_> =
            join_all(absolutes).await.into_iter().map(|taken| taken.expect("it is taken")).collect();
        assert_eq!(taken.iter().filter(|taken| !taken.replayed).count(), 2, "{round}");
        assert!(
            taken.iter().all(|t| t.batch.key.sequence == low || t.batch.outcome == BatchOutcome::Applied)
        );
        assert_eq!((at.counters(STAY.0).await.0, pms.cursor(&at).await), (4, high), "{round}");
    }
    at.verify().await;
}

/// Whoever is first is right: never fewer than what is committed, never more than there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reduction_and_holds_of_the_last_units_never_oversell() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    at.sellable(SEASON, 2).await;
    let (mut both_held, mut stopped) = (0, 0);
    for round in 0..60 {
        let (night_of, morning) = fresh(round);
        let guests = [guest(), guest()];
        let mut quotes = Vec::new();
        for guest in &guests {
            quotes.push(at.quote(guest, (&night_of, &morning)).await);
        }
        let holds = guests.iter().zip(quotes).map(|(guest, quote)| at.hold_quote(guest, quote, fresh_key()));
        let sequence = i64::try_from(round).expect("small") + 1;
        let reduce = pms.send(&at, absolute(sequence, vec![night(&night_of, 1)]));
        let (taken, held) = if round % 2 == 0 {
            tokio::join!(reduce, join_all(holds))
        } else {
            let (held, taken) = tokio::join!(join_all(holds), reduce);
            (taken, held)
        };
        let won = held.iter().filter(|held| held.is_ok()).count();
        for lost in held.into_iter().filter_map(Result::err) {
            let is_fair = match &lost {
                PlaceHoldError::SoldOut(_) => true,
                PlaceHoldError::Restricted(told) => told[0].rule == Rule::PmsConflict,
                _ => false,
            };
            assert!(is_fair, "{night_of}: {lost:?}");
        }
        let (sellable, units, _) = at.counters(&night_of).await;
        let conflict = outcomes(&taken) == [LineOutcome::Conflict];
        assert_eq!(units, i64::try_from(won).expect("small"), "{night_of}");
        assert_eq!((sellable, conflict), if won == 2 { (2, true) } else { (1, false) }, "{night_of}");
        both_held += i32::from(won == 2);
        stopped += i32::from(won < 2);
    }
    assert_eq!(both_held + stopped, 60);
    at.verify().await;
}

/// Stepped: the hold has the night when the batch wants it.
#[tokio::test]
async fn a_batch_behind_a_hold_counts_its_unit() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let pms = Pms::of(&at).await;
    let mut holding = gates.close("place_hold.before_commit");
    let mut reducing = gates.close("pms_batch.after_rows_locked");
    let buyer = guest();
    let reduce = async {
        holding.reached().await;
        let sending = pms.send(&at, absolute(1, vec![night(STAY.0, 0)]));
        let stepped = async {
            reducing.reached().await;
            reducing.open();
            holding.open();
        };
        tokio::join!(sending, stepped).0
    };
    let (held, taken) = tokio::join!(at.try_hold(&buyer, STAY), reduce);
    held.expect("it was first");
    assert_eq!((outcomes(&taken), at.counters(STAY.0).await), (vec![LineOutcome::Conflict], (5, 1, 0)));
    at.verify().await;
}

/// Stepped: the batch has the night when the hold wants it. The hold had read a night that was free.
#[tokio::test]
async fn a_hold_behind_a_batch_finds_the_night_closed() {
    for committed in [false, true] {
        let gates = Gates::new();
        let at = DeskWorld::with_points(gates.points()).await;
        let pms = Pms::of(&at).await;
        if committed {
            at.hold(&guest(), STAY).await;
        }
        let buyer = guest();
        let quote = at.quote(&buyer, STAY).await;
        let mut holding = gates.close("place_hold.after_rows_locked");
        let reduce = async {
            holding.reached().await;
            pms.send(&at, absolute(1, vec![night(STAY.0, 0)])).await;
            holding.open();
        };
        let (held, ()) = tokio::join!(at.hold_quote(&buyer, quote, fresh_key()), reduce);
        let refused = held.expect_err("the night is closed");
        // Without a unit that is committed the number itself is taken; with one, a conflict stops the night.
        let is_right = if committed {
            matches!(&refused, PlaceHoldError::Restricted(told) if told[0].rule == Rule::PmsConflict)
        } else {
            matches!(&refused, PlaceHoldError::SoldOut(_))
        };
        assert!(is_right, "{committed}: {refused:?}");
        at.verify().await;
    }
}

/// Ten thousand nights in one transaction: one of them in conflict; others, and those whose number it does not change,
/// are sold meanwhile.
#[tokio::test]
async fn a_batch_of_ten_thousand_nights_blocks_no_hold_of_another_night() {
    let gates = Gates::new();
    let at = large_hotel(gates.points()).await;
    let pms = Pms::of(&at).await;
    at.hold(&guest(), STAY).await;
    let mut batch = ten_thousand(1, 4);
    assert_eq!(batch.lines.len(), 10_000);
    for line in &mut batch.lines {
        if line.room_type == "RT-DLX" && line.night == Some(day(STAY.0)) {
            line.sellable = Some(0);
        }
        if line.room_type == "RT-DLX" && line.night == Some(day("2026-11-20")) {
            line.sellable = Some(5);
        }
    }
    let mut sending = gates.close("pms_batch.before_commit");
    let meanwhile = async {
        sending.reached().await;
        at.hold(&guest(), ("2026-11-20", "2026-11-21")).await;
        at.hold(&guest(), ("2027-06-20", "2027-06-22")).await;
        let blocked = at.try_hold(&guest(), ("2026-11-21", "2026-11-22")).await.expect_err("it is locked");
        assert!(matches!(blocked, PlaceHoldError::Fault(keyrack_booking::Fault::Busy { .. })), "{blocked:?}");
        sending.open();
    };
    let (taken, ()) = tokio::join!(pms.send(&at, batch.clone()), meanwhile);
    let verdicts = &taken.batch.verdicts;
    assert_eq!((verdicts.nights_changed, verdicts.conflicts.len()), (9_998, 1));
    assert_eq!((verdicts.count(LineOutcome::Applied), verdicts.count(LineOutcome::Conflict)), (9_998, 1));
    assert_eq!(waiting(&at).await[0].night, day(STAY.0));
    let kept = at.database().value("SELECT jsonb_array_length(verdicts -> 'runs') FROM pms_batches").await;
    assert_eq!(kept, 5, "runs of lines that are alike");
    let most =
        "SELECT max(jsonb_array_length(payload -> 'nights')) FROM outbox WHERE type = 'inventory.changed'";
    assert_eq!(at.database().value(most).await, 1_000);
    assert!(pms.send(&at, batch).await.replayed);
    at.verify().await;
}

/// A process that dies at any point of the transaction: whoever sends again finds it applied once.
#[tokio::test]
async fn b035_a_batch_that_dies_at_any_point_is_not_told_as_taken_and_is_applied_once() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    at.hold(&guest(), ("2026-11-20", "2026-11-21")).await;
    let points = [
        "after_read",
        "after_claim",
        "after_rows_locked",
        "after_nights_locked",
        "after_counters",
        "after_rows_written",
        "before_commit",
        "after_commit",
    ];
    for (sequence, point) in (1..).zip(points) {
        let dies = Points::hooked(move |transaction, step| {
            assert!((transaction, step) != ("pms_batch", point), "the process dies here");
            Box::pin(std::future::ready(()))
        });
        let dying =
            desk(&at.world, &at.simulator, &dies, Settings { horizon: HORIZON, ..Settings::default() });
        let units = 5 + sequence;
        let lines = vec![change(STAY.0, 1), change("2026-11-20", if sequence == 1 { -5 } else { 0 })];
        let batch = delta(sequence, lines);
        pms.send_to(&dying, &at, batch.clone()).await.expect_err("it died");
        let was_committed = point == "after_commit";
        assert_eq!(pms.cursor(&at).await, sequence - i64::from(!was_committed), "{point}");
        let taken = pms.send(&at, batch).await;
        assert_eq!(taken.replayed, was_committed, "{point}");
        assert_eq!(at.counters(STAY.0).await.0, units, "{point}");
        assert_eq!((waiting(&at).await.len(), taken.batch.verdicts.conflicts.len()), (1, 1), "{point}");
    }
    assert_eq!(at.count("pms_batches").await, 8);
    assert_eq!(at.count("audit WHERE action = 'pms.batch'").await, 8);
    at.verify().await;
}

/// The answer of its COMMIT is lost: its own try tells that it was applied, and a repeat is a repeat.
#[tokio::test]
async fn b050_a_batch_whose_commit_is_not_answered_is_applied_once_and_told_as_the_original() {
    let at = DeskWorld::new().await;
    let pms = Pms::of(&at).await;
    let (desk, proxy) = through_a_proxy(&at, Points::default()).await;
    let batch = delta(1, vec![change(STAY.0, -1)]);
    let fired = proxy.arm(Fault::LoseAnswer(COMMIT.to_vec()));
    let taken = pms.send_to(&desk, &at, batch.clone()).await.expect("the truth");
    fired.wait().await;
    assert_eq!((taken.replayed, at.counters(STAY.0).await.0), (false, 4));
    let again = pms.send(&at, batch).await;
    assert_eq!((again.replayed, again.batch == taken.batch), (true, true));
    at.verify().await;
}
