//! Changing a stay: only what is added is allocated, only what is dropped goes back, and any failure leaves
//! the guest with the stay they had.

mod begun;
mod held;
mod paying;
mod plans;

use futures::future::join_all;
use keyrack_booking::{
    Answered,
    cancel::{self, Cancel, price::Wanted},
    change_guest::{self, ChangeGuest, ChangeGuestError},
    change_stay::{
        self, ConfirmChange, ConfirmChangeError, Confirmed,
        priced::{self, PriceChange, PriceChangeError},
    },
    reservations,
    restrictions::{Patch, RestrictionPatch},
    views::{ChangeView, ReservationView, Standing},
};
use keyrack_domain::{
    change::ChangeState,
    guest::{Guest, GuestDetails},
    ids::ReservationId,
    occupancy::RoomRequest,
    operation_key::OperationKey,
    principal::Caller,
    refund::RefundState,
    restriction::Rule,
};

use crate::{
    desk_world::DeskWorld,
    world::{day, fresh_key, guest, key, room},
};

const STAY: (&str, &str) = ("2026-11-14", "2026-11-16");

async fn book(at: &DeskWorld, guest: &Caller, stay: (&str, &str), rooms: usize) -> ReservationView {
    let quote = at.quote_rooms(guest, stay, vec![room("RT-DLX", 2, &[]); rooms]).await;
    let hold = at.hold_quote(guest, quote, fresh_key()).await.expect("a hold").answer;
    let booking = at.pay(guest, hold.id, "pm_ok").await;
    let Standing::Confirmed(reservation) = booking.standing else { panic!("{booking:?}") };
    *reservation
}

fn dates(id: ReservationId, stay: (&str, &str), if_match: i32) -> PriceChange {
    PriceChange {
        reservation: id,
        check_in: Some(day(stay.0)),
        check_out: Some(day(stay.1)),
        rooms: None,
        if_match,
        key: fresh_key(),
    }
}

fn rooms(id: ReservationId, rooms: Vec<RoomRequest>, if_match: i32) -> PriceChange {
    PriceChange {
        reservation: id,
        check_in: None,
        check_out: None,
        rooms: Some(rooms),
        if_match,
        key: fresh_key(),
    }
}

async fn price(at: &DeskWorld, guest: &Caller, wanted: PriceChange) -> ChangeView {
    priced::run(&at.desk, guest, wanted).await.expect("a price").answer
}

fn confirmation(
    change: &ChangeView,
    method: Option<&str>,
    if_match: i32,
    key: OperationKey,
) -> ConfirmChange {
    ConfirmChange {
        reservation: change.reservation,
        change: change.id,
        method: method.map(|method| method.parse().expect("a token")),
        if_match,
        key,
    }
}

async fn confirm(
    at: &DeskWorld,
    guest: &Caller,
    change: &ChangeView,
    method: Option<&str>,
    if_match: i32,
) -> Result<Answered<Confirmed>, ConfirmChangeError> {
    change_stay::confirm(&at.desk, guest, confirmation(change, method, if_match, fresh_key())).await
}

async fn completed(
    at: &DeskWorld,
    guest: &Caller,
    change: &ChangeView,
    method: Option<&str>,
    if_match: i32,
) -> ChangeView {
    match confirm(at, guest, change, method, if_match).await.expect("confirmed").answer {
        Confirmed::Changed(change) => change,
        other => panic!("{other:?}"),
    }
}

async fn shown(at: &DeskWorld, guest: &Caller, id: ReservationId) -> ReservationView {
    reservations::find(&at.desk, guest, id).await.expect("it is read").expect("it is there")
}

async fn state(at: &DeskWorld, guest: &Caller, change: &ChangeView) -> ChangeState {
    let found = change_stay::find(&at.desk, guest, change.reservation, change.id).await;
    found.expect("read").expect("there").state
}

async fn cancel(at: &DeskWorld, guest: &Caller, id: ReservationId, if_match: i32) {
    let request = Cancel { reservation: id, wanted: Wanted::Whole, if_match, key: fresh_key() };
    cancel::run(&at.desk, guest, request).await.expect("cancelled");
}

