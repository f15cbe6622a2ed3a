//! A transaction that somebody forgot keeps every dead row alive. What it costs is bounded.

use keyrack_db::DbError;
use keyrack_domain::ids::{HotelId, RoomTypeId};
use keyrack_store::nights::{self, NightDelta, NightKey};
use keyrack_testkit::TestDatabase;

use crate::configuration::database;

const SOLD: i32 = 200;

#[tokio::test]
async fn b115_an_old_snapshot_does_not_stop_two_hundred_sales_of_a_night_nor_grow_its_index() {
    let database = database().await;
    // As a hotel has them: this night is one of many on its page.
    database
        .execute(
            "INSERT INTO room_night_inventory (hotel_id, room_type_id, stay_date, sellable)
             SELECT 1, 1, date '2026-11-01' + n, 1000 FROM generate_series(0, 364) n",
        )
        .await;
    let mut forgotten = database.connect().await;
    database
        .execute_on(
            &mut forgotten,
            "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM room_night_inventory",
        )
        .await;
    let product = database.database();
    for _ in 0..SOLD {
        product.transaction("sell", |connection| Box::pin(sell(connection))).await.expect("a sale");
    }
    // A session tells what it did when it ends.
    product.close().await;
    let seen = database
        .rows_on(&mut forgotten, "SELECT held::text FROM room_night_inventory WHERE stay_date = '2026-11-14'")
        .await;
    assert_eq!(seen, ["0"], "the old snapshot is still there");
    let counters =
        database.value("SELECT held FROM room_night_inventory WHERE stay_date = '2026-11-14'").await;
    assert_eq!(counters, SOLD);
    within_bounds(&database).await;
}

async fn sell(connection: &mut keyrack_db::PgConnection) -> Result<(), DbError> {
    let date = "2026-11-14".parse().expect("a date");
    let night = NightKey { hotel: HotelId(1), room_type: RoomTypeId(1), date };
    nights::lock(connection, [&night]).await?;
    nights::apply(connection, &[(night, NightDelta { held: 1, ..NightDelta::default() })]).await
}

/// A version that finds room in its page costs no entry of the index (HOT). Without the old snapshot the
/// pages are cleaned as they fill; with it a version goes to a new page now and then, and only then.
async fn within_bounds(database: &TestDatabase) {
    let told = database
        .value(
            "SELECT json_build_array(n_tup_upd, n_tup_hot_upd) FROM pg_stat_user_tables
             WHERE relname = 'room_night_inventory'",
        )
        .await;
    let count = |place: usize| told[place].as_i64().expect("a count");
    let (updates, hot) = (count(0), count(1));
    assert_eq!(updates, i64::from(SOLD));
    assert!(updates - hot <= 10, "{hot} of {updates} updates were HOT");
}
