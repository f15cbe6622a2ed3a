//! The process dies over a change of a stay, at every named point, is started again, and the guest confirms it
//! again with the same key: the stay is the old one or the new one, and the difference is paid once or not at all.

use chrono::Days;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    booking::{Guest, body, id},
    crashes::{COMMITTED, POINTS, captured, refunds},
    process::Process,
    sandbox::Sandbox,
};

/// Past the deadline of an attempt, within the time of a hold.
const PAST_DEADLINE_S: u32 = 130;

/// A booked stay of two nights, and a priced change of it.
struct Stay {
    guest: Guest,
    reservation: String,
    change: String,
    attempt: String,
}

/// Nights of the guests of two numbers do not touch, also where one stays longer.
fn number(round: usize) -> usize {
    2 * round
}

impl Stay {
    /// Ends so many nights after the arrival.
    async fn priced(base_url: &str, round: usize, nights: u64) -> Self {
        let guest = Guest::new(base_url).await.number(number(round));
        let hold = guest.hold(&guest.quote().await).await;
        let booked = body(guest.book(&hold).await.expect("an answer"), StatusCode::CREATED).await;
        let (reservation, attempt) = (id(&booked["reservation"]), id(&booked));
        let wanted = json!({ "check_out": guest.first_night() + Days::new(nights) });
        let path = format!("/v1/reservations/{reservation}/changes");
        let priced = guest.post_at(1, &path, "price", &wanted).await.expect("an answer");
        let change = id(&body(priced, StatusCode::CREATED).await);
        Self { guest, reservation, change, attempt }
    }

    fn at(self, base_url: &str) -> Self {
        Self { guest: self.guest.at(base_url), ..self }
    }

    async fn confirm(&self, method: Option<&str>) -> reqwest::Result<reqwest::Response> {
        let path = format!("/v1/reservations/{}/changes/{}/confirm", self.reservation, self.change);
        let payment = method.map_or(json!({}), |method| json!({"payment": {"method_token": method}}));
        self.guest.post_at(1, &path, "confirm", &payment).await
    }

    async fn shown(&self) -> Value {
        self.guest.get(&format!("/v1/reservations/{}", self.reservation)).await
    }
}

#[tokio::test]
async fn b077_a_longer_stay_is_paid_once_wherever_its_process_dies() {
    let sandbox = Sandbox::new();
    let starts = POINTS.map(|point| format!("start_change.{point}"));
    let ends = POINTS.map(|point| format!("confirm.{point}"));
    let between = ["pay.before_provider", "pay.after_provider"].map(str::to_owned);
    for (round, point) in starts.into_iter().chain(between).chain(ends).enumerate() {
        // The point lies on the way of the booking too: it is booked before.
        let (process, base_url) = sandbox.start(&[]).await;
        let stay = Stay::priced(&base_url, round, 3).await;
        let paid_before = captured(&base_url).await;
        process.stop_cleanly().await;
        let (process, base_url) = sandbox.start_dying_at(&point).await;
        let stay = stay.at(&base_url);
        stay.confirm(Some("pm_ok")).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let stay = stay.at(&base_url);
        sandbox.must_verify().await;
        let version = stay.shown().await["version"].clone();
        assert_eq!(version == 2, point == format!("confirm.{COMMITTED}"), "{point}");
        let retried = stay.confirm(Some("pm_ok")).await.expect("an answer");
        let lost_before_it_was_asked =
            point == "pay.before_provider" || point == format!("start_change.{COMMITTED}");
        if retried.status() == StatusCode::ACCEPTED {
            sandbox.advance(&base_url, PAST_DEADLINE_S).await;
            let expected =
                if lost_before_it_was_asked { StatusCode::PAYMENT_REQUIRED } else { StatusCode::OK };
            body(stay.confirm(Some("pm_ok")).await.expect("an answer"), expected).await;
        } else {
            body(retried, StatusCode::OK).await;
        }
        let added = u64::from(!lost_before_it_was_asked);
        let third = stay.guest.first_night() + Days::new(2);
        assert_eq!(sandbox.claimed(&base_url, third).await, (0, added), "{point}");
        assert_eq!(sandbox.claimed(&base_url, stay.guest.first_night()).await, (0, 1), "{point}");
        assert_eq!(
            captured(&base_url).await - paid_before,
            usize::from(!lost_before_it_was_asked),
            "{point}"
        );
        ended(&sandbox, process).await;
    }
}

#[tokio::test]
async fn b076_a_shorter_stay_gives_back_once_wherever_its_process_dies() {
    let sandbox = Sandbox::new();
    for (round, point) in POINTS.into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&format!("start_change.{point}")).await;
        let stay = Stay::priced(&base_url, round, 1).await;
        stay.confirm(None).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let stay = stay.at(&base_url);
        sandbox.must_verify().await;
        let retried = stay.confirm(None).await.expect("an answer");
        let survived = point == COMMITTED;
        assert_eq!(retried.headers().contains_key("idempotency-replayed"), survived, "{point}");
        assert_eq!(body(retried, StatusCode::OK).await["state"], "COMPLETED", "{point}");
        sandbox.advance(&base_url, 1).await;
        assert_eq!(refunds(&base_url, &stay.attempt).await, 1, "{point}");
        let second = stay.guest.first_night() + Days::new(1);
        assert_eq!(sandbox.claimed(&base_url, second).await, (0, 0), "{point}");
        assert_eq!(sandbox.claimed(&base_url, stay.guest.first_night()).await, (0, 1), "{point}");
        ended(&sandbox, process).await;
    }
}

async fn ended(sandbox: &Sandbox, process: Process) {
    sandbox.must_verify().await;
    process.stop_cleanly().await;
}