fn money(change: &ChangeView) -> [String; 4] {
    [change.difference, change.penalty, change.total, change.charge].map(|amount| amount.to_string())
}

#[tokio::test]
async fn a_longer_stay_pays_for_what_it_adds() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    assert_eq!(money(&change), ["7280.00", "0.00", "21840.00", "7280.00"]);
    assert_eq!(at.counters("2026-11-16").await, (5, 0, 0), "pricing claims nothing");
    let unpaid = confirm(&at, &guest, &change, None, 1).await;
    assert!(matches!(unpaid, Err(ConfirmChangeError::PaymentRequired(_))), "{unpaid:?}");
    let done = completed(&at, &guest, &change, Some("pm_ok"), 1).await;
    assert_eq!((done.state, done.version), (ChangeState::Completed, Some(2)));
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!((after.version, after.document.total.to_string()), (2, "21840.00".to_owned()));
    assert_eq!(after.document.stay.check_out(), day("2026-11-17"));
    for night in ["2026-11-14", "2026-11-15", "2026-11-16"] {
        assert_eq!(at.counters(night).await, (5, 0, 1), "{night}");
    }
    assert_eq!((at.captures(), at.count("reservation_nights").await), (2, 3));
    at.verify().await;
    // What was paid in two parts goes back in two.
    cancel(&at, &guest, booked.id, 2).await;
    at.settle_money().await;
    let after = shown(&at, &guest, booked.id).await;
    let refunds: Vec<_> = after.refunds.iter().map(|r| (r.state, r.amount.to_string())).collect();
    let mut amounts = refunds.iter().map(|(_, amount)| amount.as_str()).collect::<Vec<_>>();
    amounts.sort_unstable();
    assert_eq!(amounts, ["14560.00", "7280.00"]);
    assert!(refunds.iter().all(|(state, _)| *state == RefundState::Succeeded), "{refunds:?}");
    assert_eq!(at.counters("2026-11-16").await, (5, 0, 0));
    at.verify().await;
}

#[tokio::test]
async fn a_shorter_stay_gets_back_what_it_drops() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-15", "2026-11-16"), 1)).await;
    assert_eq!(money(&change), ["-7280.00", "0.00", "7280.00", "0.00"]);
    let done = completed(&at, &guest, &change, None, 1).await;
    assert_eq!(done.version, Some(2));
    assert_eq!((at.counters(STAY.0).await, at.counters("2026-11-15").await), ((5, 0, 0), (5, 0, 1)));
    at.settle_money().await;
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!(after.refunds[0].amount.to_string(), "7280.00");
    assert_eq!(at.count("outbox WHERE type = 'reservation.changed'").await, 1);
    at.verify().await;
}

/// Its own nights never stand in the way of a change, however full the house is.
#[tokio::test]
async fn a_stay_that_moves_by_a_night_keeps_the_night_that_both_have() {
    let at = DeskWorld::new().await;
    at.sellable(("2026-11-14", "2026-11-17"), 1).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-15", "2026-11-17"), 1)).await;
    assert_eq!(money(&change), ["0.00", "0.00", "14560.00", "0.00"]);
    completed(&at, &guest, &change, None, 1).await;
    let nights =
        [at.counters("2026-11-14").await, at.counters("2026-11-15").await, at.counters("2026-11-16").await];
    assert_eq!(nights, [(1, 0, 0), (1, 0, 1), (1, 0, 1)]);
    assert_eq!((at.captures(), at.count("refunds").await), (1, 0));
    at.verify().await;
    // And back again: the row of the night that came back is a new one.
    let back = price(&at, &guest, dates(booked.id, STAY, 2)).await;
    completed(&at, &guest, &back, None, 2).await;
    assert_eq!(at.counters("2026-11-14").await, (1, 0, 1));
    at.verify().await;
}

