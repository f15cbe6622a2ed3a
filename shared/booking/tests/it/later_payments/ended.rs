//! Cancellations and no-shows of stays that are not paid, or in part.

use keyrack_booking::{
    cancel::{preview, price::Wanted},
    front_desk::operation::Step,
    staff_refund::{self, StaffRefund},
};
use keyrack_domain::{
    policy::PaymentPolicy,
    reservation::ReservationState,
    schedule::{ChargeState, DueKind},
};
use keyrack_testkit::Gates;

use super::{
    FREE, FULL, HALF, MISSED, book, cancel, charge, charges, collect, kept_by_the_provider, paid_at_desk,
    pay_with, shown, step, world, world_with,
};
use crate::world::{fresh_key, guest};

/// B066, B104: what goes back and what is due are worked out of the price itself, and together with what was paid
/// they are exactly the penalty. The preview tells what the cancellation does.
#[tokio::test]
async fn b066_b104_more_paid_than_kept_goes_back_and_less_is_charged() {
    let cases = [
        (PaymentPolicy::Deposit, FREE, "4368.00", "0.00", 0),
        (PaymentPolicy::Deposit, HALF, "0.00", "2912.00", 728_000),
        (PaymentPolicy::Deposit, FULL, "0.00", "10192.00", 1_456_000),
        (PaymentPolicy::AtProperty, FREE, "0.00", "0.00", 0),
        (PaymentPolicy::AtProperty, HALF, "0.00", "7280.00", 728_000),
        (PaymentPolicy::AtProperty, FULL, "0.00", "14560.00", 1_456_000),
    ];
    for (payment, when, refund, due, kept) in cases {
        let at = world(payment).await;
        let guest = guest();
        let booked = book(&at, &guest, 1, "pm_ok").await;
        at.world.clock(when).await;
        let preview = preview(&at.desk, &guest, booked.id).await.expect("read").expect("there");
        let done = cancel(&at, &guest, booked.id, Wanted::Whole, 1).await;
        let told = (done.refund.to_string(), done.due.expect("told").to_string());
        assert_eq!(told, (refund.to_owned(), due.to_owned()), "{payment:?} {when}");
        assert_eq!((preview.refund, Some(preview.due)), (done.refund, done.due), "{payment:?} {when}");
        at.verify().await;
        collect(&at).await;
        at.settle_money().await;
        assert_eq!(collect(&at).await.taken, 0, "{payment:?} {when}");
        assert_eq!(kept_by_the_provider(&at), kept, "{payment:?} {when}");
        let owed = charges(&at, &guest, booked.id).await;
        assert!(!owed.iter().any(|(.., state)| state.is_owed()), "{owed:?}");
        let penalties = i64::from(due != "0.00");
        assert_eq!(at.count("payment_attempts WHERE purpose = 'penalty'").await, penalties);
        at.verify().await;
        // Once more, by another click: the same, and nothing more is charged.
        let again = cancel(&at, &guest, booked.id, Wanted::Whole, 1).await;
        assert_eq!((again.refund, again.due), (done.refund, done.due), "{payment:?} {when}");
        assert_eq!(collect(&at).await.taken, 0);
    }
}

/// B065: the fee is given back as goodwill. Nobody asks for it again, and nothing changes its state.
#[tokio::test]
async fn b065_a_fee_given_back_as_goodwill_is_not_charged_again() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let booked = book(&at, &guest, 1, "pm_ok").await;
    let goodwill = async |amount: &str| {
        let request = StaffRefund {
            hotel: at.hotel.clone(),
            reservation: booked.id,
            amount: amount.to_owned(),
            reason: "goodwill".to_owned(),
            key: fresh_key(),
        };
        staff_refund::run(&at.desk, &at.world.operator, request).await.expect("goodwill");
    };
    // Before the cancellation too: what was given back of the deposit is not part of what is due.
    goodwill("368.00").await;
    at.world.clock(HALF).await;
    let done = cancel(&at, &guest, booked.id, Wanted::Whole, 1).await;
    assert_eq!(done.due.expect("told").to_string(), "2912.00");
    collect(&at).await;
    assert_eq!(at.captures(), 2);
    goodwill("6912.00").await;
    // Neither goodwill is told as what the cancellation gave back.
    assert_eq!(cancel(&at, &guest, booked.id, Wanted::Whole, 1).await, done);
    at.settle_money().await;
    at.advance(7 * 24 * 3600).await;
    assert_eq!(collect(&at).await.taken, 0);
    assert_eq!((at.captures(), kept_by_the_provider(&at)), (2, 0));
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!((after.state, after.version), (ReservationState::Cancelled, 2));
    assert_eq!(after.refunds.len(), 3);
    at.verify().await;
}

