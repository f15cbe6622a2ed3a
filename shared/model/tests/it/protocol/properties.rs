//! What must be true of every state, of every end, and of some state.

use keyrack_domain::{attempt::AttemptState, hold::HoldState, refund::RefundState};
use stateright::Property;

use super::{
    Protocol,
    state::{Attempt, Charge, HOLDS, Record, SELLABLE, State},
};

pub(crate) const NEVER_OVERSOLD: &str = "never oversold";
/// A unit taken from another guest's hold would be missing here.
pub(crate) const COUNTERS: &str = "counters are what the facts add up to";
pub(crate) const AT_MOST_ONE: &str = "at most one reservation and one open attempt per hold";
pub(crate) const CONSUMED: &str = "a consumed hold is a reservation";
pub(crate) const PAID: &str = "no room without money, no refund of a room that is kept";
pub(crate) const REFUNDED_ONCE: &str = "a refund gives back once what was taken once";
pub(crate) const MONEY_ENDS: &str = "money taken ends as a reservation or as a refund";
pub(crate) const UNITS_END: &str = "a unit is sold or back on sale in the end";

pub(crate) fn always() -> Vec<Property<Protocol>> {
    vec![
        Property::always(NEVER_OVERSOLD, |_, state: &State| state.held + state.confirmed <= SELLABLE),
        Property::always(COUNTERS, |_, state: &State| {
            let active = (0..HOLDS).filter(|hold| state.is_in(*hold, HoldState::Active)).count();
            let reserved = state.all_attempts().filter(|attempt| attempt.reserved).count();
            (usize::from(state.held), usize::from(state.confirmed)) == (active, reserved)
        }),
        Property::always(AT_MOST_ONE, |_, state: &State| {
            (0..HOLDS).all(|hold| {
                let reserved =
                    state.all_attempts().filter(|attempt| attempt.hold == hold && attempt.reserved);
                reserved.count() <= 1 && state.open_attempts(hold) <= 1
            })
        }),
        Property::always(CONSUMED, |_, state: &State| {
            (0..HOLDS)
                .filter(|hold| state.is_in(*hold, HoldState::Consumed))
                .all(|hold| state.all_attempts().any(|attempt| attempt.hold == hold && attempt.reserved))
        }),
        Property::always(PAID, |_, state: &State| {
            state.all_attempts().all(|attempt| {
                let paid = attempt.keeps_money() && attempt.refund.is_none();
                attempt.reserved == (attempt.state == AttemptState::Confirmed) && (paid || !attempt.reserved)
            })
        }),
        Property::always(REFUNDED_ONCE, |_, state: &State| {
            let taken = |attempt: &Attempt| u8::from(attempt.charge == Charge::Captured);
            state.all_attempts().all(|attempt| attempt.given_back <= taken(attempt))
        }),
    ]
}

/// Liveness without fairness: whatever has happened, the product does not come to rest before this
/// is true, and it always comes to rest.
pub(crate) fn in_the_end() -> Vec<Property<Protocol>> {
    vec![
        Property::always(MONEY_ENDS, |rules: &Protocol, state: &State| {
            let ended = |attempt: &Attempt| {
                !attempt.state.is_open()
                    && attempt.keeps_money() == attempt.reserved
                    && attempt.refund != Some(RefundState::Requested)
            };
            state.all_attempts().all(ended) || !rules.is_idle(state)
        }),
        Property::always(UNITS_END, |rules: &Protocol, state: &State| {
            state.held == 0 || !rules.is_idle(state)
        }),
    ]
}

/// What the search must have come through, so that the sentences above are not empty.
pub(crate) fn sometimes() -> Vec<Property<Protocol>> {
    vec![
        Property::sometimes(
            "a late capture goes back while another guest keeps the unit",
            |_, state: &State| {
                let late = state.all_attempts().find(|attempt| attempt.state == AttemptState::Refunded);
                let other = state.all_attempts().find(|attempt| attempt.reserved);
                late.zip(other).is_some_and(|(late, other)| late.hold != other.hold)
            },
        ),
        Property::sometimes("a decline is followed by another card on the same hold", |_, state: &State| {
            let declined = state.all_attempts().find(|attempt| attempt.charge == Charge::Declined);
            let paid = state.all_attempts().find(|attempt| attempt.reserved);
            declined.zip(paid).is_some_and(|(declined, paid)| declined.hold == paid.hold)
        }),
        Property::sometimes(
            "the sweep finds money, every message lost, and the hold alive",
            |_, state: &State| {
                state.all_attempts().any(|attempt| {
                    let found = attempt.told.contains(&Some(Record::Captured)) && attempt.messages == 0;
                    found && state.is_in(attempt.hold, HoldState::Active)
                })
            },
        ),
        Property::sometimes("a capture is found on an attempt that had failed", |_, state: &State| {
            let late = |attempt: &Attempt| attempt.charge == Charge::Captured;
            state.all_attempts().any(|attempt| attempt.state == AttemptState::Failed && late(attempt))
        }),
    ]
}
