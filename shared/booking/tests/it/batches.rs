//! Batches answer as their members would one by one, and a member that breaks harms nobody.

use std::time::Duration;

use keyrack_booking::{
    change::{Change, ChangeAnswer},
    channel_booking::{
        self, Delivered,
        operation::{BookAnswer, ChannelBookOp},
        withdrawal::{ChannelCancelOp, WithdrawAnswer},
    },
    confirm::ConfirmOp,
    place_hold::operation::{HoldAnswer, PlaceHoldOp},
    release::operation::{ReleaseAnswer, ReleaseOp},
    start_attempt::operation::{AttemptAnswer, StartAttemptOp},
};
use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    ids::{AttemptId, HoldId, QuoteId, ReservationId},
    money::Money,
    operation_key::{Endpoint, Fingerprint},
    principal::Caller,
};
use keyrack_ledger::{KeyClaim, KeyHome, KeyScope, LedgerError, Outcome};
use uuid::Uuid;

use crate::{
    channel_world::{Channel, address, delivered, revision},
    desk_world::{DeskWorld, payment},
    world::{fresh_key, guest, key},
};

const OPEN: (&str, &str) = ("2026-11-14", "2026-11-16");
const FULL: (&str, &str) = ("2026-12-01", "2026-12-02");
const LAST_UNIT: (&str, &str) = ("2026-12-10", "2026-12-12");

/// The members of a batch, by what they meet. Both worlds are set up alike and given the same list.
#[derive(Clone, Copy, Debug)]
enum Member {
    Fits,
    MeetsAFullNight,
    Replays,
    ReusesAKey,
    HasAnExpiredQuote,
    Confirms,
    Releases,
    WantsTheLastUnit,
    Delivers,
    DeliversAgain,
    Modifies,
    WithdrawsTheDelivered,
    WantsTheLastUnitForAChannel,
}

const KINDS: [Member; 13] = [
    Member::Delivers,
    Member::DeliversAgain,
    Member::Fits,
    Member::WantsTheLastUnitForAChannel,
    Member::WantsTheLastUnit,
    Member::Modifies,
    Member::WithdrawsTheDelivered,
    Member::Confirms,
    Member::MeetsAFullNight,
    Member::Replays,
    Member::Releases,
    Member::ReusesAKey,
    Member::HasAnExpiredQuote,
];

#[tokio::test]
async fn a_batch_answers_as_its_members_one_by_one() {
    for size in [1, 2, 13, 64, 128] {
        let (together, singly) = (DeskWorld::new().await, DeskWorld::new().await);
        let batch = set_up(&together, size).await;
        let ones = set_up(&singly, size).await;
        let answers: Vec<String> = together.ledger().run_batch(batch).await.into_iter().map(told).collect();
        let mut expected = Vec::new();
        for operation in ones {
            expected.push(told(singly.ledger().run(operation).await));
        }
        assert_eq!(answers, expected, "{size} members");
        for night in
            ["2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17", "2026-12-01", "2026-12-10", "2026-12-11"]
        {
            assert_eq!(together.counters(night).await, singly.counters(night).await, "{size}: {night}");
        }
        together.verify().await;
        singly.verify().await;
    }
}

async fn set_up(at: &DeskWorld, size: usize) -> Vec<Change> {
    at.sellable(("2026-11-14", "2026-11-18"), 500).await;
    at.sellable(FULL, 0).await;
    at.sellable(LAST_UNIT, 1).await;
    let expired = guest();
    let expired = (at.quote(&expired, OPEN).await, expired);
    at.advance(601).await;
    let mut operations = Vec::new();
    for (place, member) in KINDS.into_iter().cycle().take(size).enumerate() {
        operations.push(operation(at, member, place, &expired).await);
    }
    operations
}

