//! The process dies at every named point of every step, is started again, and the guest repeats the call
//! with the same key: the invariants hold, nothing is sold or charged twice, and the retry tells the truth.

use chrono::{Days, NaiveTime, TimeZone, Utc};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::{
    booking::{Guest, body, id},
    crash_points::{
        ALLOCATE_ANEW, Again, CANCEL, CONFIRM, EXPIRE_HOLD, FAIL_ATTEMPT, GIVE_UP_BOOKING, Leaves,
        PLACE_HOLD, Retry, SETTLE_REFUND, START_ATTEMPT,
    },
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

/// A moment after the midnight of Kolkata, in UTC.
const BALANCE_DUE: NaiveTime = NaiveTime::from_hms_opt(18, 30, 1).expect("a time");

/// Past the deadline of an attempt, within the time of a hold.
const PAST_DEADLINE_S: u32 = 130;

#[tokio::test]
async fn a_hold_that_dies_at_any_point_is_placed_once() {
    let sandbox = Sandbox::new();
    for (number, (point, crash)) in PLACE_HOLD.points().into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&point).await;
        let guest = Guest::new(&base_url).await.number(number);
        let quote = guest.quote().await;
        guest.try_hold(&quote).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let guest = guest.at(&base_url);
        let (survived, night) = (crash.leaves == Leaves::Hold, guest.first_night());
        assert_eq!(sandbox.claimed(&base_url, night).await, (u64::from(survived), 0), "{point}");
        sandbox.must_verify().await;
        let retried = guest.try_hold(&quote).await.expect("an answer");
        let replayed = retried.headers().contains_key("idempotency-replayed");
        assert_eq!(replayed, crash.retry == Retry::Original, "{point}");
        body(retried, StatusCode::CREATED).await;
        assert_eq!(sandbox.claimed(&base_url, night).await, (1, 0), "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}

#[tokio::test]
async fn an_attempt_that_dies_before_the_provider_was_asked_takes_no_money() {
    let sandbox = Sandbox::new();
    for (number, (point, crash)) in START_ATTEMPT.points().into_iter().enumerate() {
        let died = Died::while_booking(&sandbox, number, &point, "pm_ok").await;
        if crash.retry == Retry::PendingThenDeclined {
            died.must_be_pending().await;
            let declined = body(died.retry().await, StatusCode::PAYMENT_REQUIRED).await;
            assert_eq!(declined["code"], "PAYMENT_DECLINED", "{point}");
            assert_eq!(died.captures().await, 0, "{point}");
        } else {
            body(died.retry().await, StatusCode::CREATED).await;
            assert_eq!(died.captures().await, 1, "{point}");
        }
        let claimed = if crash.leaves == Leaves::OpenAttempt { (1, 0) } else { (0, 1) };
        died.ends_with(claimed).await;
    }
}

#[tokio::test]
async fn a_payment_that_dies_before_its_confirmation_is_confirmed_once() {
    let sandbox = Sandbox::new();
    for (number, (point, crash)) in CONFIRM.points().into_iter().enumerate() {
        let died = Died::while_booking(&sandbox, number, &point, "pm_ok").await;
        if crash.retry == Retry::PendingThenReservation {
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
    for (number, (point, crash)) in FAIL_ATTEMPT.points().into_iter().enumerate() {
        let died = Died::while_booking(&sandbox, number, &point, "pm_declined").await;
        if crash.retry == Retry::PendingThenDeclined {
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
    for (number, (point, _)) in EXPIRE_HOLD.points().into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&point).await;
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
    for (number, (point, crash)) in CANCEL.points().into_iter().enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&point).await;
        let guest = Guest::new(&base_url).await.number(number);
        let hold = guest.hold(&guest.quote().await).await;
        let booked = body(guest.book(&hold).await.expect("an answer"), StatusCode::CREATED).await;
        let (reservation, attempt) = (id(&booked["reservation"]), id(&booked));
        guest.try_cancel(&reservation).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let guest = guest.at(&base_url);
        let survived = crash.leaves == Leaves::CancelledReservation;
        assert_eq!(
            sandbox.claimed(&base_url, guest.first_night()).await,
            (0, u64::from(!survived)),
            "{point}"
        );
        sandbox.must_verify().await;
        let retried = guest.try_cancel(&reservation).await.expect("an answer");
        let replayed = retried.headers().contains_key("idempotency-replayed");
        assert_eq!(replayed, crash.retry == Retry::Original, "{point}");
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

/// The balance of a deposit: the collector dies at every point of opening its attempt, before and after asking
/// the provider, and at every point of writing down the answer. It is taken once all the same.
#[tokio::test]
async fn a_balance_whose_collection_dies_at_any_point_is_taken_once() {
    let sandbox = Sandbox::new();
    let of_opening = POINTS.map(|point| format!("open_charge.{point}"));
    // The deposit was the first to pass these.
    let of_paying = [
        "pay.before_provider:2",
        "pay.after_provider:2",
        "confirm.after_rows_written:2",
        "confirm.after_commit:2",
    ];
    for (number, point) in of_opening.into_iter().chain(of_paying.map(str::to_owned)).enumerate() {
        let (process, base_url) = sandbox.start_dying_at(&point).await;
        let guest = Guest::new(&base_url).await.number(2 * number);
        let hold = guest.hold(&guest.quote_of("DEPOSIT").await).await;
        let booked = body(guest.book(&hold).await.expect("an answer"), StatusCode::CREATED).await;
        let reservation = format!("/v1/reservations/{}", id(&booked["reservation"]));
        assert_eq!(guest.get(&reservation).await["schedule"][1]["state"], "DUE", "{point}");
        let due = Utc.from_utc_datetime(&(guest.first_night() - Days::new(8)).and_time(BALANCE_DUE));
        sandbox.try_advance_to(&base_url, due).await.expect_err("the process has died");
        process.has_aborted().await;

        let (process, base_url) = sandbox.start(&[]).await;
        let guest = guest.at(&base_url);
        sandbox.must_verify().await;
        // Past the deadline of what was asked, and where nothing was taken, on the next day.
        sandbox.advance(&base_url, PAST_DEADLINE_S).await;
        sandbox.advance(&base_url, 24 * 3600 + 1).await;
        assert_eq!(guest.get(&reservation).await["schedule"][1]["state"], "PAID", "{point}");
        sandbox.must_verify().await;
        process.stop_cleanly().await;
    }
}

/// The capture arrives when the hold has gone and the night is closed; the sweep, or the sender of the refund,
/// dies over it.
#[tokio::test]
async fn a_late_capture_goes_back_once_wherever_its_refund_dies() {
    let sandbox = Sandbox::new();
    let points = GIVE_UP_BOOKING.points().into_iter().chain(SETTLE_REFUND.points());
    for (number, (point, crash)) in points.enumerate() {
        let late = Late::capture(&sandbox, number, &point, true).await;
        let failed = late.guest.book_with(&late.hold, "pm_slow").await.expect("an answer");
        let failed = body(failed, StatusCode::CONFLICT).await;
        assert_eq!(
            (&failed["code"], &failed["refund"]["state"]),
            (&json!("BOOKING_FAILED"), &json!("SUCCEEDED"))
        );
        assert_eq!(refunds(&late.base_url, &late.attempt).await, 1, "{point}");
        let asked = late.asked("refund").await;
        let times = if crash.again == Again::RefundBySameName { 2 } else { 1 };
        assert_eq!(asked, vec![format!("{}-refund-1-1", late.attempt); times], "{point}");
        late.ends_with((0, 0)).await;
    }
}

/// The nights are still free: the rooms are taken again, and the process dies over that.
#[tokio::test]
async fn a_late_capture_gets_its_rooms_once_wherever_their_allocation_dies() {
    let sandbox = Sandbox::new();
    for (number, (point, _)) in ALLOCATE_ANEW.points().into_iter().enumerate() {
        let late = Late::capture(&sandbox, number, &point, false).await;
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

    /// By which names the provider was asked for this.
    async fn asked(&self, call: &str) -> Vec<String> {
        let path = format!("/v1/ops/bookings/{}/timeline?limit=100", self.attempt);
        let timeline = self.sandbox.operator(&self.base_url).get(&path).await;
        let items = timeline["items"].as_array().expect("items").iter();
        items.filter(|item| item["call"] == call).map(|item| text(&item["reference"])).collect()
    }

    async fn ends_with(self, claimed: (u64, u64)) {
        assert_eq!(self.sandbox.claimed(&self.base_url, self.guest.first_night()).await, claimed);
        self.sandbox.must_verify().await;
        self.process.stop_cleanly().await;
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
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
pub(crate) async fn release_capture(base_url: &str, attempt: &str) {
    let release = json!({ "reference": format!("{attempt}-capture") });
    let released = Guest::with_token(base_url, "none").post("/simulator/release", "none", &release).await;
    let status = released.expect("an answer").status();
    assert!([StatusCode::OK, StatusCode::CONFLICT].contains(&status), "{status}");
}
