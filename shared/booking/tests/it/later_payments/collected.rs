//! Booking with a schedule, and collecting it.

use futures::future::join_all;
use keyrack_booking::{collect_charge, paid_at_desk::PaidAtDeskError, reconcile, views::Standing};
use keyrack_domain::{
    policy::PaymentPolicy,
    reservation::ReservationState,
    schedule::{ChargeState, DueKind},
};
use keyrack_testkit::Gates;

use super::{
    BALANCE_DUE, FREE, STAY, book, charge, charges, collect, kept_by_the_provider, paid_at_desk, pay_with,
    shown, world, world_with,
};
use crate::{
    desk_world::DeskWorld,
    world::{fresh_key, guest},
};

#[tokio::test]
async fn a_deposit_is_paid_at_booking_and_its_balance_on_its_day_each_once() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let booked = book(&at, &guest, 1, "pm_ok").await;
    assert_eq!(kept_by_the_provider(&at), 436_800);
    let deposit = charge(DueKind::Deposit, "4368.00", ChargeState::Paid);
    let balance = |state| charge(DueKind::Balance, "10192.00", state);
    assert_eq!(charges(&at, &guest, booked.id).await, [deposit.clone(), balance(ChargeState::Due)]);
    at.verify().await;
    at.world.clock("2026-11-06T18:29:59Z").await;
    assert_eq!(collect(&at).await.taken, 0, "not yet");
    at.world.clock("2026-11-06T18:30:01Z").await;
    assert_eq!(collect(&at).await.asked, 1);
    assert_eq!(collect(&at).await.taken, 0);
    assert_eq!((at.captures(), kept_by_the_provider(&at)), (2, 1_456_000));
    assert_eq!(charges(&at, &guest, booked.id).await, [deposit, balance(ChargeState::Paid)]);
    assert_eq!(at.count("payment_attempts WHERE purpose = 'deposit' AND state = 'CONFIRMED'").await, 1);
    assert_eq!(at.count("outbox WHERE type = 'charge.paid'").await, 1);
    assert_eq!(shown(&at, &guest, booked.id).await.version, 1);
    at.verify().await;
}

#[tokio::test]
async fn a_stay_that_is_paid_at_the_property_asks_the_provider_for_nothing() {
    let at = world(PaymentPolicy::AtProperty).await;
    let guest = guest();
    // Kept as a guarantee; nobody asks it anything.
    let booked = book(&at, &guest, 1, "pm_declined").await;
    let at_property = |state| charge(DueKind::AtProperty, "14560.00", state);
    assert_eq!(charges(&at, &guest, booked.id).await, [at_property(ChargeState::Due)]);
    at.verify().await;
    at.world.clock("2026-11-14T06:00:00Z").await;
    assert_eq!(collect(&at).await.taken, 0, "the hotel takes it itself");
    assert!(at.simulator.simulator().charges("", None, 10).is_empty());
    paid_at_desk(&at, booked.id, 1).await.expect("the desk says so");
    let twice = paid_at_desk(&at, booked.id, 1).await;
    assert!(matches!(twice, Err(PaidAtDeskError::NotOwed(ChargeState::Paid))), "{twice:?}");
    let other = paid_at_desk(&at, booked.id, 2).await;
    assert!(matches!(other, Err(PaidAtDeskError::NotFound)), "{other:?}");
    assert_eq!(charges(&at, &guest, booked.id).await, [at_property(ChargeState::Paid)]);
    assert_eq!(at.count("audit WHERE action = 'charge.paid'").await, 1);
    at.verify().await;
}

#[tokio::test]
async fn a_booking_within_the_days_of_the_balance_pays_everything_at_once() {
    let at = world(PaymentPolicy::Deposit).await;
    at.world.clock("2026-11-08T00:00:00Z").await;
    let guest = guest();
    let booked = book(&at, &guest, 1, "pm_ok").await;
    assert_eq!(kept_by_the_provider(&at), 1_456_000);
    let all = charge(DueKind::Prepayment, "14560.00", ChargeState::Paid);
    assert_eq!(charges(&at, &guest, booked.id).await, [all]);
    at.verify().await;
}

