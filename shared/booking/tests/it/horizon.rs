//! The rolling horizon, and the sandbox's clock that rolls it in tests.

use keyrack_booking::{
    roll_horizon::{self, Rolled},
    sandbox_clock::{self, Move, MoveError},
};
use keyrack_db::Database;
use keyrack_domain::ids::ShardId;

use crate::world::{HORIZON, World, at, hotel, htl_204};

fn shard(world: &World) -> &Database {
    world.hotels.shards().shard(ShardId(1)).expect("the first shard")
}

/// Room-nights, those that a run without gaps would have, and what stands at the ends.
async fn open(world: &World) -> serde_json::Value {
    let query = "SELECT count(*) AS nights, 2 * (max(stay_date) - min(stay_date) + 1) AS whole, max(stay_date) AS last
                 FROM room_night_inventory";
    world.database().rows(query).await.remove(0)
}

#[tokio::test]
async fn the_horizon_rolls_at_the_hotels_midnight_without_gap_or_double() {
    let world = World::new().await;
    world.create(htl_204(), "k1").await.expect("a hotel");
    assert_eq!(roll_horizon::run_once(shard(&world), HORIZON).await.expect("a round"), Rolled::default());
    // A second before midnight in Kolkata, then at midnight, then three weeks later without any round between.
    for (now, nights, last) in [
        ("2026-01-10T18:29:00Z", 0, "2027-07-05"),
        ("2026-01-10T18:30:00Z", 2, "2027-07-06"),
        ("2026-01-31T18:30:00Z", 42, "2027-07-27"),
    ] {
        world.clock(now).await;
        let rolled = roll_horizon::run_once(shard(&world), HORIZON).await.expect("a round");
        assert_eq!(rolled.nights, nights, "{now}");
        let open = open(&world).await;
        assert_eq!(open["nights"], open["whole"], "{now}");
        assert_eq!(open["last"], last, "{now}");
        assert_eq!(roll_horizon::run_once(shard(&world), HORIZON).await.expect("a round"), Rolled::default());
    }
}

#[tokio::test]
async fn nights_that_were_edited_keep_their_number_and_new_ones_have_the_units() {
    let world = World::new().await;
    world.create(htl_204(), "k1").await.expect("a hotel");
    world
        .database()
        .execute(
            "UPDATE room_night_inventory SET sellable = 2;
         INSERT INTO room_night_inventory (hotel_id, room_type_id, stay_date, sellable)
         SELECT hotel_id, 1, '2027-07-07', 9 FROM hotels",
        )
        .await;
    world.clock("2026-01-12T18:30:00Z").await;
    let rolled = roll_horizon::run_once(shard(&world), HORIZON).await.expect("a round");
    assert_eq!(rolled.nights, 5, "three nights of two types, of which one was there");
    let query = "SELECT array_agg(sellable ORDER BY room_type_id, stay_date) FROM room_night_inventory WHERE stay_date >= '2027-07-05'";
    assert_eq!(world.database().value(query).await, serde_json::json!([2, 5, 9, 5, 2, 5, 5, 5]));
}

#[tokio::test]
async fn several_workers_at_once_open_each_night_once() {
    let world = World::new().await;
    for code in ["HTL-1", "HTL-2", "HTL-3"] {
        world.create(hotel(code, "Europe/London", "GBP", Vec::new()), "k1").await.expect("a hotel");
    }
    world.clock("2026-01-20T00:00:00Z").await;
    let rounds = (0..4).map(|_| roll_horizon::run_once(shard(&world), HORIZON));
    let rounds: Vec<_> = futures::future::join_all(rounds).await;
    let opened: usize = rounds.into_iter().map(|rolled| rolled.expect("a round").nights).sum();
    assert_eq!(opened, 3 * 2 * 10);
    let told = "SELECT sum(jsonb_array_length(payload -> 'nights')) FROM outbox WHERE seq > 3";
    assert!(world.database().value(told).await.as_u64() >= Some(60), "every opened night is told");
}

#[tokio::test]
async fn the_sandbox_clock_goes_forward_only_and_on_every_shard_alike() {
    let world = World::with_shards(2).await;
    let shards = world.hotels.shards();
    let now =
        sandbox_clock::advance(shards, Move::By(std::time::Duration::from_secs(600))).await.expect("moved");
    assert!((now.0 - at("2026-01-10T06:10:00Z").0).num_seconds() < 60, "{now}");
    let back = sandbox_clock::advance(shards, Move::To(at("2026-01-10T06:00:00Z"))).await;
    assert!(matches!(back, Err(MoveError::Backwards { .. })), "{back:?}");
    let far = sandbox_clock::advance(shards, Move::By(std::time::Duration::MAX)).await;
    assert!(matches!(far, Err(MoveError::TooFar)), "{far:?}");
    let mut ahead = Vec::new();
    for database in &world.databases {
        ahead.push(database.value("SELECT ahead::text FROM sandbox_clock").await);
    }
    assert_eq!(ahead[0], ahead[1]);
}
