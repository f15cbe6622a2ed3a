//! Started and ended for real. That a database can be made shows that the server takes connections.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command, time::Duration};

use keyrack_runtime::private_postgres::{
    Address, PrivatePostgres, PrivatePostgresError, PrivatePostgresSettings,
};
use secrecy::ExposeSecret;
use tempfile::TempDir;

/// One that the user which PostgreSQL runs as can reach.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn settings(folder: &TempDir) -> PrivatePostgresSettings {
    PrivatePostgresSettings::for_tests(folder.path().join("postgres"))
}

fn kill_hard(pid: i32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

#[tokio::test]
async fn a_stopped_server_leaves_nothing_running_and_starts_again_on_its_data() {
    let folder = folder();
    let first = PrivatePostgres::start(settings(&folder)).await.unwrap();
    first.ensure_database("kept").await.unwrap();
    first.ensure_database("kept").await.unwrap();
    let (pid, password) = (first.pid(), first.url("kept").expose_secret().to_owned());
    assert!(PrivatePostgres::running_in(folder.path().join("postgres")).unwrap().is_some());
    first.stop().await.unwrap();
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(PrivatePostgres::running_in(folder.path().join("postgres")).unwrap().is_none());

    let second = PrivatePostgres::start(settings(&folder)).await.unwrap();
    second.ensure_database("kept").await.unwrap();
    let port = |address: &Address| format!(":{}/", address.port());
    let now = second.url("kept").expose_secret().to_owned();
    let secret = |url: &str| url.split('@').next().unwrap().to_owned();
    assert_eq!(secret(&now), secret(&password), "the password stays");
    assert!(now.contains(&port(second.address())));
}

#[tokio::test]
async fn a_killed_server_is_noticed_and_starts_again() {
    let folder = folder();
    let first = PrivatePostgres::start(settings(&folder)).await.unwrap();
    kill_hard(first.pid());
    tokio::time::timeout(Duration::from_secs(20), first.ended()).await.unwrap();
    drop(first);
    PrivatePostgres::start(settings(&folder)).await.unwrap().ensure_database("again").await.unwrap();
}

#[tokio::test]
async fn a_folder_in_use_is_left_alone() {
    let folder = folder();
    let first = PrivatePostgres::start(settings(&folder)).await.unwrap();
    let second = PrivatePostgres::start(settings(&folder)).await;
    assert!(matches!(second, Err(PrivatePostgresError::InUse { .. })), "{second:?}");
    first.ensure_database("unharmed").await.unwrap();
}

#[tokio::test]
async fn the_mark_of_a_dead_server_whose_process_id_was_taken_by_another_does_not_stop_a_start() {
    let folder = folder();
    PrivatePostgres::start(settings(&folder)).await.unwrap().stop().await.unwrap();
    let data = folder.path().join("postgres/data");
    let ours = std::process::id();
    fs::write(
        data.join("postmaster.pid"),
        format!("{ours}\n{}\n1\n5432\n\n127.0.0.1\n1 1\nready\n", data.display()),
    )
    .unwrap();
    PrivatePostgres::start(settings(&folder)).await.unwrap();
}

#[tokio::test]
async fn a_folder_that_the_database_user_cannot_reach_is_named() {
    if !nix::unistd::geteuid().is_root() {
        // An ordinary user runs PostgreSQL as itself, and reaches what it has made.
        return;
    }
    let closed = tempfile::tempdir().unwrap();
    fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let refused = PrivatePostgres::start(settings(&closed)).await.unwrap_err();
    let closed = closed.path().canonicalize().unwrap();
    assert!(
        matches!(&refused, PrivatePostgresError::Unreachable { folder, .. } if *folder == closed),
        "{refused}"
    );
    assert!(refused.to_string().contains(closed.to_str().unwrap()));
}

#[tokio::test]
async fn the_password_can_be_read_by_its_owner_only() {
    let folder = folder();
    let server = PrivatePostgres::start(settings(&folder)).await.unwrap();
    let mode = |name| fs::metadata(folder.path().join("postgres").join(name)).unwrap().permissions().mode();
    assert_eq!(mode("password") & 0o777, 0o600);
    assert_eq!(mode("data") & 0o777, 0o700);
    let password = fs::read_to_string(folder.path().join("postgres/password")).unwrap();
    assert!(password.len() >= 32 && !format!("{server:?}").contains(&password));
}
