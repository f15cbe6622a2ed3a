//! The running program compares the provider's books with its own, also when it dies in the middle.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    booking::{Guest, body},
    sandbox::{Sandbox, charges},
};

/// The provider takes the price of the latest booking once more, without having been asked to.
async fn charge_again(base_url: &str) -> String {
    let charges = charges(base_url).await;
    // Attempts are numbered in the order of time, and the list is in the order of its names.
    let capture = charges.iter().rfind(|charge| is_own(charge)).expect("a capture");
    let second = format!("{}-2", capture["reference"].as_str().expect("a name"));
    let planted = json!({
        "reference": second, "authorization": capture["of"], "amount": capture["amount"],
        "currency": capture["currency"],
    });
    let answer = reqwest::Client::new().post(format!("{base_url}/simulator/captures")).json(&planted).send();
    body(answer.await.expect("an answer"), StatusCode::OK).await;
    second
}

/// Of a call of the program's, and not a charge of this test's.
fn is_own(charge: &Value) -> bool {
    charge["reference"].as_str().is_some_and(|name| name.ends_with("-capture"))
}

async fn charge(base_url: &str, reference: &str) -> Value {
    let all = charges(base_url).await;
    all.into_iter().find(|charge| charge["reference"] == reference).expect("the charge")
}

#[tokio::test]
async fn b055_a_second_charge_goes_back_once_wherever_the_process_dies() {
    let sandbox = Sandbox::new();
    let points =
        ["enter_finding.before_commit", "advance_settlement.before_commit", "settle_stray.before_commit"];
    for (number, point) in points.into_iter().enumerate() {
        let (process, base_url) = sandbox.start(&[]).await;
        Guest::new(&base_url).await.number(number).books().await;
        sandbox.advance(&base_url, 31).await;
        process.stop_cleanly().await;

        // At its start the program is told of nothing new; the charge comes while it runs.
        let (process, base_url) = sandbox.start_dying_at(&format!("{point}:1")).await;
        let second = charge_again(&base_url).await;
        sandbox.try_advance(&base_url, 31).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        sandbox.advance(&base_url, 31).await;
        let given_back = charge(&base_url, &second).await;
        assert_eq!(
            (&given_back["state"], &given_back["refunded"]),
            (&json!("CAPTURED"), &given_back["amount"])
        );
        let first = charge(&base_url, second.trim_end_matches("-2")).await;
        assert_eq!(first["refunded"], 0, "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}
