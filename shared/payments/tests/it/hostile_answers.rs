//! Only the provider's own words about our call are definite. Here a socket says something else.

use std::time::Duration;

use keyrack_domain::{
    ids::{AttemptId, HotelId},
    method_token::MethodToken,
    money::Money,
};
use keyrack_payments::{
    Authorization, Capture, Deadline, Doubt, LookUp, PaymentProvider, Reference, Refund, RefundTry,
    Settlement, SettlementFrom, SimulatorProvider, Void,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use uuid::Uuid;

const AUTH: &str = "att_000000cc00000000000000000000000000000007-auth";

pub(crate) fn price_and_method() -> (Money, MethodToken) {
    let amount = Money::parse("14560.00", "INR".parse().expect("a currency")).expect("money");
    (amount, "pm_ok".parse().expect("a token"))
}

fn attempt() -> AttemptId {
    AttemptId::new(HotelId(204), Uuid::from_u128(7))
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// A socket that calls itself a provider.
async fn listening() -> (TcpListener, SimulatorProvider) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let provider = SimulatorProvider::new(&format!("http://{address}")).expect("an address");
    (listener, provider)
}

/// Reads each request to its end, says this, and closes.
async fn provider_that_says(answer: Vec<u8>) -> (SimulatorProvider, impl Future<Output = ()>) {
    let (listener, provider) = listening().await;
    let serve = async move {
        loop {
            let (mut socket, _) = a_whole_request(&listener).await;
            let _ = socket.write_all(&answer).await;
            let _ = socket.shutdown().await;
        }
    };
    (provider, serve)
}

/// A client that is answered before it has asked takes that for an error of its own.
pub(crate) async fn a_whole_request(listener: &TcpListener) -> (TcpStream, Vec<u8>) {
    let (mut socket, _) = listener.accept().await.expect("a call");
    let (mut request, mut chunk) = (Vec::new(), [0; 1024]);
    while !is_whole(&request) {
        match socket.read(&mut chunk).await {
            Ok(read) if read > 0 => request.extend_from_slice(&chunk[..read]),
            _ => break,
        }
    }
    (socket, request)
}

/// Head, and as much of a body as it announces.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

pub(crate) fn http(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn said(reference: &str, state: &str, amount: &str, currency: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"reference":"{reference}","state":"{state}","amount":{amount},"currency":"{currency}","refunded":0}}"#
    );
    http("200 OK", &body)
}

/// An authorization that waits for its customer.
fn asked(amount: &str, kind: &str, url: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"reference":"{AUTH}","state":"ACTION_REQUIRED","amount":{amount},"currency":"INR","refunded":0,"next_action":{{"type":"{kind}","url":"{url}"}}}}"#
    );
    http("200 OK", &body)
}

