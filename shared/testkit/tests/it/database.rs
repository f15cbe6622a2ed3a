use keyrack_testkit::TestDatabase;
use sqlx::Connection;

#[tokio::test]
async fn every_test_has_a_migrated_database_of_its_own() {
    let (one, other) = tokio::join!(TestDatabase::new(), TestDatabase::new());
    assert_ne!(one.name(), other.name());
    for database in [&one, &other] {
        let mut connection = database.connect().await;
        let hotels: i64 = sqlx::query_scalar("SELECT count(*) FROM directory.hotels")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(hotels, 0);
        database.database().ping().await.unwrap();
    }
}

#[tokio::test]
async fn a_test_database_is_gone_after_its_test_even_with_sessions_in_it() {
    let judge = TestDatabase::new().await;
    let gone = TestDatabase::new().await;
    let name = gone.name().to_owned();
    let _session = gone.connect().await;
    drop(gone);
    let mut connection = judge.connect().await;
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_database WHERE datname = $1")
        .bind(&name)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_transaction_that_nobody_drives_is_seen() {
    let database = TestDatabase::new().await;
    assert_eq!(database.idle_in_transaction().await, 0);
    let mut session = database.connect().await;
    let transaction = session.begin().await.unwrap();
    assert_eq!(database.idle_in_transaction().await, 1);
    transaction.rollback().await.unwrap();
    assert_eq!(database.idle_in_transaction().await, 0);
}
