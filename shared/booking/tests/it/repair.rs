//! Setting counters to the facts.

use std::{collections::BTreeMap, time::Duration};

use keyrack_booking::repair::{self, Mode, Plan, RepairError};
use keyrack_db::{Limits, Shards};
use keyrack_domain::{actor::Actor, ids::ShardId};
use keyrack_testkit::Gates;
use serde_json::{Value, json};

use crate::{
    desk_world::DeskWorld,
    season::{held, verified},
    world::World,
};

const COUNTERS: &str = "SELECT held, confirmed FROM room_night_inventory
                        WHERE room_type_id = 1 AND stay_date IN ('2026-11-14', '2026-11-15') ORDER BY stay_date";

async fn repaired(at: &DeskWorld, mode: Mode) -> Plan {
    repair::run(at.world.hotels.shards(), &at.hotel, mode).await.expect("a plan")
}

fn apply(at: &DeskWorld) -> Mode {
    Mode::Apply(Actor::Caller(at.world.operator.clone()))
}

async fn counters(at: &DeskWorld) -> Vec<Value> {
    at.database().rows(COUNTERS).await
}

async fn units_held(at: &DeskWorld) -> Vec<Value> {
    counters(at).await.into_iter().map(|row| row["held"].clone()).collect()
}

#[tokio::test]
async fn b024_a_drifted_hold_is_never_clamped_and_expires_once_the_counters_are_repaired() {
    let at = DeskWorld::new().await;
    let (_, hold) = held(&at).await;
    at.database().execute("UPDATE room_night_inventory SET held = 0 WHERE stay_date = '2026-11-14'").await;
    at.advance(601).await;

    let ended = at.expire().await;
    assert_eq!((ended.expired, ended.drifted), (0, 1));
    assert_eq!(units_held(&at).await, [0, 1]);
    assert_eq!(at.database().value("SELECT state FROM holds").await, "ACTIVE");
    let report = verified(&at).await;
    assert_eq!(report.exit_code(), 1);
    let told = report.to_string();
    assert!(told.contains("RT-DLX 2026-11-14: held is"), "{told}");
    assert!(
        told.contains(&format!("HTL-204: {hold} is marked as drifted and stays ACTIVE until repaired\n"))
    );

    let shown = repaired(&at, Mode::Show).await;
    let expected =
        format!("RT-DLX 2026-11-14: held 0 becomes 1, confirmed 0 becomes 0\n{hold}: drift mark ends\n");
    assert_eq!(shown.to_string(), expected);
    assert_eq!(units_held(&at).await, [0, 1], "nothing is changed unless told to");
    assert_eq!(verified(&at).await, report);

    assert_eq!(repaired(&at, apply(&at)).await, shown);
    assert_eq!(units_held(&at).await, [1, 1]);
    let report = verified(&at).await;
    assert_eq!(report.exit_code(), 0, "{report}");
    assert_eq!(audit(&at, &hold.to_string()).await, [json!(true)]);
    let told = "SELECT type, payload FROM outbox ORDER BY seq DESC LIMIT 1";
    let night = json!({"room_type_id": 1, "night": "2026-11-14", "available": 4});
    let event = json!({"type": "inventory.changed", "payload": {"nights": [night]}});
    assert_eq!(at.database().rows(told).await, [event]);

    assert_eq!(at.expire().await.expired, 1);
    assert_eq!(units_held(&at).await, [0, 0]);
    assert_eq!(verified(&at).await.exit_code(), 0);
}

/// One row that tells who, what was, and what is.
async fn audit(at: &DeskWorld, hold: &str) -> Vec<Value> {
    let rows = at
        .database()
        .rows(
            "SELECT actor, principal_id, subject, before, after, request_id FROM audit
             WHERE action = 'inventory.repaired'",
        )
        .await;
    let night = |held| json!({"room_type_id": 1, "night": "2026-11-14", "held": held, "confirmed": 0});
    let expected = json!({
        "actor": "operator",
        "principal_id": at.world.operator.principal,
        "subject": "inventory",
        "before": {"nights": [night(0)], "drifted_holds": [hold]},
        "after": {"nights": [night(1)], "drifted_holds": []},
        "request_id": "req-1",
    });
    rows.into_iter().map(|row| if row == expected { json!(true) } else { row }).collect()
}

#[tokio::test]
async fn what_is_right_is_left_alone_and_leaves_no_trace() {
    let at = DeskWorld::new().await;
    held(&at).await;
    let trace = "SELECT (SELECT count(*) FROM audit) + (SELECT count(*) FROM outbox) AS n";
    let before = at.database().value(trace).await;
    let plan = repaired(&at, apply(&at)).await;
    assert!(!plan.changes_something() && !plan.leaves_something());
    assert_eq!(plan.to_string(), "the counters are the sums of their facts\n");
    assert_eq!(at.database().value(trace).await, before);
}