async fn operation(at: &DeskWorld, member: Member, place: usize, expired: &(QuoteId, Caller)) -> Change {
    let caller = guest();
    match member {
        Member::Fits => hold(&caller, at.quote(&caller, OPEN).await, "K").into(),
        Member::MeetsAFullNight => hold(&caller, at.quote(&caller, FULL).await, "K").into(),
        Member::WantsTheLastUnit => hold(&caller, at.quote(&caller, LAST_UNIT).await, "K").into(),
        Member::HasAnExpiredQuote => hold(&expired.1, expired.0, "K").into(),
        Member::Replays => {
            let first = hold(&caller, at.quote(&caller, OPEN).await, "K");
            at.ledger().run(first.clone()).await.expect("the original");
            let copy = KeyClaim { try_id: Uuid::now_v7(), ..first.claim.clone() };
            PlaceHoldOp { claim: copy, hold: HoldId::new(first.hold.hotel(), Uuid::now_v7()), ..first }.into()
        }
        Member::ReusesAKey => {
            let first = hold(&caller, at.quote(&caller, OPEN).await, "K");
            at.ledger().run(first).await.expect("the original");
            hold(&caller, at.quote(&caller, OPEN).await, "K").into()
        }
        Member::Releases => {
            let held = at.hold(&caller, OPEN).await.id;
            release(&caller, held, "R").into()
        }
        Member::Confirms => confirm(at, &caller).await.into(),
        Member::Delivers | Member::DeliversAgain => {
            // The second of a pair brings the booking of the first, in one batch or after it.
            let booking = if matches!(member, Member::Delivers) { place } else { place - 1 };
            deliver(at, &format!("D{booking}"), delivered(OPEN)).await
        }
        Member::WantsTheLastUnitForAChannel => deliver(at, &format!("L{place}"), delivered(LAST_UNIT)).await,
        Member::Modifies => {
            let channel = Channel::of(at).await;
            channel.put(at, &format!("M{place}"), delivered(OPEN)).await;
            deliver(at, &format!("M{place}"), revision(2, ("2026-11-15", "2026-11-18"))).await
        }
        // The modification before it in the batch is what it cancels.
        Member::WithdrawsTheDelivered => withdraw(at, &format!("M{}", place - 1)).await,
    }
}

async fn deliver(at: &DeskWorld, booking: &str, delivered: Delivered) -> Change {
    let channel = Channel::of(at).await;
    let operation = channel_booking::operation(&at.desk, &channel.caller, address(at, booking), &delivered);
    operation.await.expect("a delivery").into()
}

async fn withdraw(at: &DeskWorld, booking: &str) -> Change {
    let Change::ChannelBook(known) = deliver(at, booking, delivered(OPEN)).await else { unreachable!() };
    let ChannelBookOp { hotel, caller, key, try_id, .. } = known;
    ChannelCancelOp { hotel, caller, key, try_id }.into()
}

/// A key's claim whose input is told by its target alone.
pub(crate) fn claim(
    caller: &Caller,
    endpoint: &'static str,
    text: &str,
    hotel: keyrack_domain::ids::HotelId,
    target: Uuid,
) -> KeyClaim {
    let mut fingerprint = [0; 32];
    fingerprint[..16].copy_from_slice(target.as_bytes());
    KeyClaim {
        scope: KeyScope { hotel, principal: caller.principal, endpoint: Endpoint(endpoint), key: key(text) },
        fingerprint: Fingerprint(fingerprint),
        try_id: Uuid::now_v7(),
        home: KeyHome::Keys,
    }
}

fn hotel_204(hotel: keyrack_domain::ids::HotelId) -> keyrack_domain::hotel::HotelRef {
    keyrack_domain::hotel::HotelRef {
        id: hotel,
        shard: keyrack_domain::ids::ShardId(1),
        code: "HTL-204".parse().expect("a code"),
        zone: chrono_tz::Asia::Kolkata,
        currency: "INR".parse().expect("a currency"),
    }
}

