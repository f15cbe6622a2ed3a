//! `verify` on databases in which nothing is wrong, and on what it cannot ask.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use keyrack_booking::{
    release,
    verify::{self, Finding, Options, Standing},
};
use keyrack_db::{Database, DbError, Limits, Shards};
use keyrack_domain::ids::ShardId;
use keyrack_store::verify::Invariant;
use keyrack_testkit::TestDatabase;
use tokio::runtime::Handle;

use crate::{
    desk_world::DeskWorld,
    season::{Season, held, verified},
    world::{World, fresh_key, hotel, htl_204},
};

#[tokio::test]
async fn a_hotel_in_which_everything_has_happened_is_clean() {
    let season = Season::new().await;
    let states = "SELECT DISTINCT state FROM holds UNION SELECT state FROM payment_attempts
                  UNION SELECT state FROM refunds ORDER BY 1";
    let states: Vec<_> =
        season.at.database().rows(states).await.into_iter().map(|row| row["state"].clone()).collect();
    let all = [
        "ACTIVE",
        "CONFIRMED",
        "CONSUMED",
        "EXPIRED",
        "FAILED",
        "PAYMENT_CAPTURED_BOOKING_FAILED",
        "PENDING_PAYMENT",
        "REFUNDED",
        "RELEASED",
        "REQUESTED",
        "SUCCEEDED",
    ];
    assert_eq!(states, all);
    let report = season.verify().await;
    assert_eq!((report.violations(), report.exit_code()), (0, 0), "{report}");
    let expected = "not part of this release: invariant 5 (the projection equals the counters)\n\
                    hotels: 1; violations: 0; hotels not fully checked: 0";
    assert_eq!(report.to_string(), expected);
}

#[tokio::test]
async fn each_invariant_says_whether_it_was_checked() {
    let at = DeskWorld::new().await;
    let report = verified(&at).await;
    let Finding::Asked { standings, marked } = &report.hotels[0].finding else { panic!("{report}") };
    assert!(marked.is_empty());
    assert_eq!(
        standings.iter().map(|(invariant, _)| invariant.number()).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6]
    );
    for (invariant, standing) in standings {
        match invariant {
            Invariant::Projection => assert_eq!(*standing, Standing::NotInThisRelease),
            _ => assert!(matches!(standing, Standing::Checked(found) if found.total == 0), "{invariant}"),
        }
    }
}

#[tokio::test]
async fn a_hold_past_its_end_that_nobody_has_released_is_no_violation() {
    let at = DeskWorld::new().await;
    held(&at).await;
    at.advance(3600).await;
    let report = verified(&at).await;
    assert_eq!(report.exit_code(), 0, "{report}");
}

/// Guests hold, pay and give up all the while.
#[tokio::test(flavor = "multi_thread")]
async fn a_live_database_is_clean_at_every_instant() {
    let at = Arc::new(DeskWorld::new().await);
    let asked_enough = Arc::new(AtomicBool::new(false));
    let serve = |at: Arc<DeskWorld>, asked_enough: Arc<AtomicBool>| async move {
        let mut served = 0;
        while served == 0 || !asked_enough.load(Ordering::SeqCst) {
            let (guest, hold) = held(&at).await;
            at.pay(&guest, hold, "pm_declined").await;
            release::run(&at.desk, &guest, hold, fresh_key()).await.expect("released");
            served += 1;
        }
    };
    let guests = (0..3).map(|_| Handle::current().spawn(serve(Arc::clone(&at), Arc::clone(&asked_enough))));
    let guests: Vec<_> = guests.collect();
    for _ in 0..20 {
        let report = verified(&at).await;
        assert_eq!(report.exit_code(), 0, "{report}");
    }
    asked_enough.store(true, Ordering::SeqCst);
    for served in guests {
        served.await.expect("every guest was served");
    }
    assert_eq!(verified(&at).await.exit_code(), 0);
}

#[tokio::test]
async fn a_snapshot_sees_one_instant_and_may_not_write() {
    let at = DeskWorld::new().await;
    let shard = at.database().database();
    let beside = shard.clone();
    let seen: Result<bool, DbError> = shard
        .snapshot("test", Duration::from_secs(10), move |connection| {
            let beside = beside.clone();
            Box::pin(async move {
                let code = "HTL-9".parse().map_err(|e| DbError::unreadable("code", &e))?;
                let before = keyrack_store::directory::by_code(connection, &code).await?;
                let mut other = beside.connection().await?;
                keyrack_store::directory::enter(&mut other, &code, ShardId(1)).await?;
                let after = keyrack_store::directory::by_code(connection, &code).await?;
                Ok(before.is_none() && after.is_none())
            })
        })
        .await;
    assert!(seen.expect("two reads"));
    let refused: Result<_, DbError> = shard
        .snapshot("test", Duration::from_secs(10), move |connection| {
            Box::pin(async move {
                let code = "HTL-10".parse().map_err(|e| DbError::unreadable("code", &e))?;
                keyrack_store::directory::enter(connection, &code, ShardId(1)).await
            })
        })
        .await;
    assert!(matches!(refused, Err(DbError::Unavailable(_))), "{refused:?}");
    assert_eq!(at.database().idle_in_transaction().await, 0);
}

