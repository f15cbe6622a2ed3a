//! Bodies that are no JSON, too much of it, or not what was asked for.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::world::{World, booking, fresh_key};

const LIMIT: usize = 256 * 1024;

/// Sends by hand, since a client would not let us, and reads until the server closes.
async fn raw(world: &World, token: &str, framing: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(world.address).await.expect("the API");
    let head = format!(
        "POST /v1/bookings HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
         idempotency-key: {}\r\ncontent-type: application/json\r\n{framing}\r\n\r\n",
        fresh_key()
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    stream.write_all(body).await.expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("an answer");
    String::from_utf8(answer).expect("text")
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut sent = Vec::new();
    for chunk in body.chunks(10_000) {
        sent.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        sent.extend_from_slice(chunk);
        sent.extend_from_slice(b"\r\n");
    }
    sent.extend_from_slice(b"0\r\n\r\n");
    sent
}

/// A booking of a hold that does not exist, so long.
fn padded(length: usize) -> Vec<u8> {
    let mut body = booking("hld_unknown", "pm_ok").to_string().into_bytes();
    body.resize(length, b' ');
    body
}

#[tokio::test]
async fn b133_a_body_of_the_limit_is_read_and_one_byte_more_is_413_in_both_encodings() {
    let world = World::new().await;
    let guest = world.guest().await;
    for (length, status) in [(LIMIT, "404"), (LIMIT + 1, "413"), (4 * LIMIT, "413")] {
        let body = padded(length);
        let declared = raw(&world, &guest.token, &format!("content-length: {length}"), &body).await;
        let streamed = raw(&world, &guest.token, "transfer-encoding: chunked", &chunked(&body)).await;
        for answer in [declared, streamed] {
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{length}: {answer}");
            assert!(answer.contains("application/problem+json"), "{answer}");
        }
    }
}

#[tokio::test]
async fn the_setting_of_the_largest_body_decides() {
    let world = World::with_bodies_up_to(1_000).await;
    let guest = world.guest().await;
    for (length, status) in [(1_000, "404"), (1_001, "413")] {
        let framing = format!("content-length: {length}");
        let answer = raw(&world, &guest.token, &framing, &padded(length)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{length}: {answer}");
        assert_eq!(answer.contains("\"limit_bytes\":1000"), status == "413", "{answer}");
    }
}

#[tokio::test]
async fn b133_a_huge_body_is_refused_by_its_announcement_and_a_packed_one_is_not_unpacked() {
    let world = World::new().await;
    let guest = world.guest().await;
    let answer = raw(&world, &guest.token, "content-length: 99999999999", b"{").await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let answer = raw(&world, &guest.token, "content-encoding: gzip\r\ncontent-length: 2", b"{}").await;
    assert!(answer.starts_with("HTTP/1.1 415 "), "{answer}");
}

#[tokio::test]
async fn what_is_not_json_is_malformed_and_what_is_not_said_to_be_json_is_not_read() {
    let world = World::new().await;
    let guest = world.guest().await;
    let call = || world.post("/v1/bookings").token(&guest.token).fresh_key();
    for body in ["", "{", "nonsense", "{\"hold_id\": }", "{} {}"] {
        let answer = call().text(body).send().await.expect_problem(400, "MALFORMED");
        // The same again would be refused again.
        assert_eq!(answer.at("/next/action"), "new_key");
    }
    let answer = call().send().await.expect_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    assert_eq!(answer.at("/next/action"), "new_key");
    call().header("content-type", "text/plain").send().await.expect_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    call().text(&deep).send().await.expect_invalid("", "TOO_DEEP");
}

#[tokio::test]
async fn unknown_fields_are_refused_by_name_at_any_depth() {
    let world = World::new().await;
    let guest = world.guest().await;
    let mut body = booking("hld_unknown", "pm_ok");
    body["principal"] = json!("prn_of_somebody_else");
    body["guest"]["vip"] = json!(true);
    let answer = world.post("/v1/bookings").token(&guest.token).fresh_key().json(&body).send().await;
    let answer = answer.expect_invalid("/principal", "UNKNOWN_FIELD");
    let answer = answer.expect_invalid("/guest/vip", "UNKNOWN_FIELD");
    assert_eq!(answer.at("/next/action"), "new_key");
}
