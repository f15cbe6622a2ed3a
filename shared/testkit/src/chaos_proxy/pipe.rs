//! Moves the bytes of one connection.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
};

use super::control::{Control, Verdict};

const CHUNK: usize = 16 * 1024;

/// Until either side ends, or a fault ends both.
pub(super) async fn both_ways(
    client: &mut TcpStream,
    server: &mut TcpStream,
    control: &Control,
) -> io::Result<()> {
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let answer_is_lost = AtomicBool::new(false);
    tokio::select! {
        done = requests(from_client, to_server, control, &answer_is_lost) => done,
        done = answers(from_server, to_client, control, &answer_is_lost) => done,
    }
}

async fn requests(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    control: &Control,
    answer_is_lost: &AtomicBool,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let n = from.read(&mut chunk).await?;
        if n == 0 {
            return Ok(());
        }
        let bytes = &chunk[..n];
        linger(control).await;
        match control.judge_request(bytes) {
            Verdict::Pass => {}
            Verdict::Lose => return Ok(()),
            // Before the request arrives: its answer may be quicker than we are.
            Verdict::LoseAnswer => answer_is_lost.store(true, Ordering::SeqCst),
        }
        to.write_all(bytes).await?;
    }
}

async fn answers(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    control: &Control,
    answer_is_lost: &AtomicBool,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let n = from.read(&mut chunk).await?;
        if n == 0 || answer_is_lost.load(Ordering::SeqCst) {
            return Ok(());
        }
        linger(control).await;
        let arrives = control.judge_answer(&chunk[..n]);
        to.write_all(&chunk[..arrives]).await?;
        if arrives < n {
            return Ok(());
        }
    }
}

async fn linger(control: &Control) {
    let delay = control.mode().delay;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    control.flowing().await;
}
