use futures::{FutureExt, poll};
use keyrack_db::{Database, DbError};
use keyrack_testkit::{Gates, TestDatabase};
use tokio::runtime::Handle;

async fn hotels(database: &TestDatabase) -> i64 {
    let mut connection = database.connect().await;
    sqlx::query_scalar("SELECT count(*) FROM directory.hotels").fetch_one(&mut connection).await.unwrap()
}

async fn add_a_hotel(database: Database) -> Result<(), DbError> {
    database
        .transaction("add_a_hotel", |connection| {
            async move {
                let insert = "INSERT INTO directory.hotels (code, shard_id) VALUES ('HTL-1', 1)";
                sqlx::raw_sql(insert).execute(connection).await?;
                Ok(())
            }
            .boxed()
        })
        .await
}

#[tokio::test]
async fn a_transaction_stands_at_a_closed_gate_until_it_is_opened() {
    let world = TestDatabase::new().await;
    let gates = Gates::new();
    let database = world.database().with_points(gates.points());
    let mut gate = gates.close("add_a_hotel.before_commit");
    let adding = Handle::current().spawn(add_a_hotel(database));
    gate.reached().await;
    assert_eq!(hotels(&world).await, 0);
    gate.open();
    adding.await.unwrap().unwrap();
    assert_eq!(hotels(&world).await, 1);
    assert!(gates.passed().contains(&"add_a_hotel.before_commit".to_owned()));
}

#[tokio::test]
async fn each_gate_catches_one_arrival_and_a_dropped_one_is_open() {
    let gates = Gates::new();
    let points = gates.points();
    let mut second = gates.close_after("t.step", 1);
    let third = gates.close("t.other");
    points.reach("t", "step").await;
    let mut arrival = Box::pin(points.reach("t", "step"));
    assert!(poll!(&mut arrival).is_pending());
    second.reached().await;
    second.open();
    arrival.await;
    points.reach("t", "step").await;
    drop(third);
    points.reach("t", "other").await;
    assert_eq!(gates.passed(), ["t.step", "t.step", "t.step", "t.other"]);
}