#[tokio::test]
async fn b074_a_change_onto_a_night_that_is_taken_names_it_and_leaves_the_stay() {
    let at = DeskWorld::new().await;
    at.sellable(("2026-07-25", "2026-08-03"), 1).await;
    let (first, second) = (guest(), guest());
    book(&at, &first, ("2026-07-25", "2026-07-27"), 1).await;
    let booked = book(&at, &second, ("2026-08-01", "2026-08-03"), 1).await;
    let change = price(&at, &second, dates(booked.id, ("2026-07-25", "2026-07-27"), 1)).await;
    let refused = confirm(&at, &second, &change, None, 1).await.expect_err("taken");
    let ConfirmChangeError::SoldOut { short, .. } = refused else { panic!("{refused:?}") };
    assert_eq!((short[0].night.date, short[0].available), (day("2026-07-25"), 0));
    let after = shown(&at, &second, booked.id).await;
    assert_eq!((after.version, after.document.stay.check_in()), (1, day("2026-08-01")));
    assert_eq!(at.counters("2026-08-01").await, (1, 0, 1));
    at.verify().await;
}

#[tokio::test]
async fn b076_two_rooms_of_one_type_become_one_of_another() {
    let at = DeskWorld::new().await;
    at.price_standard(STAY).await;
    at.sellable_of("RT-STD", STAY, 1).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 2).await;
    let change = price(&at, &guest, rooms(booked.id, vec![room("RT-STD", 2, &[])], 1)).await;
    // 29,120.00 paid; 4,200.00 a night plus 12 % is 9,408.00.
    assert_eq!(money(&change), ["-19712.00", "0.00", "9408.00", "0.00"]);
    completed(&at, &guest, &change, None, 1).await;
    assert_eq!((at.counters(STAY.0).await, at.counters_of("RT-STD", STAY.0).await), ((5, 0, 0), (1, 0, 1)));
    at.settle_money().await;
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!(after.refunds[0].amount.to_string(), "19712.00");
    assert_eq!(after.rooms.iter().filter(|room| room.cancelled.is_none()).count(), 1);
    at.verify().await;
    // More rooms again, beside the one that went.
    let wanted = vec![room("RT-STD", 2, &[]), room("RT-DLX", 1, &[])];
    let more = price(&at, &guest, rooms(booked.id, wanted, 2)).await;
    assert_eq!(money(&more), ["14560.00", "0.00", "23968.00", "14560.00"]);
    completed(&at, &guest, &more, Some("pm_ok"), 2).await;
    let after = shown(&at, &guest, booked.id).await;
    let standing: Vec<i16> =
        after.rooms.iter().filter(|room| room.cancelled.is_none()).map(|room| room.room).collect();
    assert_eq!((standing, after.version), (vec![1, 3], 3));
    assert_eq!(at.counters(STAY.0).await, (5, 0, 1));
    at.verify().await;
    cancel(&at, &guest, booked.id, 3).await;
    at.settle_money().await;
    assert_eq!((at.counters(STAY.0).await, at.counters_of("RT-STD", STAY.0).await), ((5, 0, 0), (1, 0, 0)));
    at.verify().await;
}

/// After the free time what goes costs by the policy; what takes its place on the same night does not.
#[tokio::test]
async fn what_goes_late_costs_by_the_policy_that_was_sold() {
    let at = DeskWorld::new().await;
    at.price_standard(STAY).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 2).await;
    at.world.clock("2026-11-13T00:00:00Z").await;
    let shorter = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-15"), 1)).await;
    assert_eq!(money(&shorter), ["0.00", "14560.00", "29120.00", "0.00"]);
    let fewer = price(&at, &guest, rooms(booked.id, vec![room("RT-DLX", 2, &[])], 1)).await;
    assert_eq!(money(&fewer), ["0.00", "14560.00", "29120.00", "0.00"]);
    let longer = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    assert_eq!(money(&longer), ["14560.00", "0.00", "43680.00", "14560.00"]);
    completed(&at, &guest, &shorter, None, 1).await;
    assert_eq!((at.count("refunds").await, at.counters("2026-11-15").await), (0, (5, 0, 0)));
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!(after.document.total.to_string(), "29120.00");
    let fee = after.document.charges.last().expect("a fee");
    assert_eq!((fee.label.as_str(), fee.amount.to_string()), ("Change fee", "14560.00".to_owned()));
    at.verify().await;
    cancel(&at, &guest, booked.id, 2).await;
    assert_eq!(at.count("refunds").await, 0, "the whole price is due by now");
    at.verify().await;
}

