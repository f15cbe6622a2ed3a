use std::time::Duration;

use futures::future::join_all;
use keyrack_payment_simulator::Settings;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::world::{World, assert_refused, assert_state};

fn never() -> Duration {
    Duration::from_secs(3600)
}

/// Until that many calls have arrived and nothing has come of them.
async fn until_waiting(world: &World, reference: &str, calls: u32) -> Value {
    let path = format!("/simulator/charges/{reference}?wait_for=WAITING&calls={calls}");
    world.get(&path).await.expect("an answer").1
}

#[tokio::test]
async fn b053_the_capture_happened_and_its_answer_never_arrives() {
    let world = World::start();
    assert_state(world.authorize("a", "pm_lost_response").await, "AUTHORIZED");
    for _ in 0..3 {
        assert_eq!(world.capture("a").await, None);
    }
    assert_state(world.look_up("a-capture").await, "CAPTURED");
    assert_eq!(world.captures("a").await, 1);
    assert_eq!(world.charge("a-capture").await["calls"], 3);
}

/// On a socket of our own, since a client library could hide a late answer.
#[tokio::test]
async fn not_one_byte_of_a_lost_answer_is_sent() {
    let world = World::start();
    world.authorize("a", "pm_lost_response").await;
    let body = crate::world::capture_body("a").to_string();
    let request = format!(
        "PUT /v1/captures/a-capture HTTP/1.1\r\nhost: simulator\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut socket = TcpStream::connect(world.running.address()).await.expect("connects");
    socket.write_all(request.as_bytes()).await.expect("sends");
    let mut heard = Vec::new();
    // A reset is an end too.
    let _ = socket.read_to_end(&mut heard).await;
    assert_eq!(heard, b"");
    assert_eq!(world.captures("a").await, 1);
}

#[tokio::test]
async fn a_timeout_leaves_nothing_and_the_connection_ends_after_a_bounded_silence() {
    let settings = Settings { silence: Duration::from_millis(50), ..Settings::default() };
    let world = World::start_with(settings);
    for _ in 0..2 {
        assert_eq!(world.authorize("a", "pm_timeout").await, None);
    }
    assert_refused(world.look_up("a-auth").await, 404, "nothing");
    let charge = world.charge("a-auth").await;
    assert_eq!((&charge["state"], &charge["calls"]), (&json!("WAITING"), &json!(2)));
}

#[tokio::test]
async fn a_released_timeout_authorizes_once_and_answers_everyone_who_still_listens() {
    let world = World::start();
    let calls = join_all((0..3).map(|_| world.authorize("a", "pm_timeout")));
    let release = async {
        until_waiting(&world, "a-auth", 3).await;
        world.post("/simulator/release", &json!({"reference": "a-auth"})).await
    };
    let (heard, released) = futures::join!(calls, release);
    assert_state(released, "AUTHORIZED");
    for answer in heard {
        assert_state(answer, "AUTHORIZED");
    }
    assert_state(world.capture("a").await, "CAPTURED");
}

#[tokio::test]
async fn b055_retries_of_a_slow_capture_are_one_charge() {
    let world = World::start_with(Settings { slow_capture: never(), ..Settings::default() });
    world.authorize("a", "pm_slow").await;
    for calls in 1..=3 {
        // The client gives up as soon as its call has arrived.
        tokio::select! {
            heard = world.capture("a") => panic!("nothing was released: {heard:?}"),
            _ = until_waiting(&world, "a-capture", calls) => {}
        }
    }
    assert_refused(world.look_up("a-capture").await, 404, "nothing");
    assert_eq!(world.captures("a").await, 0);
    let reference = json!({"reference": "a-capture"});
    let release = async {
        until_waiting(&world, "a-capture", 4).await;
        world.post("/simulator/release", &reference).await
    };
    let (heard, released) = futures::join!(world.capture("a"), release);
    assert_state(heard, "CAPTURED");
    assert_state(released, "CAPTURED");
    assert_eq!(world.captures("a").await, 1);
    assert_refused(world.post("/simulator/release", &reference).await, 409, "not_waiting");
}

#[tokio::test]
async fn a_slow_capture_happens_although_its_client_has_hung_up() {
    let world =
        World::start_with(Settings { slow_capture: Duration::from_millis(300), ..Settings::default() });
    world.authorize("a", "pm_slow").await;
    tokio::select! {
        biased;
        _ = world.capture("a") => {}
        _ = until_waiting(&world, "a-capture", 1) => {}
    }
    assert_state(world.get("/simulator/charges/a-capture?wait_for=CAPTURED").await, "CAPTURED");
    assert_state(world.look_up("a-auth").await, "CAPTURED");
}

#[tokio::test]
async fn clients_that_hang_up_in_the_middle_leave_whole_calls() {
    let world = World::start();
    let request = |name: usize, cut: usize| {
        let body = r#"{"amount":5,"currency":"INR","method":"pm_ok"}"#;
        let head = format!(
            "PUT /v1/authorizations/n{name}-auth HTTP/1.1\r\nhost: s\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        let whole = head + body;
        let cut = cut.min(whole.len());
        whole.as_bytes()[..cut].to_vec()
    };
    for name in 0..60 {
        let mut socket = TcpStream::connect(world.running.address()).await.expect("connects");
        socket.write_all(&request(name, 10 + name * 4)).await.expect("sends");
        // Dropped without reading: with unread data or not, the simulator sees a client vanish.
    }
    for name in 0..60 {
        let name = format!("n{name}");
        let body = json!({"amount": 5, "currency": "INR", "method": "pm_ok"});
        assert_state(world.put(&format!("/v1/authorizations/{name}-auth"), &body).await, "AUTHORIZED");
    }
}
