//! The process dies over a provider's notice, at every named point; the provider has no answer and tells it again.

use std::time::SystemTime;

use keyrack_payments::sign;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::{
    booking::{Guest, body, id},
    crashes::{COMMITTED, POINTS},
    process::Process,
    sandbox::Sandbox,
};

const SECRET: &str = "whsec_of_tests";

/// In paise.
const TOTAL: u64 = 1_456_000;

async fn start(sandbox: &Sandbox, dying_at: Option<&str>) -> (Process, String) {
    let mut environment = vec![("KEYRACK_PROVIDER__WEBHOOK_SECRETS", SECRET)];
    environment.extend(dying_at.map(|point| ("KEYRACK_ABORT_AT", point)));
    sandbox.start(&environment).await
}

/// `Err` when the process dies of it.
async fn tell(base_url: &str, notice: &Value) -> reqwest::Result<Response> {
    let body = notice.to_string();
    #[expect(clippy::disallowed_methods, reason = "a signature is made in real time")]
    let signature = sign(&SECRET.into(), SystemTime::now(), body.as_bytes());
    let request = reqwest::Client::new().post(format!("{base_url}/v1/webhooks/payments/simulator"));
    request.header("keyrack-signature", signature).body(body).send().await
}

fn notice(event: &str, kind: &str, reference: &str, amount: u64) -> Value {
    json!({
        "id": event, "type": kind, "reference": reference, "provider_id": format!("re_of_{event}"),
        "amount": amount, "currency": "INR", "created_at": "2026-01-10T06:00:00Z",
    })
}

#[tokio::test]
async fn a_notice_of_a_capture_that_dies_at_any_point_confirms_once_when_it_is_told_again() {
    let sandbox = Sandbox::new();
    for (number, point) in POINTS.into_iter().enumerate() {
        let (process, base_url) = start(&sandbox, Some(&format!("apply_notice.{point}"))).await;
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        let pending = guest.book_with(&hold, "pm_lost_response").await.expect("an answer");
        let attempt = id(&body(pending, StatusCode::ACCEPTED).await);
        let told =
            notice(&format!("evt_{number}"), "capture.succeeded", &format!("{attempt}-capture"), TOTAL);
        tell(&base_url, &told).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = start(&sandbox, None).await;
        sandbox.must_verify().await;
        let expected = if point == COMMITTED { "DUPLICATE" } else { "APPLIED" };
        let answer = tell(&base_url, &told).await.expect("an answer");
        assert_eq!(body(answer, StatusCode::OK).await["outcome"], expected, "{point}");
        let guest = guest.at(&base_url);
        let shown = guest.get(&format!("/v1/bookings/{attempt}")).await;
        assert_eq!(shown["status"], "CONFIRMED", "{point}");
        assert_eq!(sandbox.claimed(&base_url, guest.first_night()).await, (0, 1), "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}

#[tokio::test]
async fn a_notice_of_a_refund_or_of_nobody_that_dies_is_recorded_once_when_it_is_told_again() {
    let sandbox = Sandbox::new();
    let points = ["apply_refund_notice.before_commit", "apply_refund_notice.after_commit"];
    let points = points.into_iter().chain(["keep_notice.before_commit", "keep_notice.after_commit"]);
    for (number, point) in points.enumerate() {
        let (process, base_url) = start(&sandbox, Some(point)).await;
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        let booked = body(guest.book(&hold).await.expect("an answer"), StatusCode::CREATED).await;
        let of_nobody = point.starts_with("keep_notice");
        let reference = if of_nobody { "re_123".to_owned() } else { format!("{}-capture", id(&booked)) };
        let told = notice(&format!("evt_{number}"), "refund.created", &reference, 200_000);
        tell(&base_url, &told).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = start(&sandbox, None).await;
        sandbox.must_verify().await;
        let (status, outcome) = match (point.ends_with(COMMITTED), of_nobody) {
            (true, _) => (StatusCode::OK, "DUPLICATE"),
            (false, false) => (StatusCode::OK, "APPLIED"),
            (false, true) => (StatusCode::ACCEPTED, "UNMATCHED"),
        };
        let answer = tell(&base_url, &told).await.expect("an answer");
        assert_eq!(body(answer, status).await["outcome"], outcome, "{point}");
        let guest = guest.at(&base_url);
        let shown = guest.get(&format!("/v1/reservations/{}", id(&booked["reservation"]))).await;
        let refunds = shown["refunds"].as_array().expect("refunds");
        assert_eq!(
            (refunds.len(), &shown["state"]),
            (usize::from(!of_nobody), &json!("CONFIRMED")),
            "{point}"
        );
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}
