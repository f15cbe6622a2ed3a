//! The program behind a connection pooler in transaction mode.

use keyrack_testkit::{Pooler, TestDatabase};
use secrecy::ExposeSecret;

use crate::process::{run, stderr, stdout};

#[tokio::test]
async fn behind_a_pooler_the_doctor_finds_its_way_and_a_migration_is_refused() {
    let database = TestDatabase::new().await;
    let Some(pooler) = Pooler::start(&database) else { return };
    let url = pooler.url();
    let environment =
        [("DATABASE_URL", url.expose_secret()), ("KEYRACK_DATABASE__TRANSACTION_POOLER", "true")];
    let told = run(&["doctor"], &environment).await;
    let text = stdout(&told);
    for line in [
        "ok    the directory's database is PostgreSQL",
        "ok    the directory's database has this program's schema",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let refused = run(&["migrate"], &environment).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("database.transaction_pooler"), "{}", stderr(&refused));
    let folder = tempfile::tempdir().expect("a folder");
    let tokens = folder.path().join("credentials.json");
    let seeded = run(&["seed", "--credentials", tokens.to_str().expect("a path")], &environment).await;
    assert!(seeded.status.success(), "{}", stderr(&seeded));
    let verified = run(&["verify"], &environment).await;
    assert!(verified.status.success(), "{}", stdout(&verified));
}
