//! Two ledgers with pools of their own, as two processes have, and random batches of every kind over the
//! same nights, keys and holds.

mod driver;
mod wrong_order;

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use keyrack_domain::{
    ids::{AttemptId, HoldId, ReservationId},
    money::Money,
    principal::Caller,
};
use keyrack_ledger::{Ledger, Settings};

use self::driver::Driver;
use crate::{channel_world::Channel, desk_world::DeskWorld, world::guest};

const NIGHTS: (&str, &str) = ("2026-11-14", "2026-11-20");

/// A batch waits two seconds for keys and half of one for a lock; as much again is the machine's.
const WORST: Duration = Duration::from_secs(5);

/// What the drivers share, so that one gives back, pays for, replaces and expires what the other holds.
pub(crate) struct Shared {
    at: DeskWorld,
    guests: Vec<Caller>,
    channel: Channel,
    held: Mutex<Vec<Held>>,
    reserved: Mutex<Vec<ReservationId>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Held {
    who: usize,
    hold: HoldId,
    total: Money,
    attempt: Option<AttemptId>,
}

/// Half a minute here; ten minutes with `KEYRACK_TEST_LONG=1`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b109_two_processes_with_random_batches_meet_no_deadlock_no_drift_and_no_stall() {
    let at = DeskWorld::new().await;
    at.price_standard(NIGHTS).await;
    at.sellable(NIGHTS, 12).await;
    at.sellable_of("RT-STD", NIGHTS, 8).await;
    told_at_once(&at).await;
    let lasts = match std::env::var_os("KEYRACK_TEST_LONG") {
        Some(_) => Duration::from_mins(10),
        None => Duration::from_secs(30),
    };
    let ledgers = [1, 2].map(|_| Ledger::new(at.database().database(), Settings::default()));
    let guests = (0..6).map(|_| guest()).collect();
    let channel = Channel::of(&at).await;
    let shared = Shared { at, guests, channel, held: Mutex::default(), reserved: Mutex::default() };
    let until = Instant::now() + lasts;
    let drivers = ledgers.iter().zip(1..).map(|(ledger, seed)| Driver::new(&shared, ledger, seed).run(until));
    let seen = futures::future::join_all(drivers).await;
    for ledger in &ledgers {
        ledger.database().close().await;
    }
    assert_eq!(deadlocks(&shared.at).await, 0);
    for seen in seen {
        assert!(seen.worst < WORST, "a batch took {:?}", seen.worst);
        // A run in which a kind never succeeded has proved nothing about it.
        assert!(seen.did.iter().all(|(_, count)| *count > 0), "{:?}", seen.did);
    }
    shared.at.verify().await;
}

/// A cycle is looked for long before a lock time-out could hide it. For sessions that begin after this.
async fn told_at_once(at: &DeskWorld) {
    let name = at.database().name();
    at.database().execute(&format!("ALTER DATABASE \"{name}\" SET deadlock_timeout = '20ms'")).await;
}

/// Of this database, by sessions that have ended: a session tells when it ends.
async fn deadlocks(at: &DeskWorld) -> i64 {
    let told = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    at.database().value(told).await.as_i64().expect("a count")
}
