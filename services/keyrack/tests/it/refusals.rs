//! What the program refuses before it touches anything.

use crate::process::{run, stderr, stdout};

#[tokio::test]
async fn every_command_refuses_a_setting_that_it_does_not_know() {
    let database = ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing");
    for (command, exit_code) in
        [("dev", 1), ("serve", 1), ("work", 1), ("migrate", 1), ("seed", 1), ("doctor", 1), ("verify", 2)]
    {
        let refused = run(&[command], &[database, ("KEYRACK_HTTP__PROT", "1")]).await;
        assert_eq!(refused.status.code(), Some(exit_code), "{command}");
        assert!(stderr(&refused).contains("prot"), "{command}: {}", stderr(&refused));
    }
}

#[tokio::test]
async fn only_the_sandbox_can_be_told_to_abort() {
    let environment =
        [("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing"), ("KEYRACK_ABORT_AT", "confirm")];
    let refused = run(&["work"], &environment).await;
    assert!(stderr(&refused).contains("abort_at"), "{}", stderr(&refused));
    let refused = run(&["dev", "--port", "0", "--data-dir", "/nonexistent"], &environment).await;
    assert!(stderr(&refused).contains("must name a point"), "{}", stderr(&refused));
}

#[tokio::test]
async fn a_database_that_is_not_there_is_told_with_the_reason() {
    let environment = [("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing")];
    let refused = run(&["verify"], &environment).await;
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("onnection refused"), "{}", stderr(&refused));
    let told = run(&["doctor"], &environment).await;
    assert_eq!(told.status.code(), Some(1));
    assert!(stdout(&told).contains("BAD   the directory's database cannot be reached"), "{}", stdout(&told));
}

#[tokio::test]
async fn the_contract_is_the_committed_one() {
    let printed = run(&["openapi"], &[]).await;
    assert_eq!(stdout(&printed), include_str!("../../../../docs/openapi.json"));
}