/// A page of the books with one line.
fn booked(line: &str) -> Vec<u8> {
    http("200 OK", &format!(r#"{{"items":[{line}],"more":false}}"#))
}

fn complained(status: &str, code: &str, reference: &str) -> Vec<u8> {
    http(status, &format!(r#"{{"error":{{"code":"{code}","reference":"{reference}"}}}}"#))
}

/// Answers to an authorization that must leave it unknown.
fn vague_answers() -> Vec<Vec<u8>> {
    let endless = format!(
        "{}{}",
        "HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n{\"reference\":\"",
        "x".repeat(99_999)
    );
    vec![
        Vec::new(),
        b"HTTP/1.1 200 OK\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"reference\":".to_vec(),
        b"SSH-2.0-OpenSSH\r\n".to_vec(),
        endless.into_bytes(),
        http("200 OK", ""),
        http("200 OK", "<html>welcome</html>"),
        http("204 No Content", ""),
        http("202 Accepted", &format!(r#"{{"reference":"{AUTH}","state":"AUTHORIZED"}}"#)),
        said("att_other-auth", "AUTHORIZED", "1456000", "INR"),
        said(AUTH, "CAPTURED", "1456000", "INR"),
        said(AUTH, "NEW_STATE", "1456000", "INR"),
        said(AUTH, "ACTION_REQUIRED", "1456000", "INR"),
        asked("1456000", "redirect", "javascript:alert(1)"),
        asked("1456000", "redirect", ""),
        asked("1456000", "call", "http://127.0.0.1:1/page"),
        asked("1456001", "redirect", "http://127.0.0.1:1/page"),
        said(AUTH, "AUTHORIZED", "1456001", "INR"),
        said(AUTH, "AUTHORIZED", "1456000", "JPY"),
        said(AUTH, "AUTHORIZED", "1456000.0", "INR"),
        said(AUTH, "AUTHORIZED", "\"1456000\"", "INR"),
        said(AUTH, "AUTHORIZED", "null", "INR"),
        b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
            .to_vec(),
        http("400 Bad Request", ""),
        http("403 Forbidden", "<html>proxy</html>"),
        http("404 Not Found", r#"{"error":"no such page"}"#),
        complained("404 Not Found", "nothing", AUTH),
        complained("402 Payment Required", "declined", "att_other-auth"),
        complained("402 Payment Required", "maybe", AUTH),
        complained("409 Conflict", "declined", AUTH),
        complained("408 Request Timeout", "declined", AUTH),
        complained("429 Too Many Requests", "slow_down", AUTH),
        complained("500 Internal Server Error", "declined", AUTH),
        complained("503 Service Unavailable", "unknown_method", AUTH),
    ]
}

#[tokio::test]
async fn what_is_not_the_providers_word_about_our_call_leaves_it_unknown() {
    let (amount, method) = price_and_method();
    for answer in vague_answers() {
        let shown = String::from_utf8_lossy(&answer[..answer.len().min(200)]).into_owned();
        let (provider, serve) = provider_that_says(answer).await;
        tokio::select! {
            () = serve => {}
            outcome = provider.authorize(attempt(), amount, &method, soon()) => {
                assert!(matches!(outcome, Authorization::Unknown(_)), "{shown:?}: {outcome:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_providers_word_is_definite() {
    let (amount, method) = price_and_method();
    for (answer, declined) in [
        (said(AUTH, "AUTHORIZED", "1456000", "INR"), false),
        (complained("402 Payment Required", "declined", AUTH), true),
    ] {
        let (provider, serve) = provider_that_says(answer).await;
        tokio::select! {
            () = serve => {}
            outcome = provider.authorize(attempt(), amount, &method, soon()) => match outcome {
                Authorization::Authorized => assert!(!declined),
                Authorization::Declined(reason) => assert!(declined && reason.as_str() == "declined"),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_cut_connection_leaves_every_kind_of_call_unknown() {
    let (amount, _) = price_and_method();
    let (provider, serve) = provider_that_says(Vec::new()).await;
    let calls = async {
        let capture = provider.capture(attempt(), amount, soon()).await;
        assert!(matches!(capture, Capture::Unknown(Doubt::ConnectionLost(_))), "{capture:?}");
        let void = provider.void(attempt(), soon()).await;
        assert!(matches!(void, Void::Unknown(Doubt::ConnectionLost(_))), "{void:?}");
        let refund = RefundTry { attempt: attempt(), number: 1, try_number: 1 };
        let refund = provider.refund(refund, amount, soon()).await;
        assert!(matches!(refund, Refund::Unknown(Doubt::ConnectionLost(_))), "{refund:?}");
        let look_up = provider.look_up(Reference::Capture(attempt()), soon()).await;
        assert!(matches!(look_up, LookUp::Unknown(Doubt::ConnectionLost(_))), "{look_up:?}");
    };
    tokio::select! {
        () = serve => {}
        () = calls => {}
    }
}

/// A 404 of whoever listens there must not read as `Nothing`: a booking would fail for it.
#[tokio::test]
async fn a_look_up_believes_no_stranger_that_there_is_nothing() {
    for answer in [
        http("404 Not Found", ""),
        http("404 Not Found", r#"{"error":{"code":"no_such_path","reference":null}}"#),
        complained("404 Not Found", "no_such_path", AUTH),
        complained("404 Not Found", "nothing", "att_other-auth"),
        complained("410 Gone", "nothing", AUTH),
        complained("402 Payment Required", "declined", AUTH),
        said(AUTH, "CAPTURED", "18446744073709551615", "INR"),
        said(AUTH, "CAPTURED", "1456000", "XXX"),
        said(AUTH, "AUTHORIZED", "null", "INR"),
    ] {
        let shown = String::from_utf8_lossy(&answer).into_owned();
        let (provider, serve) = provider_that_says(answer).await;
        tokio::select! {
            () = serve => {}
            found = provider.look_up(Reference::Authorization(attempt()), soon()) => {
                assert!(matches!(found, LookUp::Unknown(_)), "{shown:?}: {found:?}");
            }
        }
    }
}

/// A page that cannot be read as a whole is none: half of it would count as compared.
#[tokio::test]
async fn books_that_cannot_be_read_as_a_whole_are_unknown() {
    let line = |amount: &str, currency: &str, at: &str| {
        let reference = "att_000000cc00000000000000000000000000000007-capture";
        format!(
            r#"{{"cursor":1,"kind":"capture","reference":"{reference}","of":null,"by_hand":false,"amount":{amount},"currency":"{currency}","refunded":0,"at":"{at}"}}"#
        )
    };
    let good = line("1456000", "INR", "2026-01-10T06:00:00Z");
    for (answer, lines) in [
        (booked(&good), Some(1)),
        (booked(""), Some(0)),
        (booked(&line("1456000.0", "INR", "2026-01-10T06:00:00Z")), None),
        (booked(&line("1456000", "XXX", "2026-01-10T06:00:00Z")), None),
        (booked(&line("18446744073709551615", "INR", "2026-01-10T06:00:00Z")), None),
        (booked(&line("1456000", "INR", "yesterday")), None),
        (booked(&good.replace("\"capture\"", "\"chargeback\"")), None),
        (booked(&format!("{good},{{}}")), None),
        (http("200 OK", "[]"), None),
        (http("404 Not Found", ""), None),
        (Vec::new(), None),
    ] {
        let shown = String::from_utf8_lossy(&answer).into_owned();
        let (provider, serve) = provider_that_says(answer).await;
        let from = SettlementFrom::Instant(chrono::DateTime::UNIX_EPOCH);
        tokio::select! {
            () = serve => {}
            books = provider.settlement(&from, 10, soon()) => {
                let read = match &books {
                    Settlement::Page(page) => Some(page.lines.len()),
                    Settlement::Unknown(_) => None,
                };
                assert_eq!(read, lines, "{shown:?}: {books:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_trickles_past_the_deadline_is_none() {
    let (listener, provider) = listening().await;
    let (amount, _) = price_and_method();
    let serve = async {
        let (mut socket, _) = a_whole_request(&listener).await;
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{";
        socket.write_all(head).await.expect("sends");
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = serve => {}
        outcome = provider.capture(attempt(), amount, Deadline::after(Duration::from_millis(300))) => {
            assert!(matches!(outcome, Capture::Unknown(Doubt::NoAnswerInTime)), "{outcome:?}");
        }
    }
}

#[tokio::test]
async fn a_doubt_names_neither_method_nor_address() {
    let (amount, method) = price_and_method();
    let (provider, serve) = provider_that_says(Vec::new()).await;
    tokio::select! {
        () = serve => {}
        outcome = provider.authorize(attempt(), amount, &method, soon()) => {
            let shown = format!("{outcome:?}");
            assert!(!shown.contains("pm_ok") && !shown.contains("127.0.0.1"), "{shown}");
        }
    }
}
