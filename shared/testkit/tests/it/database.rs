use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use keyrack_testkit::TestDatabase;
use secrecy::ExposeSecret as _;
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

/// As a test runs: in a thread of its own, with a runtime of its own. What it answers has ended with it.
async fn in_a_test<T: Send + 'static, F: Future<Output = T>>(test: impl FnOnce() -> F + Send + 'static) -> T {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test())
    };
    tokio::task::spawn_blocking(|| std::thread::spawn(run).join().unwrap()).await.unwrap()
}

async fn is_there(judge: &TestDatabase, name: &str) -> bool {
    sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
        .bind(name)
        .fetch_one(&mut judge.connect().await)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_test_database_is_gone_after_its_test_even_with_sessions_in_it() {
    let judge = TestDatabase::new().await;
    let name = in_a_test(|| async {
        let gone = TestDatabase::new().await;
        let _session = gone.connect().await;
        gone.name().to_owned()
    });
    let name = name.await;
    assert!(!is_there(&judge, &name).await);
}

/// Its client has asked to come in, and is not driven any more: the server waits for its password.
#[tokio::test]
async fn a_session_that_is_only_just_signing_in_holds_up_no_test_that_has_ended() {
    let judge = TestDatabase::new().await;
    let name = in_a_test(|| async {
        let gone = TestDatabase::new().await;
        let name = gone.name().to_owned();
        let client = knock(&gone);
        let started = Instant::now();
        drop(gone);
        // The server would give such a session a minute.
        assert!(started.elapsed() < Duration::from_secs(30));
        drop(client);
        name
    });
    let name = name.await;
    assert!(!is_there(&judge, &name).await);
}

/// A client that has said who it is, and was asked for its password.
fn knock(database: &TestDatabase) -> TcpStream {
    let url = database.url();
    let (user, rest) = url.expose_secret().trim_start_matches("postgres://").split_once(':').unwrap();
    let address = rest.split_once('@').unwrap().1.split('/').next().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let said = format!("user\0{user}\0database\0{}\0\0", database.name());
    let length = u32::try_from(said.len() + 8).unwrap();
    // Version 3.0 of the protocol.
    let hello = [&length.to_be_bytes()[..], &0x0003_0000_u32.to_be_bytes(), said.as_bytes()].concat();
    client.write_all(&hello).unwrap();
    let mut kind = [0];
    client.read_exact(&mut kind).unwrap();
    assert_eq!(kind, *b"R", "a request to authenticate");
    client
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
