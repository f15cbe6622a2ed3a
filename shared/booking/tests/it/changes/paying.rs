//! Changes whose way goes wrong: at the payment, under a cancellation, at the commit.

use std::time::Duration;

use keyrack_booking::{
    Settings,
    change_guest::{self, ChangeGuest},
    change_stay::{self, ConfirmChangeError, Confirmed},
};
use keyrack_db::Points;
use keyrack_domain::{
    change::ChangeState,
    guest::{Guest, GuestDetails},
    ids::ReservationId,
    principal::Caller,
    reservation::ReservationState,
};
use keyrack_payment_simulator::{Decided, State};
use keyrack_testkit::{Fault, Gates};
use tokio::runtime::Handle;

use super::{STAY, book, cancel, confirm, confirmation, dates, price, shown, state};
use crate::{
    desk_world::DeskWorld,
    disconnects::{COMMIT, through_a_proxy},
    world::{HORIZON, fresh_key, guest, key},
};

#[tokio::test]
async fn a_declined_card_leaves_the_stay_and_another_one_may_pay() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    let request = |method, name| confirmation(&change, Some(method), 1, key(name));
    let declined = change_stay::confirm(&at.desk, &guest, request("pm_declined", "A")).await.expect("told");
    assert!(matches!(declined.answer, Confirmed::Declined { .. }), "{declined:?}");
    assert_eq!(at.counters("2026-11-16").await, (5, 0, 0), "what was held has gone back");
    assert_eq!(
        (state(&at, &guest, &change).await, shown(&at, &guest, booked.id).await.version),
        (ChangeState::Priced, 1)
    );
    at.verify().await;
    let paid = change_stay::confirm(&at.desk, &guest, request("pm_ok", "B")).await.expect("told");
    assert!(matches!(paid.answer, Confirmed::Changed(_)), "{paid:?}");
    // The first call is still told what became of it.
    let again = change_stay::confirm(&at.desk, &guest, request("pm_declined", "A")).await.expect("told");
    assert!(again.replayed && matches!(again.answer, Confirmed::Declined { .. }), "{again:?}");
    let again = change_stay::confirm(&at.desk, &guest, request("pm_ok", "B")).await.expect("told");
    assert!(again.replayed && matches!(again.answer, Confirmed::Changed(_)), "{again:?}");
    assert_eq!((at.captures(), at.counters("2026-11-16").await), (2, (5, 0, 1)));
    at.verify().await;
}

/// The provider has taken the difference and its answer is lost: the resolver finds it and changes the stay.
#[tokio::test]
async fn b077_a_lost_answer_of_the_provider_ends_in_the_changed_stay() {
    let at = DeskWorld::impatient(Gates::new().points()).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    let pending = confirm(&at, &guest, &change, Some("pm_lost_response"), 1).await.expect("told").answer;
    assert!(matches!(pending, Confirmed::Pending { .. }), "{pending:?}");
    assert_eq!(
        (at.counters("2026-11-16").await, shown(&at, &guest, booked.id).await.version),
        ((5, 1, 0), 1)
    );
    // A second change has to wait; the stay itself does not.
    let other = price(&at, &guest, dates(booked.id, ("2026-11-15", "2026-11-16"), 1)).await;
    let refused = confirm(&at, &guest, &other, None, 1).await;
    assert!(matches!(refused, Err(ConfirmChangeError::InProgress(id)) if id == change.id), "{refused:?}");
    at.advance(121).await;
    at.settle_money().await;
    assert_eq!(state(&at, &guest, &change).await, ChangeState::Completed);
    assert_eq!((at.counters("2026-11-16").await, at.captures()), ((5, 0, 1), 2));
    at.verify().await;
    let stale = confirm(&at, &guest, &other, None, 1).await;
    assert!(matches!(stale, Err(ConfirmChangeError::Stale(2, _))), "{stale:?}");
}

#[tokio::test]
async fn b077_a_payment_that_never_arrived_leaves_the_stay_and_nothing_held() {
    let at = DeskWorld::impatient(Gates::new().points()).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    let pending = confirm(&at, &guest, &change, Some("pm_timeout"), 1).await.expect("told").answer;
    assert!(matches!(pending, Confirmed::Pending { .. }), "{pending:?}");
    at.advance(121).await;
    at.settle_money().await;
    assert_eq!((state(&at, &guest, &change).await, at.captures()), (ChangeState::Priced, 1));
    assert_eq!(
        (at.counters("2026-11-16").await, shown(&at, &guest, booked.id).await.version),
        ((5, 0, 0), 1)
    );
    at.verify().await;
}

/// A payment may take longer than a hold lasts: what the change holds waits for it.
#[tokio::test]
async fn what_a_change_holds_waits_for_a_payment_that_outlasts_it() {
    let settings = Settings {
        horizon: HORIZON,
        auth_timeout: Duration::from_secs(900),
        provider_deadline: Duration::from_secs(2),
        ..Settings::default()
    };
    let at = DeskWorld::with(Points::default(), settings).await;
    at.sellable(("2026-11-16", "2026-11-17"), 1).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    let pending = confirm(&at, &guest, &change, Some("pm_slow"), 1).await.expect("told").answer;
    let Confirmed::Pending { attempt, .. } = pending else { panic!("{pending:?}") };
    at.advance(601).await;
    assert_eq!(at.expire().await.looked_at, 0);
    assert_eq!(at.counters("2026-11-16").await, (1, 1, 0));
    at.let_captured(attempt).await;
    at.advance(300).await;
    at.settle_money().await;
    assert_eq!(state(&at, &guest, &change).await, ChangeState::Completed);
    assert_eq!((at.counters("2026-11-16").await, at.count("refunds").await), ((1, 0, 1), 0));
    at.verify().await;
}

