//! Guest sessions that have ended are forgotten some time later, a bounded number at once.

use std::time::Duration;

use keyrack_booking::{credentials, forget_sessions, guest_sessions};
use keyrack_domain::token::TokenHash;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};

use crate::desk_world::DeskWorld;

const DAY: Duration = Duration::from_hours(24);

#[tokio::test]
async fn an_ended_session_is_removed_after_its_retention_and_one_that_lasts_is_not() {
    let at = DeskWorld::new().await;
    let shards = at.desk.shards();
    let lasting = guest_sessions::open(shards, Duration::from_secs(3_600)).await.expect("a session");
    for _ in 0..3 {
        guest_sessions::open(shards, DAY).await.expect("a session");
    }
    let aged = |days: u32, limit: u32| {
        format!(
            "UPDATE directory.guest_sessions
             SET created_at = created_at - interval '{days} days', expires_at = expires_at - interval '{days} days'
             WHERE token_hash IN (SELECT token_hash FROM directory.guest_sessions
                                  WHERE expires_at > now() + interval '2 hours' LIMIT {limit})"
        )
    };
    // Two ended 31 days ago, one 29 days ago.
    at.database().execute(&aged(32, 2)).await;
    at.database().execute(&aged(30, 1)).await;
    assert_eq!(forget_sessions::run_once(shards, 30 * DAY).await.expect("a run"), 2);
    assert_eq!(forget_sessions::run_once(shards, 30 * DAY).await.expect("a run"), 0);
    assert_eq!(at.count("directory.guest_sessions").await, 2);
    assert_eq!(forget_sessions::run_once(shards, 28 * DAY).await.expect("a run"), 1);
    let hash = TokenHash(Sha256::digest(lasting.token.expose_secret().as_bytes()).into());
    let bearer = credentials::authenticate(shards, hash).await.expect("a read");
    assert_eq!(bearer.map(|bearer| bearer.principal), Some(lasting.principal));
}

#[tokio::test]
async fn one_run_removes_a_bounded_number_and_two_at_once_none_twice() {
    let at = DeskWorld::new().await;
    at.database()
        .execute(
            "INSERT INTO directory.guest_sessions (token_hash, principal_id, created_at, expires_at)
             SELECT sha256(n::text::bytea), gen_random_uuid(), now() - interval '40 days', now() - interval '31 days'
             FROM generate_series(1, 1100) AS n",
        )
        .await;
    let run = || forget_sessions::run_once(at.desk.shards(), 30 * DAY);
    let most = usize::from(forget_sessions::MAX_REMOVED);
    assert_eq!(run().await.expect("a run"), most);
    let (one, other) = tokio::join!(run(), run());
    let removed = one.expect("a run") + other.expect("a run");
    assert!(removed <= 1_100 - most && removed >= 500, "{removed}");
    let rest = run().await.expect("a run");
    assert_eq!(most + removed + rest, 1_100);
    assert_eq!(at.count("directory.guest_sessions").await, 0);
}