/// The same key again: the booking as it is, and nothing is asked or written a second time.
#[tokio::test]
async fn a_repeated_booking_without_a_payment_is_the_same_booking() {
    let at = world(PaymentPolicy::AtProperty).await;
    let guest = guest();
    let hold = at.hold(&guest, STAY).await;
    let key = fresh_key();
    let first = at.try_pay(&guest, hold.id, "pm_ok", key.clone()).await.expect("booked");
    let again = at.try_pay(&guest, hold.id, "pm_ok", key).await.expect("booked");
    assert!(!first.replayed && again.replayed);
    assert_eq!(first.answer, again.answer);
    assert!(first.answer.amount.is_zero());
    assert_eq!((at.count("reservations").await, at.count("scheduled_charges").await), (1, 1));
    at.verify().await;
}

/// The process dies between the attempt and its confirmation; nobody is asked, and the sweep books it.
#[tokio::test]
async fn a_booking_of_nothing_that_was_cut_off_is_ended_by_the_sweep() {
    for (hold_lives, booked) in [(true, 1), (false, 0)] {
        let gates = Gates::new();
        let at = world_with(PaymentPolicy::AtProperty, gates.points()).await;
        let guest = guest();
        let hold = at.hold(&guest, STAY).await;
        let mut gate = gates.close("confirm.after_read");
        let paying = at.pay(&guest, hold.id, "pm_ok");
        let cut = async {
            gate.reached().await;
            at.advance(if hold_lives { 121 } else { 601 }).await;
            if !hold_lives {
                assert_eq!(at.expire().await.expired, 1);
            }
            at.settle_money().await;
            gate.open();
        };
        let (view, ()) = tokio::join!(paying, cut);
        let done = matches!(view.standing, Standing::Confirmed(_));
        assert_eq!(done, hold_lives, "{view:?}");
        assert_eq!((at.count("reservations").await, at.count("refunds").await), (booked, 0));
        assert!(at.simulator.simulator().charges("", None, 10).is_empty());
        at.verify().await;
    }
}

#[tokio::test]
async fn collectors_at_once_take_a_balance_once() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    for _ in 0..3 {
        book(&at, &guest, 1, "pm_ok").await;
    }
    at.world.clock("2026-11-06T18:30:01Z").await;
    let asked: usize = join_all((0..5).map(|_| collect(&at))).await.iter().map(|done| done.asked).sum();
    assert_eq!((asked, at.captures(), kept_by_the_provider(&at)), (3, 6, 3 * 1_456_000));
    at.verify().await;
}

/// Declined on its day and on the next two; then it is the staff's, and the stay stands all the same.
#[tokio::test]
async fn a_declined_balance_is_tried_on_later_days_and_then_left_to_the_staff() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let booked = book(&at, &guest, 1, "pm_ok").await;
    pay_with(&at, "pm_declined").await;
    at.world.clock("2026-11-06T18:30:01Z").await;
    for days in 1..=3 {
        assert_eq!(collect(&at).await.asked, 1, "day {days}");
        let failed = charge(DueKind::Balance, "10192.00", ChargeState::Failed);
        assert_eq!(charges(&at, &guest, booked.id).await[1], failed);
        assert_eq!(collect(&at).await.taken, 0, "not on the same day");
        at.verify().await;
        at.advance(24 * 3600 + 1).await;
    }
    assert_eq!(collect(&at).await.taken, 0);
    assert_eq!(collect_charge::given_up(at.ledger()).await.expect("a count"), 1);
    assert_eq!(at.count("payment_attempts WHERE purpose = 'deposit' AND state = 'FAILED'").await, 3);
    assert_eq!(shown(&at, &guest, booked.id).await.state, ReservationState::Confirmed);
    paid_at_desk(&at, booked.id, 2).await.expect("in cash");
    assert_eq!(collect_charge::given_up(at.ledger()).await.expect("a count"), 0);
    assert_eq!(kept_by_the_provider(&at), 436_800);
    at.verify().await;
}

