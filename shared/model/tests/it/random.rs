//! Random histories: whatever is called in whatever order, the invariants hold, a refused call
//! changes nothing, a repeated one neither, and in the end money and units have come to rest.

use keyrack_domain::{
    attempt::AttemptState,
    ids::{AttemptId, HoldId, PrincipalId, RefundId, RoomTypeId},
    refund::RefundState,
    restriction::{NightRestriction, RatePlanScope},
};
use keyrack_model::{
    Answer, EditInventory, LateCapture, NightEdit, PlaceHold, ProviderAnswer, ProviderRecord, ReleaseHold,
    StartAttempt, World, invariants,
};
use proptest::{prelude::*, sample::Index};
use uuid::Uuid;

use crate::sample::*;

#[derive(Clone, Debug)]
enum Call {
    Quote { principal: u8, first: u32, nights: u32, rooms: Vec<bool> },
    Place { stranger: bool, key: u8, quote: Index, replaces: Option<Index> },
    Release { stranger: bool, key: u8, hold: Index },
    Start { stranger: bool, key: u8, hold: Index, other_card: bool },
    Settle { attempt: Index, answer: ProviderAnswer },
    Reconcile { attempt: Index, record: ProviderRecord },
    SettleRefund { refund: Index, succeeded: bool },
    Expire,
    Pass { seconds: u64 },
    Edit { key: u8, night: u32, sellable: u32 },
    StopSell { night: u32, on: bool },
}

fn any_call() -> impl Strategy<Value = Call> {
    let (who, stranger, key) = (0_u8..2, prop::bool::weighted(0.05), 0_u8..12);
    let answers = vec![ProviderAnswer::Captured, ProviderAnswer::Declined, ProviderAnswer::Unknown];
    let records = vec![ProviderRecord::Captured, ProviderRecord::Nothing, ProviderRecord::Cancelled];
    let whiles = vec![1, 1, 59, 60, 61, 119, 120, 121, 480, 600, 601, 90_000];
    let rooms = prop::collection::vec(any::<bool>(), 1..3);
    let index = any::<Index>;
    prop_oneof![
        4 => (who, 14_u32..18, 1_u32..3, rooms)
            .prop_map(|(principal, first, nights, rooms)| Call::Quote { principal, first, nights, rooms }),
        8 => (stranger, key.clone(), index(), prop::option::weighted(0.2, index()))
            .prop_map(|(stranger, key, quote, replaces)| Call::Place { stranger, key, quote, replaces }),
        2 => (stranger, key.clone(), index())
            .prop_map(|(stranger, key, hold)| Call::Release { stranger, key, hold }),
        6 => (stranger, key.clone(), index(), any::<bool>())
            .prop_map(|(stranger, key, hold, other_card)| Call::Start { stranger, key, hold, other_card }),
        5 => (index(), prop::sample::select(answers))
            .prop_map(|(attempt, answer)| Call::Settle { attempt, answer }),
        3 => (index(), prop::sample::select(records))
            .prop_map(|(attempt, record)| Call::Reconcile { attempt, record }),
        2 => (index(), any::<bool>()).prop_map(|(refund, succeeded)| Call::SettleRefund { refund, succeeded }),
        2 => Just(Call::Expire),
        4 => prop::sample::select(whiles).prop_map(|seconds| Call::Pass { seconds }),
        1 => (key, 14_u32..20, 0_u32..4).prop_map(|(key, night, sellable)| Call::Edit { key, night, sellable }),
        1 => (14_u32..20, any::<bool>()).prop_map(|(night, on)| Call::StopSell { night, on }),
    ]
}

fn principal(n: u8) -> PrincipalId {
    [ZOE, AARON][usize::from(n)]
}

/// The owner, or the other guest.
fn caller(owner: Option<PrincipalId>, stranger: bool) -> PrincipalId {
    if (owner == Some(ZOE)) == stranger { AARON } else { ZOE }
}

/// One that exists, or one that does not while there is none.
fn pick<T: Copy>(index: Index, of: impl ExactSizeIterator<Item = T>, none: T) -> T {
    let all: Vec<T> = of.collect();
    if all.is_empty() { none } else { *index.get(&all) }
}

