//! That a broken lock order would be seen, with the settings under which everything here runs.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use keyrack_db::{Database, DbError};
use keyrack_domain::ids::RoomTypeId;
use keyrack_ledger::NightKey;
use keyrack_store::nights;
use keyrack_telemetry::Metrics;
use tokio::sync::Barrier;

use super::deadlocks;
use crate::{desk_world::DeskWorld, world::day};

/// Two transactions of the product's runner lock the same two nights, each in the other's order.
#[tokio::test]
async fn b109_a_wrong_order_is_told_as_a_deadlock_counted_and_cured_by_a_new_try() {
    let metrics = Metrics::install().expect("the recorder");
    let at = DeskWorld::new().await;
    let hotel = at.world.hotels.by_code(&at.hotel).await.expect("the hotel").id;
    let night = |date| NightKey { hotel, room_type: RoomTypeId(1), date: day(date) };
    let (a, b) = (night("2026-11-14"), night("2026-11-15"));
    let (one, other) = (at.database().database(), at.database().database());
    let both_have_one = Arc::new(Barrier::new(2));
    let (forth, back) = tokio::join!(
        lock_both(&one, (a, b), Arc::clone(&both_have_one)),
        lock_both(&other, (b, a), both_have_one)
    );
    assert_eq!((forth.ok(), back.ok()), (Some(()), Some(())), "the victim has run again");
    one.close().await;
    other.close().await;
    assert_eq!(deadlocks(&at).await, 1);
    let told = metrics.render();
    let counted = told.lines().find(|line| line.contains("wrong_order") && line.contains("\"deadlock\""));
    assert!(counted.is_some_and(|line| line.ends_with(" 1")), "{told}");
}

/// The first try waits until the other transaction has its first night, too.
async fn lock_both(
    database: &Database,
    (first, second): (NightKey, NightKey),
    both_have_one: Arc<Barrier>,
) -> Result<(), DbError> {
    let first_try = Arc::new(AtomicBool::new(true));
    database
        .transaction("wrong_order", move |connection| {
            let (first_try, both_have_one) = (Arc::clone(&first_try), Arc::clone(&both_have_one));
            Box::pin(async move {
                nights::lock(connection, [&first]).await?;
                if first_try.swap(false, Ordering::Relaxed) {
                    both_have_one.wait().await;
                }
                nights::lock(connection, [&second]).await.map(drop)
            })
        })
        .await
}