/// The answer is lost after the capture, or the request before it.
#[tokio::test]
async fn a_balance_whose_answer_was_lost_is_found_and_never_taken_twice() {
    for (method, captures) in [("pm_lost_response", 2), ("pm_timeout", 1)] {
        let settings = keyrack_booking::Settings {
            horizon: crate::world::HORIZON,
            provider_deadline: std::time::Duration::from_secs(2),
            ..keyrack_booking::Settings::default()
        };
        let hotel = super::hotel(PaymentPolicy::Deposit);
        let at = DeskWorld::of(hotel, keyrack_db::Points::default(), settings).await;
        let guest = guest();
        let booked = book(&at, &guest, 1, "pm_ok").await;
        pay_with(&at, method).await;
        at.world.clock("2026-11-06T18:30:01Z").await;
        assert_eq!(collect(&at).await.asked, 1);
        let in_flight = paid_at_desk(&at, booked.id, 2).await;
        assert!(matches!(in_flight, Err(PaidAtDeskError::InProgress(_))), "{in_flight:?}");
        at.verify().await;
        assert_eq!(collect(&at).await.taken, 0, "one attempt at a time");
        at.advance(121).await;
        at.settle_money().await;
        assert_eq!(at.captures(), captures, "{method}");
        let state = if captures == 2 { ChargeState::Paid } else { ChargeState::Failed };
        assert_eq!(charges(&at, &guest, booked.id).await[1].2, state, "{method}");
        at.verify().await;
        pay_with(&at, "pm_ok").await;
        at.advance(24 * 3600).await;
        collect(&at).await;
        assert_eq!((at.captures(), kept_by_the_provider(&at)), (2, 1_456_000), "{method}");
        at.verify().await;
    }
}

/// Authorized, and the collector dies: the sweep goes on with it while the charge is owed.
#[tokio::test]
async fn a_collector_that_dies_after_asking_leaves_its_charge_to_the_sweep() {
    for point in ["pay.before_provider", "pay.after_provider"] {
        let gates = Gates::new();
        let at = world_with(PaymentPolicy::Deposit, gates.points()).await;
        let guest = guest();
        let booked = book(&at, &guest, 1, "pm_ok").await;
        at.world.clock("2026-11-06T18:30:01Z").await;
        let mut gate = gates.close(point);
        {
            let collecting = collect(&at);
            tokio::pin!(collecting);
            tokio::select! {
                done = &mut collecting => panic!("it went past {point}: {done:?}"),
                () = gate.reached() => {}
            }
        }
        assert_eq!(collect(&at).await.taken, 0, "{point}");
        at.advance(121).await;
        at.settle_money().await;
        let swept = reconcile::run_once(&at.desk, at.ledger()).await.expect("the sweep runs");
        assert_eq!(swept.taken, 0, "{point}");
        at.verify().await;
        at.advance(24 * 3600).await;
        collect(&at).await;
        assert_eq!(charges(&at, &guest, booked.id).await[1].2, ChargeState::Paid, "{point}");
        assert_eq!((at.captures(), kept_by_the_provider(&at)), (2, 1_456_000), "{point}");
        at.verify().await;
    }
}

#[tokio::test]
async fn another_amount_than_the_balance_goes_back_and_the_balance_stays_owed() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let booked = book(&at, &guest, 1, "pm_ok").await;
    pay_with(&at, "pm_wrong_amount").await;
    at.world.clock("2026-11-06T18:30:01Z").await;
    collect(&at).await;
    at.advance(121).await;
    at.settle_money().await;
    assert_eq!(charges(&at, &guest, booked.id).await[1].2, ChargeState::Failed);
    assert_eq!(kept_by_the_provider(&at), 436_800);
    at.verify().await;
}

/// The promise is the quote's: a plan that is edited meanwhile changes nothing of it.
#[tokio::test]
async fn the_schedule_of_a_quote_is_frozen_with_its_price() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let quote = at.quote(&guest, STAY).await;
    at.database()
        .execute("UPDATE rate_plans SET deposit = jsonb_set(deposit, '{balance_due_days_before}', '90')")
        .await;
    let hold = at.hold_quote(&guest, quote, fresh_key()).await.expect("a hold").answer;
    let booking = at.pay(&guest, hold.id, "pm_ok").await;
    let Standing::Confirmed(booked) = booking.standing else { panic!("{booking:?}") };
    assert_eq!(booked.schedule[1].due_at, crate::world::at(BALANCE_DUE));
    at.world.clock(FREE).await;
    assert_eq!(collect(&at).await.taken, 0);
    at.verify().await;
}