#[tokio::test]
async fn a_night_with_more_facts_than_it_can_sell_is_refused_and_the_others_are_set() {
    let at = DeskWorld::new().await;
    let (_, hold) = held(&at).await;
    at.database()
        .execute(
            "UPDATE room_night_inventory SET held = 0 WHERE room_type_id = 1;
             UPDATE room_night_inventory SET sellable = 0 WHERE room_type_id = 1 AND stay_date = '2026-11-14';
             UPDATE holds SET drift_at = now()",
        )
        .await;
    let plan = repaired(&at, apply(&at)).await;
    assert!(plan.changes_something() && plan.leaves_something());
    let expected = format!(
        "RT-DLX 2026-11-14: left as it is: 1 held and 0 confirmed of 0 sellable; raise what is sellable first\n\
         RT-DLX 2026-11-15: held 0 becomes 1, confirmed 0 becomes 0\n\
         {hold}: drift mark stays, since a night of it stays as it is\n"
    );
    assert_eq!(plan.to_string(), expected);
    assert_eq!(units_held(&at).await, [0, 1]);
    assert_eq!(at.database().value("SELECT drift_at IS NOT NULL FROM holds").await, true);
    // Once there is room, the rest follows.
    at.database().execute("UPDATE room_night_inventory SET sellable = 5 WHERE room_type_id = 1").await;
    repaired(&at, apply(&at)).await;
    assert_eq!(units_held(&at).await, [1, 1]);
    let report = verified(&at).await;
    assert_eq!((report.violations(), report.hotels[0].is_checked()), (0, true), "{report}");
}

#[tokio::test]
async fn counters_above_their_facts_come_down_too() {
    let at = DeskWorld::new().await;
    let (guest, hold) = held(&at).await;
    at.pay(&guest, hold, "pm_ok").await;
    at.database()
        .execute("UPDATE room_night_inventory SET held = 2, confirmed = 3 WHERE room_type_id = 1")
        .await;
    repaired(&at, apply(&at)).await;
    let booked_nights = [json!({"held": 0, "confirmed": 1}), json!({"held": 0, "confirmed": 1})];
    assert_eq!(counters(&at).await, booked_nights);
    let report = verified(&at).await;
    assert_eq!(report.exit_code(), 0, "{report}");
}

#[tokio::test]
async fn an_unknown_hotel_is_not_repaired() {
    let world = World::new().await;
    let nowhere = "HTL-9".parse().expect("a code");
    let refused = repair::run(world.hotels.shards(), &nowhere, Mode::Show).await;
    assert!(matches!(refused, Err(RepairError::HotelNotFound)), "{refused:?}");
}

/// The hold is committed after the repair has looked and before it has the lock.
#[tokio::test]
async fn a_hold_placed_meanwhile_is_counted_once() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    held(&at).await;
    at.database().execute("UPDATE room_night_inventory SET held = 0 WHERE room_type_id = 1").await;
    let mut gate = gates.close("place_hold.before_commit");
    let shards = patient(&at);
    let (_, plan) = tokio::join!(held(&at), async {
        gate.reached().await;
        // The hold has the nights' locks; the repair must wait for them.
        let opened = async {
            somebody_waits(&at).await;
            gate.open();
        };
        tokio::join!(repair::run(&shards, &at.hotel, apply(&at)), opened).0.expect("a plan")
    });
    assert_eq!(plan.differences.len(), 2, "{plan}");
    assert_eq!(units_held(&at).await, [2, 2]);
    let report = verified(&at).await;
    assert_eq!(report.exit_code(), 0, "{report}");
}

/// The other way round: the hold waits for the repair, and adds to what it has set.
#[tokio::test]
async fn a_hold_that_waits_for_the_repair_adds_to_it() {
    let gates = Gates::new();
    let at = DeskWorld::new().await;
    held(&at).await;
    at.database().execute("UPDATE room_night_inventory SET held = 0 WHERE room_type_id = 1").await;
    let mut gate = gates.close("repair.before_commit");
    let shard = at.database().database().with_points(gates.points());
    let shards = Shards::new(shard.clone(), BTreeMap::from([(ShardId(1), shard)]));
    let (repaired, ()) = tokio::join!(repair::run(&shards, &at.hotel, apply(&at)), async {
        gate.reached().await;
        let opened = async {
            somebody_waits(&at).await;
            gate.open();
        };
        tokio::join!(held(&at), opened);
    });
    repaired.expect("a plan");
    assert_eq!(units_held(&at).await, [2, 2]);
    let report = verified(&at).await;
    assert_eq!(report.exit_code(), 0, "{report}");
}

/// For a lock that a test holds longer than traffic would.
fn patient(at: &DeskWorld) -> Shards {
    let limits = Limits {
        lock_timeout: Duration::from_secs(30),
        statement_timeout: Duration::from_secs(30),
        ..Limits::default()
    };
    let shard = at.database().database_with(limits);
    Shards::new(shard.clone(), BTreeMap::from([(ShardId(1), shard)]))
}

async fn somebody_waits(at: &DeskWorld) {
    while at.database().value("SELECT count(*) FROM pg_locks WHERE NOT granted").await == 0 {}
}