fn some_hold(world: &World, index: Index) -> HoldId {
    pick(index, world.holds.keys().copied(), hold_id(0))
}

fn some_attempt(world: &World, index: Index) -> AttemptId {
    pick(index, world.attempts.keys().copied(), attempt_id(0))
}

/// What a client sends, with what it named looked up. Sent again, it is the same request.
#[derive(Clone, Debug)]
enum Request {
    Place(PlaceHold),
    Release(ReleaseHold),
    Start(StartAttempt),
    Edit(EditInventory),
}

fn send(world: &mut World, request: &Request) -> Answer {
    match request {
        Request::Place(call) => world.place_hold(call),
        Request::Release(call) => world.release_hold(call),
        Request::Start(call) => world.start_attempt(call),
        Request::Edit(call) => world.edit_inventory(call),
    }
}

/// `n` is the place in the history; new things are named after it.
fn request(world: &World, n: u128, call: &Call) -> Option<Request> {
    let key = |key: &u8| format!("key-{key}").parse().expect("a key");
    Some(match call {
        Call::Place { stranger, key: k, quote, replaces } => {
            let quote = pick(*quote, world.quotes.keys().copied(), quote_id(0));
            let replaces = replaces.map(|index| some_hold(world, index));
            let principal = caller(world.quotes.get(&quote).map(|quote| quote.principal), *stranger);
            Request::Place(PlaceHold { principal, key: key(k), quote, replaces, id: hold_id(n) })
        }
        Call::Release { stranger, key: k, hold } => {
            let hold = some_hold(world, *hold);
            let principal = caller(world.holds.get(&hold).map(|hold| hold.principal), *stranger);
            Request::Release(ReleaseHold { principal, key: key(k), hold })
        }
        Call::Start { stranger, key: k, hold, other_card } => {
            let method = if *other_card { "pm_slow" } else { "pm_ok" }.parse().expect("a token");
            let (key, hold, guest) = (key(k), some_hold(world, *hold), guest("Zoë"));
            let principal = caller(world.holds.get(&hold).map(|hold| hold.principal), *stranger);
            Request::Start(StartAttempt { principal, key, hold, method, guest, id: attempt_id(n) })
        }
        Call::Edit { key: k, night, sellable } => {
            let edits = vec![NightEdit { room_type: DELUXE, night: day(*night), sellable: *sellable }];
            Request::Edit(EditInventory { principal: AARON, key: key(k), hotel: HOTEL, edits })
        }
        _ => return None,
    })
}

/// What has no key: it happens.
fn happen(world: &mut World, n: u128, call: &Call) {
    match call {
        Call::Quote { principal: who, first, nights, rooms } => {
            let of = |deluxe: &bool| if *deluxe { DELUXE } else { STANDARD };
            let types: Vec<RoomTypeId> = rooms.iter().map(of).collect();
            world.quote(n, principal(*who), document(*first, first + nights, &types));
        }
        Call::Settle { attempt, answer } => {
            let _known = world.settle(some_attempt(world, *attempt), *answer, new_ids(n));
        }
        Call::Reconcile { attempt, record } => {
            let _known = world.reconcile(some_attempt(world, *attempt), *record, new_ids(n));
        }
        Call::SettleRefund { refund, succeeded } => {
            let none = RefundId::new(HOTEL, Uuid::nil());
            let refund = pick(*refund, world.refunds.keys().copied(), none);
            let _known = world.settle_refund(refund, *succeeded);
        }
        Call::Pass { seconds } => world.pass(*seconds),
        Call::StopSell { night, on } => {
            let row = NightRestriction { stop_sell: *on, ..NightRestriction::default() };
            let hotel = world.hotels.get_mut(&HOTEL).expect("the hotel");
            hotel.restrictions.insert((DELUXE, RatePlanScope::Every, day(*night)), row);
        }
        Call::Expire => {
            world.expire();
        }
        Call::Place { .. } | Call::Release { .. } | Call::Start { .. } | Call::Edit { .. } => {}
    }
}