/// B069: rooms one by one. The balance falls with a free one and not with a full one.
#[tokio::test]
async fn b069_rooms_are_cancelled_one_by_one_and_the_balance_follows() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let booked = book(&at, &guest, 3, "pm_ok").await;
    let balance = |amount: &str, state| charge(DueKind::Balance, amount, state);
    assert_eq!(charges(&at, &guest, booked.id).await[1], balance("30576.00", ChargeState::Due));
    at.world.clock(FREE).await;
    let first = cancel(&at, &guest, booked.id, Wanted::Room(2), 1).await;
    assert_eq!((first.refund.is_zero(), first.due.expect("told").is_zero()), (true, true));
    assert_eq!(charges(&at, &guest, booked.id).await[1], balance("16016.00", ChargeState::Due));
    at.verify().await;
    at.world.clock(HALF).await;
    let second = cancel(&at, &guest, booked.id, Wanted::Room(1), 2).await;
    assert_eq!(
        (second.state, second.penalty.to_string()),
        (ReservationState::Confirmed, "7280.00".to_owned())
    );
    let again = cancel(&at, &guest, booked.id, Wanted::Room(2), 1).await;
    assert_eq!(again.rooms, first.rooms);
    at.world.clock("2026-11-06T18:30:01Z").await;
    collect(&at).await;
    assert_eq!(charges(&at, &guest, booked.id).await[1], balance("8736.00", ChargeState::Paid));
    assert_eq!(kept_by_the_provider(&at), 2_184_000);
    at.verify().await;
    let last = cancel(&at, &guest, booked.id, Wanted::Whole, 3).await;
    assert_eq!((last.state, last.refund.to_string()), (ReservationState::Cancelled, "7280.00".to_owned()));
    at.settle_money().await;
    assert_eq!(kept_by_the_provider(&at), 1_456_000);
    at.verify().await;
}

/// The guest cancels while the balance is being taken: what it takes goes back, and the penalty is charged once.
#[tokio::test]
async fn a_balance_taken_while_its_stay_is_cancelled_goes_back() {
    for point in ["pay.before_provider", "pay.after_provider", "confirm.after_read"] {
        for (rooms, wanted, kept) in [(1, Wanted::Whole, 728_000), (2, Wanted::Room(2), 2_184_000)] {
            let gates = Gates::new();
            let at = world_with(PaymentPolicy::Deposit, gates.points()).await;
            let guest = guest();
            let booked = book(&at, &guest, rooms, "pm_ok").await;
            at.world.clock("2026-11-06T18:30:01Z").await;
            let mut gate = gates.close(point);
            let cancelling = async {
                gate.reached().await;
                let done = cancel(&at, &guest, booked.id, wanted, 1).await;
                assert!(done.refund.is_zero(), "{done:?}");
                at.verify().await;
                gate.open();
            };
            tokio::join!(collect(&at), cancelling);
            at.settle_money().await;
            at.verify().await;
            collect(&at).await;
            at.settle_money().await;
            assert_eq!(kept_by_the_provider(&at), kept, "{point} {rooms}");
            assert_eq!(at.count("payment_attempts WHERE state = 'REFUNDED'").await, 1, "{point} {rooms}");
            at.verify().await;
        }
    }
}

