//! Callers that go away, connections that break: no transaction stays open, no connection is poisoned,
//! and the retry tells the truth.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use keyrack_booking::{Desk, Settings, place_hold};
use keyrack_db::{Limits, Points, Shards};
use keyrack_domain::{hold::HoldState, ids::ShardId};
use keyrack_payments::SimulatorProvider;
use keyrack_testkit::{ChaosProxy, Fault, Gates};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::{
    desk_world::{DeskWorld, desk},
    world::{HORIZON, fresh_key, guest, key},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

/// As it is sent; without its end it would be found in READ COMMITTED as well.
pub(crate) const COMMIT: &[u8] = b"COMMIT\0";

/// A desk whose database is reached through the proxy, with a pool of two.
pub(crate) async fn through_a_proxy(at: &DeskWorld, points: Points) -> (Desk, ChaosProxy) {
    let proxy = ChaosProxy::before_database(&at.database().url()).await;
    let limits = Limits { connections: 2, acquire_timeout: Duration::from_secs(20), ..Limits::default() };
    let shard = keyrack_db::Database::connect_lazily(
        &proxy.database_url(&at.database().url()),
        limits,
        Handle::current(),
    )
    .expect("the proxy's address");
    let directory = at.world.hotels.shards().directory().clone();
    let shards = Shards::new(directory, [(ShardId(1), shard.with_points(points))].into());
    let provider = SimulatorProvider::new(&at.simulator.base_url()).expect("the provider's address");
    let settings = Settings { horizon: HORIZON, ..Settings::default() };
    (Desk::new(shards, Arc::new(provider), settings, Handle::current(), TaskTracker::new()), proxy)
}

/// B111: the sqlx trap. Calls are dropped at every moment of their lives, on a slow database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b111_callers_that_go_away_leave_no_transaction_open_and_no_connection_poisoned() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 5_000).await;
    let (desk, proxy) = through_a_proxy(&at, Points::default()).await;
    proxy.delay(Duration::from_millis(3));
    for round in 0..20_u64 {
        let mut calls = Vec::new();
        for number in 0..20_u64 {
            let caller = guest();
            let quote = at.quote(&caller, STAY).await;
            let patience = Duration::from_millis((round * 20 + number) * 7 % 100);
            let desk = &desk;
            calls.push(async move {
                let request = place_hold::PlaceHold { quote, replaces: None, key: fresh_key() };
                let _gone = tokio::time::timeout(patience, place_hold::run(desk, &caller, request)).await;
            });
        }
        join_all(calls).await;
    }
    proxy.delay(Duration::ZERO);
    for _ in 0..100 {
        let caller = guest();
        let quote = at.quote(&caller, STAY).await;
        let request = place_hold::PlaceHold { quote, replaces: None, key: fresh_key() };
        place_hold::run(&desk, &caller, request).await.expect("a sound connection");
    }
    assert_eq!(at.database().idle_in_transaction().await, 0);
    let held = at.counters("2026-11-14").await.1;
    assert_eq!(held, at.count("holds WHERE state = 'ACTIVE'").await);
    at.verify().await;
}

/// B050: the answer of the COMMIT is lost. Whether it happened is found out by the key's own try, and
/// the caller never hears of it.
#[tokio::test]
async fn b050_a_commit_whose_answer_is_lost_is_answered_once_and_as_the_original() {
    let at = DeskWorld::new().await;
    let (desk, proxy) = through_a_proxy(&at, Points::default()).await;
    let caller = guest();
    let quote = at.quote(&caller, STAY).await;
    let fired = proxy.arm(Fault::LoseAnswer(COMMIT.to_vec()));
    let request = place_hold::PlaceHold { quote, replaces: None, key: key("K") };
    let held = place_hold::run(&desk, &caller, request.clone()).await.expect("the truth");
    fired.wait().await;
    assert!(!held.replayed, "it is the original");
    assert_eq!(at.counters("2026-11-14").await, (5, 1, 0));
    let again = place_hold::run(&desk, &caller, request).await.expect("the same answer");
    assert_eq!((again.answer, again.replayed), (held.answer, true));
    at.verify().await;
}

/// The same where the COMMIT itself is lost: nothing had happened, and the second try does it.
#[tokio::test]
async fn a_commit_that_never_arrives_is_made_again() {
    let at = DeskWorld::new().await;
    let (desk, proxy) = through_a_proxy(&at, Points::default()).await;
    let caller = guest();
    let quote = at.quote(&caller, STAY).await;
    let fired = proxy.arm(Fault::LoseRequest(COMMIT.to_vec()));
    let request = place_hold::PlaceHold { quote, replaces: None, key: key("K") };
    let held = place_hold::run(&desk, &caller, request).await.expect("the second try");
    fired.wait().await;
    assert_eq!((held.answer.state, held.replayed), (HoldState::Active, false));
    assert_eq!((at.counters("2026-11-14").await, at.count("holds").await), ((5, 1, 0), 1));
    at.verify().await;
}

/// B112: a caller that leaves between the capture and T3 still gets the room.
#[tokio::test]
async fn b112_a_guest_who_leaves_while_paying_still_gets_the_room() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let caller = guest();
    let hold = at.hold(&caller, STAY).await;
    let mut gate = gates.close("pay.after_provider");
    let mut paying = Box::pin(at.try_pay(&caller, hold.id, "pm_ok", key("K")));
    tokio::select! {
        _ = &mut paying => panic!("the gate is closed"),
        () = gate.reached() => {}
    }
    drop(paying);
    let mut done = gates.close("confirm.after_commit");
    gate.open();
    done.reached().await;
    done.open();
    let settled = at.try_pay(&caller, hold.id, "pm_ok", key("K")).await.expect("the original");
    assert!(matches!(settled.answer.standing, keyrack_booking::views::Standing::Confirmed(_)), "{settled:?}");
    assert_eq!(at.captures(), 1);
    at.verify().await;
}

/// A panic inside a transaction rolls it back and gives the connection up.
#[tokio::test]
async fn a_panic_inside_a_transaction_leaves_nothing_behind() {
    let at = DeskWorld::new().await;
    let caller = guest();
    let quote = at.quote(&caller, STAY).await;
    let broken = Points::hooked(|transaction, step| {
        assert!((transaction, step) != ("place_hold", "after_rows_written"), "a defect");
        Box::pin(std::future::ready(()))
    });
    let desk = desk(&at.world, &at.simulator, &broken, Settings { horizon: HORIZON, ..Settings::default() });
    let request = place_hold::PlaceHold { quote, replaces: None, key: key("K") };
    place_hold::run(&desk, &caller, request.clone()).await.expect_err("it panicked");
    assert_eq!(at.count("holds").await, 0);
    place_hold::run(&at.desk, &caller, request).await.expect("nothing stands in its way");
    assert_eq!(at.database().idle_in_transaction().await, 0);
    at.verify().await;
}