#[tokio::test]
async fn every_hotel_of_every_shard_is_asked_and_named() {
    let world = World::with_shards(2).await;
    world.open(htl_204(), "6500.00").await;
    world.open(hotel("HTL-311", "Europe/London", "GBP", Vec::new()), "120.00").await;
    world.databases[1]
        .execute("UPDATE room_night_inventory SET held = 1 WHERE stay_date = '2026-11-14'")
        .await;
    let report = verify::run(world.hotels.shards(), Options::default()).await;
    let told: Vec<_> = report.told().map(|(code, invariant, _)| (code.as_str(), invariant)).collect();
    assert_eq!(told, [("HTL-311", Invariant::Counters); 2]);
    assert_eq!((report.hotels.len(), report.exit_code()), (2, 1));
}

#[tokio::test]
async fn a_broken_hotel_still_gives_a_report_that_can_be_read() {
    let at = DeskWorld::new().await;
    at.database().execute("UPDATE room_night_inventory SET confirmed = 2 WHERE room_type_id = 1").await;
    let options = Options { shown: 2, ..Options::default() };
    let report = verify::run(at.world.hotels.shards(), options).await;
    assert_eq!((report.violations(), report.told().count()), (542, 2));
    assert!(report.to_string().contains("HTL-204, invariant 1: and 540 more\n"), "{report}");
}

#[tokio::test]
async fn what_cannot_be_asked_is_told_with_its_reason_and_is_not_called_clean() {
    let world = World::with_shards(2).await;
    world.open(htl_204(), "6500.00").await;
    world.open(hotel("HTL-311", "Europe/London", "GBP", Vec::new()), "120.00").await;
    let directory = world.database().database();
    let known = |second: Option<Database>| {
        let first = (ShardId(1), world.database().database());
        let shards = [first].into_iter().chain(second.map(|second| (ShardId(2), second)));
        Shards::new(directory.clone(), shards.collect::<BTreeMap<_, _>>())
    };

    let report = verify::run(&known(None), Options::default()).await;
    assert_eq!(report.exit_code(), 2);
    assert!(
        report.to_string().contains("HTL-311, invariant 1: not checked: shard 2 is not configured\n"),
        "{report}"
    );

    let report = verify::run(&known(Some(nowhere())), Options::default()).await;
    assert_eq!(report.exit_code(), 2);
    let told = report.to_string();
    assert!(told.contains("HTL-311, invariant 4: not checked: the database cannot be reached: "), "{told}");
    assert!(told.ends_with("hotels: 2; violations: 0; hotels not fully checked: 1"), "{told}");

    let report = verify::run(&Shards::new(nowhere(), BTreeMap::new()), Options::default()).await;
    assert_eq!(report.exit_code(), 2);
    assert!(report.to_string().starts_with("the directory could not tell the hotels: "), "{report}");
}

/// What was found is certain, so it is not hidden behind what was not.
#[tokio::test]
async fn violations_are_told_though_something_else_could_not_be_asked() {
    let season = Season::new().await;
    let database = season.at.database();
    database.execute("UPDATE room_night_inventory SET held = held + 1 WHERE stay_date = '2026-11-14'").await;
    database.execute("ALTER TABLE refunds RENAME TO lost").await;
    let report = season.verify().await;
    assert_eq!(report.exit_code(), 1);
    let told = report.to_string();
    assert!(told.contains("HTL-204, invariant 1: RT-DLX 2026-11-14: held is"), "{told}");
    assert!(told.contains("HTL-204, invariant 2: not checked: the database refused a statement: "), "{told}");
    assert!(told.contains("HTL-204, invariant 6: not checked: after an error of an earlier one: "), "{told}");
}

#[tokio::test]
async fn a_creation_that_has_not_ended_is_told_and_is_no_violation() {
    let world = World::new().await;
    world.database().execute("INSERT INTO directory.hotels (code, shard_id) VALUES ('HTL-7', 1)").await;
    let report = verify::run(world.hotels.shards(), Options::default()).await;
    assert_eq!(report.exit_code(), 0);
    assert!(
        report.to_string().starts_with("HTL-7: not on shard 1; its creation has not ended\n"),
        "{report}"
    );
}

fn nowhere() -> Database {
    let limits = Limits { acquire_timeout: Duration::from_millis(200), ..Limits::default() };
    let url = "postgres://nobody@127.0.0.1:1/nothing".to_owned().into();
    Database::connect_lazily(&url, limits, Handle::current()).expect("an address")
}

/// A test's database knows nothing of hotels until one is made.
#[tokio::test]
async fn an_empty_installation_is_clean() {
    let database = TestDatabase::new().await;
    let shard = database.database();
    let shards = Shards::new(shard.clone(), BTreeMap::from([(ShardId(1), shard)]));
    assert_eq!(verify::run(&shards, Options::default()).await.exit_code(), 0);
}
