//! The wrapper around a run of tests, as a process.

use std::{
    process::{Command as BlockingCommand, Stdio},
    time::Duration,
};

use keyrack_runtime::private_postgres::scratch::TEST_SERVER_VARIABLE;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

const WITH_POSTGRES: &str = env!("CARGO_BIN_EXE_with-postgres");
/// Shorter than the minute after which the server ends a connection that never gives a password.
const PATIENCE: Duration = Duration::from_secs(40);

/// A wrapper whose command names the server and stays until its input ends.
async fn staying() -> (Child, String) {
    let tell = format!("echo \"${TEST_SERVER_VARIABLE}\"; cat");
    let mut wrapper = Command::new(WITH_POSTGRES)
        .args(["sh", "-c", &tell])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(wrapper.stdout.take().unwrap()).lines();
    let url = timeout(PATIENCE, said.next_line()).await.unwrap().unwrap().unwrap();
    (wrapper, url)
}

fn signal(name: &str, wrapper: &Child) {
    let pid = wrapper.id().unwrap().to_string();
    assert!(BlockingCommand::new("kill").args([name, &pid]).status().unwrap().success());
}

/// A connection that waits to be asked for its password, until the server is told to stop.
async fn connected(url: &str) -> TcpStream {
    let address = url.split(['@', '/']).nth(3).unwrap();
    let mut inside = TcpStream::connect(address).await.unwrap();
    // Protocol 3.0, user x: the server answers with its demand for a password.
    inside.write_all(b"\0\0\0\x10\0\x03\0\0user\0x\0\0").await.unwrap();
    assert_eq!(inside.read_u8().await.unwrap(), b'R');
    inside
}

async fn outlast(mut server: TcpStream) {
    let mut rest = Vec::new();
    let ended = timeout(PATIENCE, server.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the server ends");
}

#[tokio::test]
async fn the_command_has_a_server_and_its_exit_code_is_ours() {
    let test = format!("test -n \"${TEST_SERVER_VARIABLE}\" && exit 7");
    let mut wrapper = Command::new(WITH_POSTGRES).args(["sh", "-c", &test]).spawn().unwrap();
    assert_eq!(timeout(PATIENCE, wrapper.wait()).await.unwrap().unwrap().code(), Some(7));
    let mut nothing =
        Command::new(WITH_POSTGRES).arg("/nowhere/program").stderr(Stdio::null()).spawn().unwrap();
    assert!(!timeout(PATIENCE, nothing.wait()).await.unwrap().unwrap().success());
}

#[tokio::test]
async fn a_stop_reaches_the_command_and_then_the_server() {
    let (mut wrapper, url) = staying().await;
    let inside = connected(&url).await;
    signal("-TERM", &wrapper);
    outlast(inside).await;
    assert!(!timeout(PATIENCE, wrapper.wait()).await.unwrap().unwrap().success());
}

#[tokio::test]
async fn a_server_does_not_outlive_a_wrapper_that_was_killed() {
    let (wrapper, url) = staying().await;
    let inside = connected(&url).await;
    signal("-KILL", &wrapper);
    outlast(inside).await;
}

#[tokio::test]
async fn a_migrated_database_is_named_in_the_environment() {
    let migrations = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations");
    let mut wrapper = Command::new(WITH_POSTGRES)
        .args(["--migrated", migrations, "sh", "-c", "test -n \"$DATABASE_URL\""])
        .spawn()
        .unwrap();
    assert!(timeout(PATIENCE, wrapper.wait()).await.unwrap().unwrap().success());
}