pub(crate) fn hold(caller: &Caller, quote: QuoteId, text: &str) -> PlaceHoldOp {
    PlaceHoldOp {
        hotel: hotel_204(quote.hotel()),
        claim: claim(caller, "POST /v1/holds", text, quote.hotel(), quote.uuid()),
        actor: Actor::Caller(caller.clone()),
        principal: caller.principal,
        quote,
        replaces: None,
        hold: HoldId::new(quote.hotel(), Uuid::now_v7()),
        cap: 5,
    }
}

pub(crate) fn release(caller: &Caller, held: HoldId, text: &str) -> ReleaseOp {
    ReleaseOp {
        hotel: hotel_204(held.hotel()),
        claim: claim(caller, "DELETE /v1/holds/{id}", text, held.hotel(), held.uuid()),
        actor: Actor::Caller(caller.clone()),
        principal: caller.principal,
        hold: held,
    }
}

/// Of an attempt that is PENDING_PAYMENT.
pub(crate) async fn confirm(at: &DeskWorld, caller: &Caller) -> ConfirmOp {
    let held = at.hold(caller, OPEN).await;
    let open = start(caller, held.id, "P");
    let attempt = open.attempt;
    let opened = at.ledger().run(open).await.expect("T2");
    assert!(matches!(opened, Outcome::Answered(AttemptAnswer::Opened(_))), "{opened:?}");
    completion(attempt, held.total)
}

pub(crate) fn start(caller: &Caller, hold: HoldId, text: &str) -> StartAttemptOp {
    let paying = payment(hold, "pm_ok", fresh_key());
    let claim = claim(caller, "POST /v1/bookings", text, hold.hotel(), hold.uuid());
    StartAttemptOp {
        claim: KeyClaim { home: KeyHome::Attempts, ..claim },
        actor: Actor::Caller(caller.clone()),
        principal: caller.principal,
        hold,
        attempt: AttemptId::new(hold.hotel(), Uuid::now_v7()),
        method: paying.method,
        guest: paying.guest,
        auth_timeout: Duration::from_secs(120),
    }
}

/// T3 of the request, all of the amount having been taken.
pub(crate) fn completion(attempt: AttemptId, captured: Money) -> ConfirmOp {
    ConfirmOp {
        actor: Actor::Worker,
        attempt,
        guard: AttemptState::PendingPayment,
        captured,
        reservation: ReservationId::new(attempt.hotel(), Uuid::now_v7()),
    }
}

/// The answer without its ids and instants.
fn told(answer: Result<Outcome<ChangeAnswer>, LedgerError>) -> String {
    let (how, answer) = match answer.expect("an answer") {
        Outcome::Answered(answer) => ("", answer),
        Outcome::Replayed(answer) => ("replayed ", answer),
        other => return format!("{other:?}"),
    };
    let what = match answer {
        ChangeAnswer::PlaceHold(HoldAnswer::Placed(_)) => "placed".to_owned(),
        ChangeAnswer::PlaceHold(HoldAnswer::QuoteExpired(_)) => "quote expired".to_owned(),
        ChangeAnswer::PlaceHold(HoldAnswer::SoldOut { short, .. }) => {
            let nights = short.iter().map(|s| format!("{} {}/{}", s.night.date, s.available, s.requested));
            format!("sold out {}", nights.collect::<Vec<_>>().join(" "))
        }
        ChangeAnswer::Release(ReleaseAnswer::Ended(view)) => format!("{:?}", view.state),
        ChangeAnswer::ChannelBook(BookAnswer::Booked(booked)) => format!("{:?}", booked.delivery),
        ChangeAnswer::ChannelCancel(WithdrawAnswer::Withdrawn(withdrawn)) => {
            format!("withdrawn, before: {}", withdrawn.before)
        }
        ChangeAnswer::Confirm(answer) => format!("{answer:?}"),
        other => format!("{other:?}"),
    };
    format!("{how}{what}")
}