/// A later arrival does not bring back a freedom that has passed.
#[tokio::test]
async fn a_change_never_buys_a_milder_policy() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    at.world.clock("2026-11-13T00:00:00Z").await;
    let later = price(&at, &guest, dates(booked.id, ("2026-11-15", "2026-11-17"), 1)).await;
    assert_eq!(money(&later), ["7280.00", "7280.00", "21840.00", "7280.00"]);
    completed(&at, &guest, &later, Some("pm_ok"), 1).await;
    cancel(&at, &guest, booked.id, 2).await;
    assert_eq!(at.count("refunds").await, 0);
    at.verify().await;
}

/// Nights that stay keep the price at which they were sold.
#[tokio::test]
async fn an_edited_rate_counts_for_added_nights_alone() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let dearer = crate::world::rate_change(day("2026-11-14"), day("2026-11-16"), "9000.00");
    at.world.set_rates(&at.hotel, vec![dearer]).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    assert_eq!(money(&change), ["10080.00", "0.00", "24640.00", "10080.00"]);
}

/// B078: changes of one version, all at once: one is carried out, the others are told.
#[tokio::test]
async fn b078_of_parallel_changes_of_one_version_one_is_made() {
    let at = DeskWorld::new().await;
    let guest = guest();
    for round in 0..10 {
        let booked = book(&at, &guest, STAY, 1).await;
        let longer = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
        let shorter = price(&at, &guest, dates(booked.id, ("2026-11-15", "2026-11-16"), 1)).await;
        let details = GuestDetails { name: format!("Guest {round}"), ..GuestDetails::default() };
        let rename = ChangeGuest {
            reservation: booked.id,
            guest: Guest::new(details).expect("a guest"),
            if_match: 1,
            key: fresh_key(),
        };
        let changes = [(&longer, Some("pm_ok")), (&shorter, None)];
        let changes = join_all(changes.map(|(change, method)| confirm(&at, &guest, change, method, 1)));
        let (changed, renamed) = futures::join!(changes, change_guest::run(&at.desk, &guest, rename));
        at.settle_money().await;
        let mut made = usize::from(renamed.is_ok());
        made += changed
            .iter()
            .filter(|c| matches!(c, Ok(a) if matches!(a.answer, Confirmed::Changed(_))))
            .count();
        assert_eq!((made, shown(&at, &guest, booked.id).await.version), (1, 2), "{changed:?} {renamed:?}");
        at.verify().await;
        cancel(&at, &guest, booked.id, 2).await;
        at.settle_money().await;
    }
    assert_eq!(at.counters("2026-11-16").await, (5, 0, 0));
    at.verify().await;
}

/// A cancellation that was priced on the version before a change is refused.
#[tokio::test]
async fn b078_a_cancellation_of_the_version_before_is_refused() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let change = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-15"), 1)).await;
    completed(&at, &guest, &change, None, 1).await;
    let request = Cancel { reservation: booked.id, wanted: Wanted::Whole, if_match: 1, key: fresh_key() };
    let stale = cancel::run(&at.desk, &guest, request).await;
    assert!(matches!(stale, Err(cancel::CancelError::Stale(2, _))), "{stale:?}");
}

