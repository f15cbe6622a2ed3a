//! The invariants of a booking system, by the numbers under which `keyrack verify` reports them:
//! counters (1), money (2), at most one (3), refunds (6). Outbox (4) and projection (5) have no
//! counterpart here.

use std::collections::{BTreeMap, BTreeSet};

use keyrack_domain::{
    attempt::AttemptState,
    hold::HoldState,
    ids::{AttemptId, HotelId},
    money::Money,
    refund::RefundState,
};

use crate::{
    nights::{NightKey, Units, count},
    world::{Attempt, World},
};

/// A sentence that is not true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    pub invariant: u8,
    pub what: String,
}

pub fn invariants(world: &World) -> Vec<Breach> {
    let mut breaches = Vec::new();
    breaches.extend(counters(world).map(|what| Breach { invariant: 1, what }));
    breaches.extend(money(world).map(|what| Breach { invariant: 2, what }));
    breaches.extend(at_most_one(world).map(|what| Breach { invariant: 3, what }));
    breaches.extend(refunds(world).map(|what| Breach { invariant: 6, what }));
    breaches
}

/// Held is the sum over ACTIVE holds, confirmed over reservations; together never above sellable.
fn counters(world: &World) -> impl Iterator<Item = String> {
    let holds = world.holds.iter().filter(|(_, hold)| hold.state == HoldState::Active);
    let held = sums(holds.map(|(id, hold)| (id.hotel(), hold.units.clone())));
    let confirmed = sums(world.reservations.iter().map(|(id, made)| (id.hotel(), count(&made.nights))));
    let all: BTreeSet<_> = world.nights.keys().chain(held.keys()).chain(confirmed.keys()).copied().collect();
    all.into_iter().filter_map(move |key| {
        let night = world.nights.get(&key).copied().unwrap_or_default();
        let of = |sums: &BTreeMap<NightKey, u32>| sums.get(&key).copied().unwrap_or(0);
        let (held, confirmed) = (of(&held), of(&confirmed));
        let whole = (night.held, night.confirmed) == (held, confirmed)
            && night.held + night.confirmed <= night.sellable;
        (!whole).then(|| format!("{key:?} is {night:?}; holds add up to {held}, reservations to {confirmed}"))
    })
}

fn sums(claims: impl Iterator<Item = (HotelId, Units)>) -> BTreeMap<NightKey, u32> {
    let mut sums = BTreeMap::new();
    for (hotel, units) in claims {
        for ((date, room_type), k) in units {
            *sums.entry(NightKey { hotel, date, room_type }).or_insert(0) += k;
        }
    }
    sums
}

/// Captured is kept by a reservation, or went back, or is due back, or is an open case.
fn money(world: &World) -> impl Iterator<Item = String> {
    let unaccounted = |(id, attempt): (&AttemptId, &Attempt)| {
        let kept = world.reservations.values().any(|made| made.paid_by.contains(id));
        let back = refunded(world, *id, |_| true)?;
        let accounted = match attempt.state {
            // What goes back of it is within it, by 6.
            AttemptState::Confirmed => kept && attempt.captured == attempt.amount,
            AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
                !kept && !back.is_zero() && back == attempt.captured
            }
            AttemptState::Reconciling => !kept && back.is_zero(),
            AttemptState::PendingPayment | AttemptState::Failed => {
                !kept && back.is_zero() && attempt.captured.is_zero()
            }
        };
        (!accounted).then(|| format!("{id} is {attempt:?}; reserved: {kept}, refunds {back:?}"))
    };
    world.attempts.iter().filter_map(unaccounted)
}

/// One reservation and one open attempt per hold; an attempt never pays for another's room.
fn at_most_one(world: &World) -> impl Iterator<Item = String> {
    world.holds.keys().filter_map(|id| {
        let made = world.reservations.values().filter(|made| made.hold == Some(*id)).count();
        let open = world.attempts.values().filter(|attempt| attempt.hold == *id && attempt.state.is_open());
        let open = open.count();
        (made > 1 || open > 1).then(|| format!("{id} has {made} reservations and {open} open attempts"))
    })
}

/// No sum of refunds exceeds what was captured; what is marked as gone back has gone back.
fn refunds(world: &World) -> impl Iterator<Item = String> {
    world.attempts.iter().filter_map(|(id, attempt)| {
        let all = refunded(world, *id, |_| true)?;
        let done = refunded(world, *id, |state| state == RefundState::Succeeded)?;
        let within = all.amount() <= attempt.captured.amount();
        let settled = match attempt.state {
            AttemptState::Refunded => !done.is_zero(),
            AttemptState::PaymentCapturedBookingFailed => done.is_zero(),
            _ => true,
        };
        (!within || !settled).then(|| format!("{id} is {attempt:?}; refunds {all:?}, of them done {done:?}"))
    })
}

pub(crate) fn refunded(world: &World, id: AttemptId, counts: impl Fn(RefundState) -> bool) -> Option<Money> {
    let zero = Money::zero(world.attempts.get(&id)?.amount.currency());
    let refunds = world.refunds.values().filter(|refund| refund.attempt == id && counts(refund.state));
    refunds.into_iter().try_fold(zero, |sum, refund| sum.plus(refund.amount))
}