/// Answers as a client must be able to rely on them.
fn check(world: &mut World, request: &Request) -> Result<(), TestCaseError> {
    let before = world.clone();
    match send(world, request) {
        Ok(told) if !told.replayed => {
            let once = world.clone();
            let again = send(world, request);
            prop_assert!(again.is_ok_and(|again| again.replayed && again.outcome == told.outcome));
            prop_assert_eq!(&*world, &once, "a repeated call changed something");
        }
        Ok(_) | Err(_) => prop_assert_eq!(&*world, &before, "a refused or repeated call changed something"),
    }
    Ok(())
}

/// Time passes and the workers do their work until none has anything left to do.
fn come_to_rest(world: &mut World) {
    world.pass(3600);
    let attempts: Vec<_> = world.attempts.iter().map(|(id, attempt)| (*id, attempt.captured)).collect();
    for (n, (id, captured)) in (1_000..).zip(attempts) {
        let record = if captured.is_zero() { ProviderRecord::Cancelled } else { ProviderRecord::Captured };
        world.reconcile(id, record, new_ids(n)).expect("an attempt");
    }
    world.expire();
    for refund in world.refunds.keys().copied().collect::<Vec<_>>() {
        world.settle_refund(refund, true).expect("a refund");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_history_breaks_the_invariants(
        sellable in 1_u32..4,
        reallocate in any::<bool>(),
        calls in prop::collection::vec(any_call(), 1..80),
    ) {
        let mut world = world(sellable);
        world.settings.late_capture = if reallocate { LateCapture::Reallocate } else { LateCapture::Refund };
        world.settings.holds_per_principal = 3;
        for (n, principal) in [(101, ZOE), (102, ZOE), (103, AARON)] {
            world.quote(n, principal, document(14, 16, &[DELUXE]));
        }
        for (n, call) in (1..).zip(&calls) {
            match request(&world, n, call) {
                Some(request) => check(&mut world, &request)?,
                None => happen(&mut world, n, call),
            }
            prop_assert_eq!(invariants(&world), []);
        }
        come_to_rest(&mut world);
        prop_assert_eq!(invariants(&world), []);
        prop_assert!(world.nights.values().all(|night| night.held == 0));
        let open = |attempt: AttemptState| attempt.is_open() || attempt == AttemptState::PaymentCapturedBookingFailed;
        let stuck = world.refunds.values().filter(|refund| refund.state == RefundState::NeedsAttention).count();
        prop_assert_eq!(world.attempts.values().filter(|attempt| open(attempt.state)).count(), stuck);
    }
}

/// The judge must be able to say no.
#[test]
fn the_invariants_notice_what_is_wrong() {
    let mut sound = world(2);
    sound.quote(1, ZOE, document(14, 15, &[DELUXE]));
    sound.place(1, ZOE, 1, "k").expect("a hold");
    sound.pay(1, ZOE, 1, "p").expect("an attempt");
    sound.settle(attempt_id(1), ProviderAnswer::Captured, new_ids(1)).expect("an attempt");
    assert_eq!(invariants(&sound), []);
    let told = |spoil: &dyn Fn(&mut World)| {
        let mut world = sound.clone();
        spoil(&mut world);
        invariants(&world).iter().map(|breach| breach.invariant).collect::<Vec<_>>()
    };
    let of_14 = night(DELUXE, 14);
    assert_eq!(told(&|world| world.nights.get_mut(&of_14).expect("a night").held = 1), [1]);
    assert_eq!(told(&|world| world.nights.get_mut(&of_14).expect("a night").sellable = 0), [1]);
    assert_eq!(told(&|world| world.nights.clear()), [1]);
    assert_eq!(told(&|world| world.reservations.clear()), [1, 2]);
    assert_eq!(
        told(&|world| {
            let (_, twin) = world.reservations.first_key_value().expect("a reservation");
            let twin = twin.clone();
            world.reservations.insert(new_ids(2).reservation, twin);
        }),
        [1, 3]
    );
    assert_eq!(
        told(&|world| {
            let attempt = world.attempts.get_mut(&attempt_id(1)).expect("an attempt");
            attempt.state = AttemptState::Refunded;
        }),
        [2, 6]
    );
}
