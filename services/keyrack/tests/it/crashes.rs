//! The process dies at every named point of every step, is started again, and the guest repeats the call
//! with the same key: the invariants hold, nothing is sold or charged twice, and the retry tells the truth.

use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::{
    booking::{Guest, body, id},
    process::Process,
    sandbox::{Sandbox, charges},
};

/// Of every operation of the ledger, in their order. At all but the last nothing has been committed.
pub(crate) const POINTS: [&str; 8] = [
    "after_read",
    "after_claim",
    "after_rows_locked",
    "after_nights_locked",
    "after_counters",
    "after_rows_written",
    "before_commit",
    COMMITTED,
];
pub(crate) const COMMITTED: &str = "after_commit";

/// Past the deadline of an attempt, within the time of a hold.
const PAST_DEADLINE_S: u32 = 130;

#[tokio::test]
async fn a_hold_that_dies_at_any_point_is_placed_once() {
    let sandbox = Sandbox::new();
    for (number, point) in POINTS.into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&format!("place_hold.{point}")).await;
        let guest = Guest::new(&base_url).await.number(number);
        let quote = guest.quote().await;
        guest.try_hold(&quote).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let guest = guest.at(&base_url);
        let (survived, night) = (point == COMMITTED, guest.first_night());
        assert_eq!(sandbox.claimed(&base_url, night).await, (u64::from(survived), 0), "{point}");
        sandbox.must_verify().await;
        let retried = guest.try_hold(&quote).await.expect("an answer");
        assert_eq!(retried.headers().contains_key("idempotency-replayed"), survived, "{point}");
        body(retried, StatusCode::CREATED).await;
        assert_eq!(sandbox.claimed(&base_url, night).await, (1, 0), "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}

#[tokio::test]
async fn an_attempt_that_dies_before_the_provider_was_asked_takes_no_money() {
    let sandbox = Sandbox::new();
    let of_t2 = POINTS.map(|point| format!("start_attempt.{point}"));
    for (number, point) in of_t2.into_iter().chain(["pay.before_provider".to_owned()]).enumerate() {
        let died = Died::while_booking(&sandbox, number, &point, "pm_ok").await;
        let is_open = point.ends_with(COMMITTED) || point.starts_with("pay.");
        if is_open {
            died.must_be_pending().await;
            let declined = body(died.retry().await, StatusCode::PAYMENT_REQUIRED).await;
            assert_eq!(declined["code"], "PAYMENT_DECLINED", "{point}");
            assert_eq!(died.captures().await, 0, "{point}");
        } else {
            body(died.retry().await, StatusCode::CREATED).await;
            assert_eq!(died.captures().await, 1, "{point}");
        }
        let claimed = if is_open { (1, 0) } else { (0, 1) };
        died.ends_with(claimed).await;
    }
}

#[tokio::test]
async fn a_payment_that_dies_before_its_confirmation_is_confirmed_once() {
    let sandbox = Sandbox::new();
    let of_t3 = POINTS.map(|point| format!("confirm.{point}"));
    for (number, point) in ["pay.after_provider".to_owned()].into_iter().chain(of_t3).enumerate() {
        let died = Died::while_booking(&sandbox, number, &point, "pm_ok").await;
        if !point.ends_with(COMMITTED) {
            died.must_be_pending().await;
        }
        let booked = body(died.retry().await, StatusCode::CREATED).await;
        assert_eq!(booked["status"], "CONFIRMED", "{point}");
        assert_eq!(died.captures().await, 1, "{point}");
        died.ends_with((0, 1)).await;
    }
}

#[tokio::test]
async fn a_decline_that_dies_at_any_point_leaves_the_hold_for_another_card() {
    let sandbox = Sandbox::new();
    for (number, point) in POINTS.into_iter().enumerate() {
        let died =
            Died::while_booking(&sandbox, number, &format!("fail_attempt.{point}"), "pm_declined").await;
        if point != COMMITTED {
            died.must_be_pending().await;
        }
        body(died.retry().await, StatusCode::PAYMENT_REQUIRED).await;
        let guest = json!({"name": "Asha Rao", "email": "asha@example.com"});
        let other = json!({"hold_id": died.hold, "payment": {"method_token": "pm_ok"}, "guest": guest});
        let booked = died.guest.post("/v1/bookings", "another-card", &other).await.expect("an answer");
        body(booked, StatusCode::CREATED).await;
        died.ends_with((0, 1)).await;
    }
}

#[tokio::test]
async fn an_expiry_that_dies_at_any_point_gives_the_unit_back_once() {
    let sandbox = Sandbox::new();
    for (number, point) in POINTS.into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&format!("expire_hold.{point}")).await;
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        sandbox.try_advance(&base_url, 601).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        sandbox.advance(&base_url, 1).await;
        let guest = guest.at(&base_url);
        assert_eq!(guest.get(&format!("/v1/holds/{hold}")).await["state"], "EXPIRED", "{point}");
        assert_eq!(sandbox.claimed(&base_url, guest.first_night()).await, (0, 0), "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}

#[tokio::test]
async fn a_cancellation_that_dies_at_any_point_gives_units_and_money_back_once() {
    let sandbox = Sandbox::new();
    for (number, point) in POINTS.into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&format!("cancel.{point}")).await;
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        let booked = body(guest.book(&hold).await.expect("an answer"), StatusCode::CREATED).await;
        let (reservation, attempt) = (id(&booked["reservation"]), id(&booked));
        guest.try_cancel(&reservation).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let guest = guest.at(&base_url);
        let survived = point == COMMITTED;
        assert_eq!(
            sandbox.claimed(&base_url, guest.first_night()).await,
            (0, u64::from(!survived)),
            "{point}"
        );
        sandbox.must_verify().await;
        let retried = guest.try_cancel(&reservation).await.expect("an answer");
        assert_eq!(retried.headers().contains_key("idempotency-replayed"), survived, "{point}");
        assert_eq!(body(retried, StatusCode::OK).await["state"], "CANCELLED", "{point}");
        sandbox.advance(&base_url, 1).await;
        assert_eq!(refunds(&base_url, &attempt).await, 1, "{point}");
        assert_eq!(sandbox.claimed(&base_url, guest.first_night()).await, (0, 0), "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}

/// A channel knows of no key: it sends its booking again, and is told how that stands.
#[tokio::test]
async fn a_channels_booking_that_dies_at_any_point_takes_its_room_once() {
    let sandbox = Sandbox::new();
    for (number, point) in POINTS.into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&format!("channel_book.{point}")).await;
        let channel = sandbox.channel(&base_url).number(number);
        channel.try_deliver(number).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let channel = channel.at(&base_url);
        let (survived, night) = (point == COMMITTED, channel.first_night());
        assert_eq!(sandbox.claimed(&base_url, night).await, (0, u64::from(survived)), "{point}");
        sandbox.must_verify().await;
        let expected = if survived { StatusCode::OK } else { StatusCode::CREATED };
        body(channel.try_deliver(number).await.expect("an answer"), expected).await;
        assert_eq!(sandbox.claimed(&base_url, night).await, (0, 1), "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}

#[tokio::test]
async fn a_channels_cancellation_that_dies_at_any_point_gives_its_room_back_once() {
    let sandbox = Sandbox::new();
    for (number, point) in POINTS.into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&format!("channel_cancel.{point}")).await;
        let channel = sandbox.channel(&base_url).number(number);
        body(channel.try_deliver(number).await.expect("an answer"), StatusCode::CREATED).await;
        channel.try_withdraw(number).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let channel = channel.at(&base_url);
        let (survived, night) = (point == COMMITTED, channel.first_night());
        assert_eq!(sandbox.claimed(&base_url, night).await, (0, u64::from(!survived)), "{point}");
        sandbox.must_verify().await;
        let told = body(channel.try_withdraw(number).await.expect("an answer"), StatusCode::OK).await;
        assert_eq!(told["already_cancelled"], survived, "{point}");
        assert_eq!(sandbox.claimed(&base_url, night).await, (0, 0), "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}

/// The capture arrives when the hold has gone and the night is closed; the sweep, or the sender of the refund,
/// dies over it.
#[tokio::test]
async fn a_late_capture_goes_back_once_wherever_its_refund_dies() {
    let sandbox = Sandbox::new();
    let of_sweep = POINTS.map(|point| format!("give_up_booking.{point}"));
    let of_refund = ["settle_refund.before_commit", "settle_refund.after_commit"].map(str::to_owned);
    for (number, point) in of_sweep.into_iter().chain(of_refund).enumerate() {
        let late = Late::capture(&sandbox, number, &point, true).await;
        let failed = late.guest.book_with(&late.hold, "pm_slow").await.expect("an answer");
        let failed = body(failed, StatusCode::CONFLICT).await;
        assert_eq!(
            (&failed["code"], &failed["refund"]["state"]),
            (&json!("BOOKING_FAILED"), &json!("SUCCEEDED"))
        );
        assert_eq!(refunds(&late.base_url, &late.attempt).await, 1, "{point}");
        late.ends_with((0, 0)).await;
    }
}

/// The nights are still free: the rooms are taken again, and the process dies over that.
#[tokio::test]
async fn a_late_capture_gets_its_rooms_once_wherever_their_allocation_dies() {
    let sandbox = Sandbox::new();
    for (number, point) in POINTS.into_iter().enumerate() {
        let late = Late::capture(&sandbox, number, &format!("allocate_anew.{point}"), false).await;
        let booked = late.guest.book_with(&late.hold, "pm_slow").await.expect("an answer");
        assert_eq!(body(booked, StatusCode::CREATED).await["status"], "CONFIRMED", "{point}");
        assert_eq!(refunds(&late.base_url, &late.attempt).await, 0, "{point}");
        late.ends_with((0, 1)).await;
    }
}

/// A capture that came after the hold, in a sandbox that died over it and was started again.
struct Late<'s> {
    sandbox: &'s Sandbox,
    process: Process,
    base_url: String,
    guest: Guest,
    hold: String,
    attempt: String,
}

impl<'s> Late<'s> {
    async fn capture(sandbox: &'s Sandbox, number: usize, point: &str, closed: bool) -> Self {
        let environment = [("KEYRACK_ABORT_AT", point), ("KEYRACK_PROVIDER__DEADLINE_MS", "1000")];
        let (process, base_url) = sandbox.start(&environment).await;
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        let pending = guest.book_with(&hold, "pm_slow").await.expect("an answer");
        let attempt = id(&body(pending, StatusCode::ACCEPTED).await);
        // The provider has not captured yet: the sweep can end nothing, and the hold's time runs out.
        sandbox.advance(&base_url, 601).await;
        assert_eq!(guest.get(&format!("/v1/holds/{hold}")).await["state"], "EXPIRED", "{point}");
        if closed {
            sandbox.close(&base_url, guest.first_night()).await;
        }
        release_capture(&base_url, &attempt).await;
        // Until the lease of the sweep that found nothing has ended, and the next ones have come by.
        let mut runs = 0;
        while sandbox.try_advance(&base_url, 31).await.is_ok() {
            runs += 1;
            assert!(runs < 10, "{point} is not reached");
        }
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        for _ in 0..3 {
            sandbox.advance(&base_url, 31).await;
        }
        let guest = guest.at(&base_url);
        Self { sandbox, process, base_url, guest, hold, attempt }
    }

    async fn ends_with(self, claimed: (u64, u64)) {
        assert_eq!(self.sandbox.claimed(&self.base_url, self.guest.first_night()).await, claimed);
        self.sandbox.must_verify().await;
        self.process.stop_cleanly().await;
    }
}

/// A booking whose process has died, in a sandbox that was started again.
struct Died<'s> {
    sandbox: &'s Sandbox,
    process: Process,
    base_url: String,
    guest: Guest,
    hold: String,
    method: &'static str,
    /// Of this sandbox, before this booking.
    captured_before: usize,
}

impl<'s> Died<'s> {
    async fn while_booking(sandbox: &'s Sandbox, number: usize, point: &str, method: &'static str) -> Self {
        let (process, base_url) = sandbox.start_dying_at(point).await;
        let captured_before = captured(&base_url).await;
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        guest.book_with(&hold, method).await.expect_err("the process has died");
        process.has_aborted().await;
        let (process, base_url) = sandbox.start(&[]).await;
        sandbox.must_verify().await;
        let guest = guest.at(&base_url);
        Self { sandbox, process, base_url, guest, hold, method, captured_before }
    }

    async fn retry(&self) -> Response {
        self.guest.book_with(&self.hold, self.method).await.expect("an answer")
    }

    /// Nobody knows how it ended, and the retry says so; then the sweep finds out.
    async fn must_be_pending(&self) {
        let pending = body(self.retry().await, StatusCode::ACCEPTED).await;
        assert_eq!(pending["status"], "PENDING_PAYMENT");
        self.sandbox.advance(&self.base_url, PAST_DEADLINE_S).await;
    }

    /// How often the provider took money for it.
    async fn captures(&self) -> usize {
        captured(&self.base_url).await - self.captured_before
    }

    async fn ends_with(self, claimed: (u64, u64)) {
        assert_eq!(self.sandbox.claimed(&self.base_url, self.guest.first_night()).await, claimed);
        self.sandbox.must_verify().await;
        self.process.stop_cleanly().await;
    }
}

pub(crate) async fn captured(base_url: &str) -> usize {
    charges(base_url).await.iter().filter(|charge| charge["state"] == "CAPTURED").count()
}

pub(crate) async fn refunds(base_url: &str, attempt: &str) -> usize {
    let of_attempt = |charge: &&Value| {
        charge["state"] == "REFUNDED" && charge["reference"].as_str().is_some_and(|r| r.starts_with(attempt))
    };
    charges(base_url).await.iter().filter(of_attempt).count()
}

/// It may have taken place by itself by now.
async fn release_capture(base_url: &str, attempt: &str) {
    let release = json!({ "reference": format!("{attempt}-capture") });
    let released = Guest::with_token(base_url, "none").post("/simulator/release", "none", &release).await;
    let status = released.expect("an answer").status();
    assert!([StatusCode::OK, StatusCode::CONFLICT].contains(&status), "{status}");
}
