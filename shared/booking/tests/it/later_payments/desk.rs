//! What the desk has taken and owes back. The rule: what goes back goes to the card as far as the card has paid; the
//! rest is the desk's to give, and stands on the charges that it took, the last one first. The provider is asked for
//! no more than the card has paid.

use keyrack_booking::{
    cancel::price::Wanted,
    front_desk::operation::Step,
    staff_refund::{self, StaffRefund},
    verify,
    views::ChargeView,
};
use keyrack_domain::{ids::ReservationId, policy::PaymentPolicy, principal::Caller, schedule::ChargeState};

use super::{
    FREE, HALF, book, cancel, changed::change, charges, collect, kept_by_the_provider, paid_at_desk,
    pay_with, shown, step, world,
};
use crate::{
    desk_world::DeskWorld,
    world::{fresh_key, guest},
};

/// What the desk owes by each charge.
async fn owed(at: &DeskWorld, guest: &Caller, id: ReservationId) -> Vec<String> {
    let schedule = shown(at, guest, id).await.schedule;
    let told =
        |charge: &ChargeView| charge.owed_back.map_or_else(|| "nothing".to_owned(), |owed| owed.to_string());
    schedule.iter().map(told).collect()
}

#[tokio::test]
async fn a_stay_paid_at_the_desk_that_costs_less_is_owed_back_at_the_desk() {
    let at = world(PaymentPolicy::AtProperty).await;
    let guest = guest();
    let id = book(&at, &guest, 2, "pm_ok").await.id;
    paid_at_desk(&at, id, 1).await.expect("at the desk");
    assert_eq!(owed(&at, &guest, id).await, ["nothing"]);
    at.world.clock(FREE).await;
    change(&at, &guest, id, ("2026-11-14", "2026-11-15"), 1).await;
    assert_eq!(owed(&at, &guest, id).await, ["14560.00"]);
    at.verify().await;
    // One of the two rooms, free; and the other one for half of its price.
    let one = cancel(&at, &guest, id, Wanted::Room(2), 2).await;
    assert!(one.refund.is_zero(), "no card is refunded: {one:?}");
    assert_eq!(owed(&at, &guest, id).await, ["21840.00"]);
    at.verify().await;
    at.world.clock(HALF).await;
    cancel(&at, &guest, id, Wanted::Whole, 3).await;
    assert_eq!(owed(&at, &guest, id).await, ["25480.00"]);
    assert_eq!(charges(&at, &guest, id).await.len(), 1, "nothing more is asked for");
    assert_eq!((at.count("refunds").await, at.captures()), (0, 0));
    at.verify().await;
}

#[tokio::test]
async fn the_card_is_refunded_first_and_the_desk_gives_the_rest() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let id = book(&at, &guest, 1, "pm_ok").await.id;
    // Its balance could not be collected, and was paid at the desk: 4,368.00 and 10,192.00.
    pay_with(&at, "pm_declined").await;
    at.world.clock("2026-11-06T18:30:01Z").await;
    collect(&at).await;
    assert_eq!(charges(&at, &guest, id).await[1].2, ChargeState::Failed);
    paid_at_desk(&at, id, 2).await.expect("at the desk");
    at.verify().await;
    // For the night that goes half of its price is kept.
    change(&at, &guest, id, ("2026-11-14", "2026-11-15"), 1).await;
    at.settle_money().await;
    assert_eq!(
        (kept_by_the_provider(&at), owed(&at, &guest, id).await),
        (72_800, vec!["nothing".to_owned(), "nothing".to_owned()])
    );
    at.verify().await;
    let last = cancel(&at, &guest, id, Wanted::Whole, 2).await;
    assert_eq!(last.refund.to_string(), "728.00");
    at.settle_money().await;
    assert_eq!(
        (kept_by_the_provider(&at), owed(&at, &guest, id).await),
        (0, vec!["nothing".to_owned(), "2912.00".to_owned()])
    );
    at.verify().await;
}

/// Goodwill to the card is no part of what the desk owes.
#[tokio::test]
async fn the_desk_owes_no_more_than_it_took() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let id = book(&at, &guest, 1, "pm_ok").await.id;
    let goodwill = StaffRefund {
        hotel: at.hotel.clone(),
        reservation: id,
        amount: "4368.00".to_owned(),
        reason: "goodwill".to_owned(),
        key: fresh_key(),
    };
    staff_refund::run(&at.desk, &at.world.operator, goodwill).await.expect("goodwill");
    paid_at_desk(&at, id, 2).await.expect("at the desk");
    at.world.clock(FREE).await;
    cancel(&at, &guest, id, Wanted::Whole, 1).await;
    assert_eq!(owed(&at, &guest, id).await, ["nothing", "10192.00"]);
    at.settle_money().await;
    assert_eq!(kept_by_the_provider(&at), 0);
    at.verify().await;
}

/// What is kept at the desk for a stay that costs less is named by `verify`.
#[tokio::test]
async fn what_the_desk_keeps_too_much_is_named() {
    let at = world(PaymentPolicy::AtProperty).await;
    let guest = guest();
    let id = book(&at, &guest, 1, "pm_ok").await.id;
    paid_at_desk(&at, id, 1).await.expect("at the desk");
    at.world.clock(FREE).await;
    change(&at, &guest, id, ("2026-11-14", "2026-11-15"), 1).await;
    at.database().execute("UPDATE scheduled_charges SET owed_back = 7279.99").await;
    let report = verify::run(at.world.hotels.shards(), verify::Options::default()).await;
    let rules: Vec<_> = report.told().map(|(.., violation)| violation.rule.clone()).collect();
    assert_eq!(rules, ["no more is kept and owed than the stay costs"]);
}

/// A guest who came late after all, and leaves early, owes and is owed nothing new.
#[tokio::test]
async fn a_no_show_that_was_paid_at_the_desk_and_undone_is_owed_nothing() {
    let at = world(PaymentPolicy::AtProperty).await;
    let guest = guest();
    let id = book(&at, &guest, 1, "pm_ok").await.id;
    paid_at_desk(&at, id, 1).await.expect("at the desk");
    at.world.clock(super::MISSED).await;
    step(&at, id, Step::NoShow).await;
    step(&at, id, Step::UndoNoShow).await;
    assert_eq!(owed(&at, &guest, id).await, ["nothing"]);
    at.verify().await;
}
