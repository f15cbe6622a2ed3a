use std::time::Duration;

use futures::poll;
use keyrack_testkit::{ChaosProxy, Fault, TestDatabase};
use sqlx::{Connection, PgConnection};

struct Through {
    database: TestDatabase,
    proxy: ChaosProxy,
}

impl Through {
    async fn a_proxy() -> Self {
        let database = TestDatabase::new().await;
        let mut direct = database.connect().await;
        sqlx::raw_sql("CREATE TABLE notes (note text)").execute(&mut direct).await.unwrap();
        let proxy = ChaosProxy::before_database(&database.url()).await;
        Self { database, proxy }
    }

    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        use secrecy::ExposeSecret;
        PgConnection::connect(self.proxy.database_url(&self.database.url()).expose_secret()).await
    }

    /// Asked beside the proxy.
    async fn notes(&self) -> i64 {
        let mut direct = self.database.connect().await;
        sqlx::query_scalar("SELECT count(*) FROM notes").fetch_one(&mut direct).await.unwrap()
    }
}

async fn write(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::raw_sql("INSERT INTO notes VALUES ('here')").execute(&mut *transaction).await?;
    transaction.commit().await
}

#[tokio::test]
async fn without_a_fault_everything_passes() {
    let through = Through::a_proxy().await;
    write(&mut through.connect().await.unwrap()).await.unwrap();
    assert_eq!(through.notes().await, 1);
}

#[tokio::test]
async fn a_lost_request_never_arrives() {
    let through = Through::a_proxy().await;
    let mut connection = through.connect().await.unwrap();
    let lost = through.proxy.arm(Fault::lose_request("COMMIT"));
    write(&mut connection).await.unwrap_err();
    lost.wait().await;
    assert_eq!(through.notes().await, 0);
    write(&mut through.connect().await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_lost_answer_hides_what_was_done() {
    let through = Through::a_proxy().await;
    let mut connection = through.connect().await.unwrap();
    let lost = through.proxy.arm(Fault::lose_answer("COMMIT"));
    write(&mut connection).await.unwrap_err();
    lost.wait().await;
    assert_eq!(through.notes().await, 1);
}

#[tokio::test]
async fn an_answer_can_be_cut_in_its_middle() {
    let through = Through::a_proxy().await;
    let mut connection = through.connect().await.unwrap();
    let cut = through.proxy.arm(Fault::CutAnswerAfter(100));
    let long = sqlx::query_scalar::<_, String>("SELECT repeat('x', 1000)").fetch_one(&mut connection);
    long.await.unwrap_err();
    cut.wait().await;
}

#[tokio::test]
async fn a_cut_ends_the_connections_that_are_there_and_refusing_the_new_ones_too() {
    let through = Through::a_proxy().await;
    let mut first = through.connect().await.unwrap();
    assert_eq!(through.proxy.connections(), 1);
    through.proxy.cut();
    first.ping().await.unwrap_err();
    let mut second = through.connect().await.unwrap();
    second.ping().await.unwrap();
    through.proxy.refuse();
    second.ping().await.unwrap_err();
    assert!(through.connect().await.is_err());
    through.proxy.allow();
    through.connect().await.unwrap().ping().await.unwrap();
}

#[tokio::test]
async fn a_pause_holds_the_answer_until_it_is_resumed() {
    let through = Through::a_proxy().await;
    let mut connection = through.connect().await.unwrap();
    through.proxy.pause();
    let mut ping = std::pin::pin!(connection.ping());
    assert!(poll!(&mut ping).is_pending());
    // Longer than a round trip takes: the work for the database beside the proxy takes many.
    assert_eq!(through.notes().await, 0);
    assert!(poll!(&mut ping).is_pending());
    through.proxy.resume();
    ping.await.unwrap();
}

#[tokio::test]
async fn a_delay_makes_a_round_trip_last_at_least_twice_as_long() {
    let through = Through::a_proxy().await;
    let mut connection = through.connect().await.unwrap();
    let by = Duration::from_millis(40);
    through.proxy.delay(by);
    let started = std::time::Instant::now();
    connection.ping().await.unwrap();
    assert!(started.elapsed() >= 2 * by);
}