/// Copies of one request in one batch: one enters, the others get its answer.
#[tokio::test]
async fn copies_in_one_batch_get_the_answer_of_the_first() {
    let at = DeskWorld::new().await;
    at.sellable(LAST_UNIT, 1).await;
    let caller = guest();
    let first = hold(&caller, at.quote(&caller, LAST_UNIT).await, "K");
    let copies = (0..6).map(|_| PlaceHoldOp {
        claim: KeyClaim { try_id: Uuid::now_v7(), ..first.claim.clone() },
        hold: HoldId::new(first.hold.hotel(), Uuid::now_v7()),
        ..first.clone()
    });
    let answers: Vec<String> =
        at.ledger().run_batch(copies.map(Change::from).collect()).await.into_iter().map(told).collect();
    let expected: Vec<&str> =
        std::iter::once("placed").chain(std::iter::repeat_n("replayed placed", 5)).collect();
    assert_eq!(answers, expected);
    assert_eq!(at.counters("2026-12-10").await, (1, 1, 0));
    at.verify().await;
}

/// The same of one booking of a channel: whoever comes first is asked first.
#[tokio::test]
async fn deliveries_of_one_booking_in_one_batch_are_answered_in_their_order() {
    let at = DeskWorld::new().await;
    let mut batch = Vec::new();
    for _ in 0..3 {
        batch.push(deliver(&at, "X1", delivered(OPEN)).await);
    }
    batch.push(deliver(&at, "X1", revision(2, LAST_UNIT)).await);
    batch.push(withdraw(&at, "X1").await);
    batch.push(withdraw(&at, "X1").await);
    batch.push(deliver(&at, "X1", delivered(OPEN)).await);
    let answers: Vec<String> = at.ledger().run_batch(batch).await.into_iter().map(told).collect();
    let expected = [
        "Created",
        "Repeated",
        "Repeated",
        "Modified",
        "withdrawn, before: false",
        "withdrawn, before: true",
        "ChannelBook(Inactive)",
    ];
    assert_eq!(answers, expected);
    assert_eq!((at.counters("2026-11-14").await, at.counters("2026-12-10").await), ((5, 0, 0), (5, 0, 0)));
    at.verify().await;
}

/// A unit that one member gives back may be taken by the next one of the same batch.
#[tokio::test]
async fn a_unit_given_back_in_a_batch_can_be_taken_in_it() {
    let at = DeskWorld::new().await;
    at.sellable(LAST_UNIT, 1).await;
    let (a, b) = (guest(), guest());
    let held = at.hold(&a, LAST_UNIT).await.id;
    let batch: Vec<Change> =
        vec![release(&a, held, "R").into(), hold(&b, at.quote(&b, LAST_UNIT).await, "K").into()];
    let answers: Vec<String> = at.ledger().run_batch(batch).await.into_iter().map(told).collect();
    assert_eq!(answers, ["Released", "placed"]);
    at.verify().await;
}

#[tokio::test]
async fn a_member_that_breaks_does_not_harm_the_others() {
    let at = DeskWorld::new().await;
    let taken = at.hold(&guest(), OPEN).await.id;
    let mut batch: Vec<Change> = Vec::new();
    for place in 0..8 {
        let caller = guest();
        let mut member = hold(&caller, at.quote(&caller, OPEN).await, "K");
        if place == 3 {
            // An id that exists: the insert breaks the primary key, however often it is tried.
            member.hold = taken;
        }
        batch.push(member.into());
    }
    at.sellable(OPEN, 20).await;
    let answers = at.ledger().run_batch(batch).await;
    for (place, answer) in answers.into_iter().enumerate() {
        match (place, answer) {
            (3, Err(error)) => assert!(error.source.constraint().is_some(), "{error:?}"),
            (3, Ok(other)) => panic!("{other:?}"),
            (_, answer) => assert_eq!(told(answer), "placed"),
        }
    }
    assert_eq!(at.counters("2026-11-14").await, (20, 8, 0));
    at.verify().await;
}
