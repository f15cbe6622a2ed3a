//! What one transaction for ten thousand nights is worth, measured against one for each night.

use std::time::Instant;

use keyrack_db::{DbError, Points};
use keyrack_domain::ids::RoomTypeId;
use keyrack_ledger::{NightDelta, NightKey};
use keyrack_store::nights;

use crate::{
    pms_world::{LARGE, Pms, large_hotel, ten_thousand},
    world::day,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: run it by its name, on a machine that does nothing else"]
async fn a_batch_of_ten_thousand_nights_against_one_update_each() {
    let at = large_hotel(Points::default()).await;
    let pms = Pms::of(&at).await;
    let hotel = pms.caller.hotel.expect("a hotel");
    let mut took = Vec::new();
    for sequence in 1..=3 {
        let batch = ten_thousand(sequence, 5 + sequence);
        let started = Instant::now();
        let taken = pms.send(&at, batch).await;
        took.push(started.elapsed());
        assert_eq!(taken.batch.verdicts.nights_changed, 10_000);
    }
    let batch = took.into_iter().min().expect("three");
    let one_more = NightDelta { sellable: 1, ..NightDelta::default() };
    let started = Instant::now();
    for room_type in (1..).map(RoomTypeId).take(LARGE.0) {
        for date in day("2026-02-01").iter_days().take(500) {
            let delta = [(NightKey { hotel, room_type, date }, one_more)];
            let updated: Result<(), DbError> = at
                .ledger()
                .database()
                .transaction("one_night", move |connection| {
                    Box::pin(async move { nights::apply(connection, &delta).await })
                })
                .await;
            updated.expect("updated");
        }
    }
    let singly = started.elapsed();
    let ratio = singly.as_secs_f64() / batch.as_secs_f64();
    println!(
        "10,000 nights in one batch: {batch:?}; one UPDATE and transaction each: {singly:?}; {ratio:.0} times"
    );
    assert!(ratio >= 20.0, "{ratio:.1} times");
}