/// B012: on a sold-out date a name is changed as on any other: no unit, no money.
#[tokio::test]
async fn b012_a_name_is_changed_without_touching_a_night() {
    let at = DeskWorld::new().await;
    at.sellable(STAY, 1).await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    let details = GuestDetails { name: "Zoë O'Neil".to_owned(), ..GuestDetails::default() };
    let request = ChangeGuest {
        reservation: booked.id,
        guest: Guest::new(details).expect("a guest"),
        if_match: 1,
        key: key("K"),
    };
    let changed = change_guest::run(&at.desk, &guest, request.clone()).await.expect("changed");
    let again = change_guest::run(&at.desk, &guest, request.clone()).await.expect("replayed");
    assert_eq!((changed.answer.version, again.replayed, again.answer), (2, true, changed.answer));
    let after = shown(&at, &guest, booked.id).await;
    assert_eq!(
        (after.guest.name(), after.document, after.rooms),
        ("Zoë O'Neil", booked.document, booked.rooms)
    );
    assert_eq!((at.counters(STAY.0).await, at.count("refunds").await, at.captures()), ((1, 0, 1), 0, 1));
    let stale =
        change_guest::run(&at.desk, &guest, ChangeGuest { key: fresh_key(), ..request.clone() }).await;
    assert!(matches!(stale, Err(ChangeGuestError::Stale(2, _))), "{stale:?}");
    let stranger = crate::world::guest();
    let hidden = change_guest::run(&at.desk, &stranger, ChangeGuest { key: fresh_key(), ..request }).await;
    assert!(matches!(hidden, Err(ChangeGuestError::NotFound)), "{hidden:?}");
    at.verify().await;
}

#[tokio::test]
async fn a_rule_forbids_what_is_new_and_not_what_was_sold() {
    let at = DeskWorld::new().await;
    let guest = guest();
    let booked = book(&at, &guest, STAY, 1).await;
    for date in ["2026-11-14", "2026-11-16"] {
        let closed = RestrictionPatch { stop_sell: Patch::Set(true), ..RestrictionPatch::default() };
        at.world.restrict(&at.hotel, None, date, closed).await;
    }
    // The night of the 14th stays, whatever is forbidden there by now.
    let shorter = price(&at, &guest, dates(booked.id, ("2026-11-14", "2026-11-15"), 1)).await;
    let refused = priced::run(&at.desk, &guest, dates(booked.id, ("2026-11-14", "2026-11-17"), 1)).await;
    let Err(PriceChangeError::Restricted(violations)) = refused else { panic!("{refused:?}") };
    let told: Vec<_> = violations.iter().map(|v| (v.night, v.rule)).collect();
    assert_eq!(told, [(day("2026-11-16"), Rule::StopSell)]);
    completed(&at, &guest, &shorter, None, 1).await;
    at.verify().await;
}

#[tokio::test]
async fn a_price_ends_and_strangers_and_other_stays_see_nothing_of_it() {
    let at = DeskWorld::new().await;
    let owner = guest();
    let booked = book(&at, &owner, STAY, 1).await;
    let other = book(&at, &owner, STAY, 1).await;
    let nothing = priced::run(&at.desk, &owner, dates(booked.id, STAY, 1)).await;
    assert!(matches!(nothing, Err(PriceChangeError::Invalid(_))), "{nothing:?}");
    let change = price(&at, &owner, dates(booked.id, ("2026-11-14", "2026-11-15"), 1)).await;
    let stranger = guest();
    let hidden = priced::run(&at.desk, &stranger, dates(booked.id, ("2026-11-14", "2026-11-15"), 1)).await;
    assert!(matches!(hidden, Err(PriceChangeError::NotFound)), "{hidden:?}");
    let hidden = confirm(&at, &stranger, &change, None, 1).await;
    assert!(matches!(hidden, Err(ConfirmChangeError::NotFound)), "{hidden:?}");
    let crossed = ChangeView { reservation: other.id, ..change.clone() };
    let hidden = confirm(&at, &owner, &crossed, None, 1).await;
    assert!(matches!(hidden, Err(ConfirmChangeError::NotFound)), "{hidden:?}");
    at.advance(601).await;
    let late = confirm(&at, &owner, &change, None, 1).await;
    assert!(matches!(late, Err(ConfirmChangeError::Expired(_))), "{late:?}");
    assert_eq!(shown(&at, &owner, booked.id).await.version, 1);
}