/// Asked for and lost, then cancelled: the sweep finds the capture and gives it back.
#[tokio::test]
async fn a_lost_capture_of_a_cancelled_stay_goes_back() {
    let settings = keyrack_booking::Settings {
        horizon: crate::world::HORIZON,
        provider_deadline: std::time::Duration::from_secs(2),
        ..keyrack_booking::Settings::default()
    };
    let hotel = super::hotel(PaymentPolicy::Deposit);
    let at = crate::desk_world::DeskWorld::of(hotel, keyrack_db::Points::default(), settings).await;
    let guest = guest();
    let booked = book(&at, &guest, 1, "pm_ok").await;
    pay_with(&at, "pm_lost_response").await;
    at.world.clock("2026-11-06T18:30:01Z").await;
    collect(&at).await;
    let done = cancel(&at, &guest, booked.id, Wanted::Whole, 1).await;
    assert_eq!(done.due.expect("told").to_string(), "2912.00");
    pay_with(&at, "pm_ok").await;
    collect(&at).await;
    at.advance(121).await;
    at.settle_money().await;
    assert_eq!((at.captures(), kept_by_the_provider(&at)), (3, 728_000));
    at.verify().await;
}

#[tokio::test]
async fn a_no_show_pays_the_whole_price_and_one_that_comes_after_all_pays_at_the_property() {
    let at = world(PaymentPolicy::AtProperty).await;
    let (missing, late) = (guest(), guest());
    let (missed, came) = (book(&at, &missing, 1, "pm_ok").await, book(&at, &late, 1, "pm_ok").await);
    at.world.clock(MISSED).await;
    step(&at, missed.id, Step::NoShow).await;
    step(&at, came.id, Step::NoShow).await;
    step(&at, came.id, Step::UndoNoShow).await;
    at.verify().await;
    assert_eq!(collect(&at).await.asked, 1);
    let waived = charge(DueKind::AtProperty, "14560.00", ChargeState::Waived);
    let penalty = |state| charge(DueKind::Penalty, "14560.00", state);
    assert_eq!(charges(&at, &missing, missed.id).await, [waived.clone(), penalty(ChargeState::Paid)]);
    let at_property = |state| charge(DueKind::AtProperty, "14560.00", state);
    assert_eq!(
        charges(&at, &late, came.id).await,
        [waived, penalty(ChargeState::Waived), at_property(ChargeState::Due)]
    );
    paid_at_desk(&at, came.id, 3).await.expect("at the desk");
    assert_eq!(kept_by_the_provider(&at), 1_456_000);
    at.verify().await;
    // The other one comes too, and has paid.
    step(&at, missed.id, Step::UndoNoShow).await;
    assert_eq!(collect(&at).await.taken, 0);
    at.verify().await;
}

/// Its balance could not be collected: the no-show owes it still, and it is tried anew.
#[tokio::test]
async fn a_no_show_with_a_failed_balance_is_charged_what_is_missing() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let booked = book(&at, &guest, 1, "pm_ok").await;
    pay_with(&at, "pm_declined").await;
    at.world.clock("2026-11-06T18:30:01Z").await;
    for _ in 0..3 {
        collect(&at).await;
        at.advance(24 * 3600 + 1).await;
    }
    pay_with(&at, "pm_ok").await;
    at.world.clock(MISSED).await;
    step(&at, booked.id, Step::NoShow).await;
    collect(&at).await;
    assert_eq!(
        charges(&at, &guest, booked.id).await[2],
        charge(DueKind::Penalty, "10192.00", ChargeState::Paid)
    );
    assert_eq!(kept_by_the_provider(&at), 1_456_000);
    at.verify().await;
}

/// Past every rung the whole price is due, however early the guest leaves: what is owed stays owed.
#[tokio::test]
async fn an_early_departure_leaves_what_is_owed_as_it_was() {
    let at = world(PaymentPolicy::AtProperty).await;
    let guest = guest();
    let booked = book(&at, &guest, 1, "pm_ok").await;
    at.world.clock("2026-11-14T12:00:00Z").await;
    step(&at, booked.id, Step::CheckIn).await;
    at.world.clock("2026-11-15T05:00:00Z").await;
    step(&at, booked.id, Step::CheckOut(Some(crate::world::day("2026-11-15")))).await;
    let owed = charge(DueKind::AtProperty, "14560.00", ChargeState::Due);
    assert_eq!(charges(&at, &guest, booked.id).await, [owed]);
    at.verify().await;
    paid_at_desk(&at, booked.id, 1).await.expect("at the desk");
    at.verify().await;
}