/// The hold of what it adds has ended and somebody else has the night: the capture that comes late goes back.
#[tokio::test]
async fn a_late_capture_of_a_change_goes_back_and_nobody_elses_night_is_touched() {
    let at = DeskWorld::impatient(Gates::new().points()).await;
    at.sellable(("2026-11-16", "2026-11-17"), 1).await;
    let (first, second) = (guest(), guest());
    let booked = book(&at, &first, STAY, 1).await;
    let change = price(&at, &first, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    let pending = confirm(&at, &first, &change, Some("pm_slow"), 1).await.expect("told").answer;
    let Confirmed::Pending { attempt, .. } = pending else { panic!("{pending:?}") };
    at.advance(601).await;
    assert_eq!(at.expire().await.expired, 1);
    let taken = book(&at, &second, ("2026-11-16", "2026-11-17"), 1).await;
    at.let_captured(attempt).await;
    at.settle_money().await;
    assert_eq!(
        (state(&at, &first, &change).await, at.counters("2026-11-16").await),
        (ChangeState::Failed, (1, 0, 1))
    );
    assert_eq!(shown(&at, &first, booked.id).await.version, 1);
    assert_eq!(shown(&at, &second, taken.id).await.state, ReservationState::Confirmed);
    let refund = at.database().value("SELECT json_build_array(state, amount::text) FROM refunds").await;
    assert_eq!(refund, serde_json::json!(["SUCCEEDED", "7280.000"]));
    at.verify().await;
}

/// The stay is cancelled while its change is being paid for: the cancellation stands, and the difference goes
/// back.
#[tokio::test]
async fn a_stay_that_is_cancelled_under_its_change_stays_cancelled() {
    let gates = Gates::new();
    let at = DeskWorld::with_points(gates.points()).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    let mut gate = gates.close("pay.after_provider");
    let paying = Handle::current().spawn({
        let (desk, guest) = (at.desk.clone(), guest.clone());
        let request = confirmation(&change, Some("pm_ok"), 1, key("K"));
        async move { change_stay::confirm(&desk, &guest, request).await }
    });
    gate.reached().await;
    cancel(&at, &guest, booked.id, 1).await;
    gate.open();
    let pending = paying.await.expect("it runs").expect("told").answer;
    assert!(matches!(pending, Confirmed::Pending { .. }), "{pending:?}");
    at.settle_money().await;
    let failed =
        change_stay::confirm(&at.desk, &guest, confirmation(&change, Some("pm_ok"), 1, key("K"))).await;
    let failed = failed.expect("told");
    assert!(failed.replayed && matches!(failed.answer, Confirmed::Failed { .. }), "{failed:?}");
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!((after.state, after.version), (ReservationState::Cancelled, 2));
    for night in ["2026-11-14", "2026-11-15", "2026-11-16"] {
        assert_eq!(at.counters(night).await, (5, 0, 0), "{night}");
    }
    assert_eq!(at.count("refunds WHERE state = 'SUCCEEDED'").await, 2);
    at.verify().await;
}

/// It is cancelled or changed while its customer is on the bank's page: what they agree to there is not taken at
/// all.
#[tokio::test]
async fn a_payment_that_is_only_authorized_when_its_change_is_overtaken_is_let_go() {
    for cancelled in [true, false] {
        let at = DeskWorld::new().await;
        let guest = guest();
        let booked = book(&at, &guest, STAY, 1).await;
        let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
        let pending = confirm(&at, &guest, &change, Some("pm_3ds"), 1).await.expect("told").answer;
        let Confirmed::Pending { attempt, .. } = pending else { panic!("{pending:?}") };
        if cancelled {
            cancel(&at, &guest, booked.id, 1).await;
        } else {
            rename(&at, &guest, booked.id).await;
        }
        let authorization = format!("{attempt}-auth").try_into().expect("a reference");
        assert!(matches!(at.simulator.simulator().decide(&authorization, true).await, Decided::Now(_)));
        at.advance(301).await;
        at.settle_money().await;
        assert_eq!(at.charge(attempt, "auth").expect("it was asked for").state, State::Voided);
        assert_eq!((at.captures(), at.count("refunds").await), (1, i64::from(cancelled)));
        assert_eq!(at.count("payment_attempts WHERE state = 'FAILED'").await, 1);
        assert_eq!(at.counters("2026-11-16").await, (5, 0, 0), "what was held has gone back");
        assert_eq!(shown(&at, &guest, booked.id).await.version, 2);
        at.verify().await;
    }
}

async fn rename(at: &DeskWorld, guest: &Caller, reservation: ReservationId) {
    let details = GuestDetails { name: "Asha Rao-Sen".to_owned(), ..GuestDetails::default() };
    let guest_after = Guest::new(details).expect("a guest");
    let request = ChangeGuest { reservation, guest: guest_after, if_match: 1, key: fresh_key() };
    change_guest::run(&at.desk, guest, request).await.expect("changed");
}

/// B050: the answer of the COMMIT is lost; the caller gets the original answer, and nothing happens twice.
#[tokio::test]
async fn b050_a_change_whose_commit_is_not_answered_is_told_once() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-15"), 1)).await;
    let (desk, proxy) = through_a_proxy(&at, Gates::new().points()).await;
    let fired = proxy.arm(Fault::LoseAnswer(COMMIT.to_vec()));
    let changed = change_stay::confirm(&desk, &guest, confirmation(&change, None, 1, key("K"))).await;
    fired.wait().await;
    let changed = changed.expect("the truth");
    assert!(!changed.replayed && matches!(changed.answer, Confirmed::Changed(_)), "{changed:?}");
    assert_eq!((at.count("refunds").await, at.counters("2026-11-15").await), (1, (5, 0, 0)));
    at.settle_money().await;
    at.verify().await;
}
