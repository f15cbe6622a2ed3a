//! `keyrack dev`, from its first line to its last process.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use reqwest::StatusCode;
use serde_json::json;

use crate::{
    booking::{Guest, body},
    process::{run, stderr, stdout},
    sandbox::{Sandbox, charges},
};

#[tokio::test]
async fn the_readme_books_a_room_and_the_sandbox_stops_without_a_trace() {
    let sandbox = Sandbox::new();
    let (process, base_url) = sandbox.start(&[]).await;
    let mode = fs::metadata(sandbox.folder().join("credentials.json")).expect("credentials").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let secret = sandbox.folder().join("webhook-secret");
    assert_eq!(fs::metadata(&secret).expect("a secret").permissions().mode() & 0o777, 0o600);
    let secret = fs::read_to_string(secret).expect("a secret");
    let tokens = sandbox.credentials()["tokens"].as_object().expect("tokens").len();
    assert_eq!(tokens, 1 + 3 * 6, "an operator, and staff, PMS and channel of six hotels");

    Guest::new(&base_url).await.books().await;
    sandbox.must_verify().await;
    let told = sandbox.credentials().to_string();
    assert!(secret.starts_with("whsec_") && secret.len() > 60 && !told.contains(&secret));
    assert_eq!(charges(&base_url).await.len(), 2, "one authorization and one capture");

    let port = base_url.rsplit(':').next().expect("a port");
    let other = Sandbox::new();
    let second = run(&["dev", "--port", port, "--data-dir", other.path()], &[]).await;
    assert_eq!(second.status.code(), Some(1));
    assert!(stderr(&second).contains(&format!("port {port} of 127.0.0.1 is taken")), "{}", stderr(&second));
    let second = run(&["dev", "--port", "0", "--data-dir", sandbox.path()], &[]).await;
    assert!(stderr(&second).contains("is in use by another keyrack dev"), "{}", stderr(&second));

    let doctor = run(&["doctor", "--data-dir", sandbox.path()], &[]).await;
    assert_eq!(doctor.status.code(), Some(0), "{}", stdout(&doctor));
    assert!(stdout(&doctor).contains("note  the clock is moved by"), "{}", stdout(&doctor));

    let postgres = sandbox.postgres_pid();
    let (status, rest) = process.stop().await;
    assert_eq!((status.code(), rest), (Some(0), Vec::new()), "one line in all, and a clean end");
    assert!(!Path::new(&format!("/proc/{postgres}")).exists(), "PostgreSQL has ended with it");
    let verified = run(&["verify", "--data-dir", sandbox.path()], &[]).await;
    assert_eq!(verified.status.code(), Some(2));
    assert!(stderr(&verified).contains("no sandbox runs in"), "{}", stderr(&verified));
}

/// A machine whose wall is a day away from the hotels' and from UTC changes no date.
#[tokio::test]
async fn a_machine_in_another_time_zone_books_the_same_nights() {
    let sandbox = Sandbox::new();
    let (process, base_url) = sandbox.start(&[("TZ", "Pacific/Apia"), ("PGTZ", "Pacific/Apia")]).await;
    let guest = Guest::new(&base_url).await;
    let reservation = guest.books().await;
    let shown = guest.get(&format!("/v1/reservations/{reservation}")).await;
    assert_eq!((&shown["check_in"], &shown["check_out"]), (&json!("2026-11-14"), &json!("2026-11-16")));
    let until = json!({"at": "2026-11-12T12:30:00Z", "local": "2026-11-12T18:00:00+05:30"});
    assert_eq!(shown["rooms"][0]["cancellation"][0]["until"], until);
    assert!(shown["created_at"].as_str().is_some_and(|at| at.starts_with("2026-01-10T06:")), "{shown}");
    sandbox.must_verify().await;
    process.stop_cleanly().await;
}

#[tokio::test]
async fn a_killed_sandbox_comes_back_with_its_clock_its_charges_and_its_tokens() {
    let sandbox = Sandbox::new();
    // Dies with the money taken and nothing of it written down.
    let (process, base_url) = sandbox.start_dying_at("confirm.after_rows_written:1").await;
    let before = sandbox.advance(&base_url, 3600).await;
    assert!(before.starts_with("2026-01-10T07:"), "{before}");
    let tokens = sandbox.credentials()["tokens"].clone();
    let guest = Guest::new(&base_url).await;
    let quote = guest.quote().await;
    let hold = guest.hold(&quote).await;
    guest.book(&hold).await.expect_err("the process has died");
    process.has_aborted().await;

    let (process, base_url) = sandbox.start(&[]).await;
    assert_eq!(sandbox.credentials()["tokens"], tokens);
    assert_eq!(charges(&base_url).await.len(), 2);
    let guest = guest.at(&base_url);
    let repeated = body(guest.book(&hold).await.expect("an answer"), StatusCode::ACCEPTED).await;
    assert_eq!(repeated["status"], "PENDING_PAYMENT");
    // Past the attempt's deadline, still within the hold's time: the sweep has asked the provider.
    let after = sandbox.advance(&base_url, 130).await;
    assert!(after > before, "{after}");
    let booked = body(guest.book(&hold).await.expect("an answer"), StatusCode::CREATED).await;
    assert_eq!(booked["status"], "CONFIRMED");
    assert_eq!(charges(&base_url).await.len(), 2, "nothing was charged twice");
    sandbox.must_verify().await;
    process.kill().await;

    let (process, base_url) = sandbox.start(&[]).await;
    let reservation = booked["reservation"]["id"].as_str().expect("an id");
    guest.at(&base_url).get(&format!("/v1/reservations/{reservation}")).await;
    assert!(sandbox.advance(&base_url, 1).await > after);
    process.stop_cleanly().await;
}
