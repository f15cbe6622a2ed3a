//! Changes of stays that are not prepaid: the open charges follow the price and the arrival.

use keyrack_booking::change_stay::{
    self, ConfirmChange, Confirmed,
    priced::{self, PriceChange},
};
use keyrack_domain::{
    ids::ReservationId,
    policy::PaymentPolicy,
    principal::Caller,
    schedule::{ChargeState, DueKind},
};

use super::{book, charge, charges, collect, kept_by_the_provider, shown, world};
use crate::{
    desk_world::DeskWorld,
    world::{at as instant, day, fresh_key, guest},
};

/// The difference, and what is paid before the stay changes.
pub(super) async fn change(
    at: &DeskWorld,
    guest: &Caller,
    reservation: ReservationId,
    stay: (&str, &str),
    if_match: i32,
) -> (String, String) {
    let wanted = PriceChange {
        reservation,
        check_in: Some(day(stay.0)),
        check_out: Some(day(stay.1)),
        rooms: None,
        if_match,
        key: fresh_key(),
    };
    let priced = priced::run(&at.desk, guest, wanted).await.expect("a price").answer;
    let confirm = ConfirmChange { reservation, change: priced.id, method: None, if_match, key: fresh_key() };
    let done = change_stay::confirm(&at.desk, guest, confirm).await.expect("confirmed").answer;
    assert!(matches!(done, Confirmed::Changed(_)), "{done:?}");
    (priced.difference.to_string(), priced.charge.to_string())
}

#[tokio::test]
async fn a_difference_goes_to_the_charge_that_is_open_and_its_day_follows_the_arrival() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let id = book(&at, &guest, 1, "pm_ok").await.id;
    let balance = |amount: &str| charge(DueKind::Balance, amount, ChargeState::Due);
    let longer = change(&at, &guest, id, ("2026-11-14", "2026-11-17"), 1).await;
    assert_eq!(longer, ("7280.00".to_owned(), "0.00".to_owned()));
    assert_eq!(charges(&at, &guest, id).await[1], balance("17472.00"));
    at.verify().await;
    change(&at, &guest, id, ("2026-11-24", "2026-11-26"), 2).await;
    let moved = shown(&at, &guest, id).await;
    assert_eq!(charges(&at, &guest, id).await[1], balance("10192.00"));
    assert_eq!(moved.schedule[1].due_at, instant("2026-11-16T18:30:00Z"));
    at.verify().await;
    at.world.clock("2026-11-06T18:30:01Z").await;
    assert_eq!(collect(&at).await.taken, 0, "another arrival, another day");
    at.world.clock("2026-11-16T18:30:01Z").await;
    collect(&at).await;
    assert_eq!((at.captures(), kept_by_the_provider(&at)), (2, 1_456_000));
    at.verify().await;
}

#[tokio::test]
async fn a_shorter_stay_takes_from_what_is_owed_first_and_gives_back_what_was_paid_too_much() {
    let at = world(PaymentPolicy::Deposit).await;
    let guest = guest();
    let id = book(&at, &guest, 1, "pm_ok").await.id;
    change(&at, &guest, id, ("2026-11-14", "2026-11-15"), 1).await;
    let balance = charge(DueKind::Balance, "2912.00", ChargeState::Due);
    assert_eq!((charges(&at, &guest, id).await[1].clone(), at.count("refunds").await), (balance, 0));
    at.verify().await;
    change(&at, &guest, id, ("2026-11-14", "2026-11-17"), 2).await;
    at.world.clock("2026-11-06T18:30:01Z").await;
    collect(&at).await;
    assert_eq!(kept_by_the_provider(&at), 2_184_000);
    // All is paid, and half of what a night costs is kept for each that goes.
    change(&at, &guest, id, ("2026-11-14", "2026-11-15"), 3).await;
    at.settle_money().await;
    assert_eq!(kept_by_the_provider(&at), 1_456_000);
    at.verify().await;
    // And a longer one is owed again, at once: its day has passed.
    change(&at, &guest, id, ("2026-11-14", "2026-11-16"), 4).await;
    assert_eq!(charges(&at, &guest, id).await[2], charge(DueKind::Balance, "7280.00", ChargeState::Due));
    at.verify().await;
    collect(&at).await;
    assert_eq!(kept_by_the_provider(&at), 2_184_000);
    at.verify().await;
}

#[tokio::test]
async fn a_changed_stay_is_paid_at_the_property_as_it_is_then() {
    let at = world(PaymentPolicy::AtProperty).await;
    let guest = guest();
    let id = book(&at, &guest, 1, "pm_ok").await.id;
    let owed = |amount: &str| [charge(DueKind::AtProperty, amount, ChargeState::Due)];
    change(&at, &guest, id, ("2026-11-14", "2026-11-17"), 1).await;
    assert_eq!(charges(&at, &guest, id).await, owed("21840.00"));
    change(&at, &guest, id, ("2026-11-20", "2026-11-21"), 2).await;
    assert_eq!(charges(&at, &guest, id).await, owed("7280.00"));
    assert_eq!(shown(&at, &guest, id).await.schedule[0].due_at, instant("2026-11-19T18:30:00Z"));
    assert!(at.simulator.simulator().charges("", None, 10).is_empty());
    at.verify().await;
}
