//! Crowds, and guests that leave in the middle.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use chrono::NaiveDate;
use futures::future::join_all;
use keyrack_testkit::Gates;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    answer::Answer,
    world::{Guest, STAY, World, booking, fresh_key},
};

const ROUNDS: usize = 10;
const CROWD: usize = 20;

/// One guest's call for one night, repeated as long as the night is too busy.
async fn claim(world: &World, guest: &Guest, quote: &str) -> (Answer, u32) {
    let (key, mut busy) = (fresh_key(), 0);
    loop {
        let call = world.post("/v1/holds").token(&guest.token).key(&key);
        let answer = call.json(&json!({"quote_id": quote})).send().await;
        if answer.status != 503 {
            return (answer, busy);
        }
        answer.expect_problem(503, "HOT_NIGHT_BUSY");
        busy += 1;
    }
}

async fn round(world: &World, guests: &[Guest], night: NaiveDate) -> BTreeMap<u16, u32> {
    let (first, next) = (night.to_string(), night.succ_opt().expect("a date").to_string());
    let stay = (first.as_str(), next.as_str());
    world.sellable(stay, 1).await;
    let mut quotes = Vec::new();
    for guest in guests {
        quotes.push(world.quote(guest, stay, 1).await);
    }
    let calls = guests.iter().zip(&quotes).map(|(guest, quote)| claim(world, guest, quote));
    let mut statuses = BTreeMap::new();
    for (answer, busy) in join_all(calls).await {
        *statuses.entry(answer.status).or_insert(0) += 1;
        *statuses.entry(503).or_insert(0) += busy;
        if answer.status == 409 {
            assert_eq!(answer.expect_problem(409, "ROOM_NIGHT_UNAVAILABLE").text_at("/night"), first);
        }
    }
    statuses
}

/// Reads the nights until it is told to stop; says how often it did.
async fn sample(world: &World, nights: &[NaiveDate], done: &AtomicBool) -> usize {
    let (first, last) = (nights[0], nights[nights.len() - 1]);
    let path = format!("/v1/hotels/HTL-204/inventory?room_type=RT-DLX&first_night={first}&last_night={last}");
    let mut samples = 0;
    while !done.load(Ordering::Acquire) {
        let seen = world.get(&path).token(&world.operator).send().await.expect(200);
        let items = seen.at("/items").as_array().expect("items");
        assert_eq!(items.len(), nights.len());
        for item in items {
            let count = |name: &str| item[name].as_i64().expect("a number");
            assert!(count("held") + count("confirmed") <= count("sellable"), "{item}");
        }
        samples += 1;
    }
    samples
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b001_twenty_guests_want_the_last_unit_and_one_gets_it() {
    let world = World::new().await;
    let start: NaiveDate = STAY.0.parse().expect("a date");
    let nights: Vec<NaiveDate> = start.iter_days().take(ROUNDS).collect();
    let done = AtomicBool::new(false);
    let rounds = async {
        for night in &nights {
            let crowd: Vec<Guest> = join_all((0..CROWD).map(|_| world.guest())).await;
            let mut statuses = round(&world, &crowd, *night).await;
            statuses.remove(&503);
            assert_eq!(statuses, BTreeMap::from([(201, 1), (409, 19)]), "{night}");
        }
        done.store(true, Ordering::Release);
    };
    let ((), samples) = tokio::join!(rounds, sample(&world, &nights, &done));
    assert!(samples > ROUNDS, "{samples} samples");
    let held = "SELECT count(*) FROM room_night_inventory WHERE held = 1 AND confirmed = 0 AND sellable = 1";
    assert_eq!(world.database.value(held).await, json!(ROUNDS));
}

/// Sends a call whole and keeps the connection, on which the answer would come.
async fn sent(world: &World, guest: &Guest, path: &str, key: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nidempotency-key: {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        guest.token,
        body.len()
    );
    let mut stream = TcpStream::connect(world.address).await.expect("the API");
    stream.write_all((head + &body).as_bytes()).await.expect("sent");
    stream
}

/// Each of its threads takes every second connection, and looks at the old ones before it answers.
async fn the_server_has_noticed(world: &World) {
    for _ in 0..4 {
        let mut stream = TcpStream::connect(world.address).await.expect("the API");
        let request = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.expect("sent");
        stream.read_to_end(&mut Vec::new()).await.expect("an answer");
    }
}

/// The guest leaves at that point; returns when `end` has been reached without anybody waiting for it.
async fn leaves_at(
    (gates, world, guest): (&Gates, &World, &Guest),
    (point, end): (&str, &str),
    (path, body): (&str, &Value),
) {
    let (mut gate, mut last) = (gates.close(point), gates.close(end));
    let stream = sent(world, guest, path, "k", body).await;
    gate.reached().await;
    // A reset, as of a machine that has gone: an ordinary close would let the server finish first.
    stream.set_zero_linger().expect("a socket");
    drop(stream);
    the_server_has_noticed(world).await;
    gate.open();
    last.reached().await;
    last.open();
}

#[tokio::test]
async fn b112_a_guest_that_leaves_in_the_middle_of_a_hold_finds_it_with_the_same_key() {
    for point in ["place_hold.after_read", "place_hold.after_counters", "place_hold.before_commit"] {
        let gates = Gates::new();
        let world = World::gated(&gates).await;
        let guest = world.guest().await;
        let body = json!({"quote_id": world.quote(&guest, STAY, 1).await});
        let call = ("/v1/holds", &body);
        leaves_at((&gates, &world, &guest), (point, "place_hold.after_commit"), call).await;
        let again = world.post("/v1/holds").token(&guest.token).key("k").json(&body).send().await.expect(201);
        assert!(again.is_replay(), "{point}");
        assert_eq!(world.database.value("SELECT count(*) FROM holds").await, json!(1), "{point}");
        assert_eq!(world.database.idle_in_transaction().await, 0, "{point}");
    }
}

#[tokio::test]
async fn b112_a_guest_that_leaves_in_the_middle_of_a_payment_finds_the_reservation() {
    let points =
        ["start_attempt.before_commit", "pay.before_provider", "pay.after_provider", "confirm.before_commit"];
    for point in points {
        let gates = Gates::new();
        let world = World::gated(&gates).await;
        let guest = world.guest().await;
        let hold = world.hold(&guest, STAY).await.expect(201).text_at("/id");
        let body = booking(&hold, "pm_ok");
        let call = ("/v1/bookings", &body);
        leaves_at((&gates, &world, &guest), (point, "confirm.after_commit"), call).await;
        let again =
            world.post("/v1/bookings").token(&guest.token).key("k").json(&body).send().await.expect(201);
        assert!(again.is_replay() && again.at("/status") == "CONFIRMED", "{point}");
        assert_eq!(world.charges(), 2, "{point}: one authorization and one capture");
        assert_eq!(world.database.idle_in_transaction().await, 0, "{point}");
    }
}
