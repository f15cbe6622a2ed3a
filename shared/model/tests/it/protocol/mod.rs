//! The booking protocol as a state machine small enough to be searched completely: one unit of one
//! night, two holds by two guests, two attempts to pay that may belong to either hold.
//!
//! Each transaction (T1, T2, T3, expiry, release, a resolver's step) is one atomic step with the
//! from-state guards that the product has. What lies between transactions is a step of its own and
//! may be lost: the call to the provider, its answer, its notice. A crash between two transactions
//! is the loss of what was in flight. Time is three things that may have passed: a hold's end, an
//! attempt's deadline, and the while after it in which a request may still be travelling.
//!
//! Every step moves something forward, so the graph has no cycle, and what must happen in the end
//! is asked of the states in which the product has nothing left to do.

pub(crate) mod properties;
mod state;
mod steps;

use stateright::{Model, Property};

use state::{ATTEMPTS, HOLDS, RESOLVERS, State};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Protocol {
    /// A late capture tries one fresh allocation before it is refunded.
    pub(crate) reallocate: bool,
    /// A guard that is left out, to show that the search would notice.
    pub(crate) fault: Option<Fault>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// T3 looks at the counter only.
    ConfirmWithoutHoldFence,
    /// The resolver does not look whether the attempt is still its own.
    ResolveWithoutAttemptGuard,
    /// The worker releases what is past its end, whatever has become of it.
    ExpireWithoutStateGuard,
    /// T1 reads the counter and does not check at the write.
    HoldWithoutCondition,
    /// A hold may be paid for twice at once.
    TwoOpenAttempts,
    /// A capture on a FAILED attempt is never looked for.
    NoSettlementComparison,
    /// Each try to refund has a reference of its own.
    RefundWithoutStableReference,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    PlaceHold(usize),
    ReleaseHold(usize),
    StartAttempt { attempt: usize, hold: usize },
    HoldTimeEnds(usize),
    Expire(usize),
    ClockMoves(usize),
    CallLost(usize),
    ProviderCaptures(usize),
    ProviderDeclines(usize),
    MessageLost(usize),
    MessageArrives(usize),
    SweepClaims(usize),
    Ask { attempt: usize, resolver: usize },
    CancelByReference { attempt: usize, resolver: usize },
    Resolve { attempt: usize, resolver: usize },
    CompareSettlement(usize),
    SendRefund(usize),
    RefundAnswered(usize),
}

impl Step {
    /// Done by a guest; everything else happens by itself.
    const fn is_asked_for(self) -> bool {
        matches!(self, Self::PlaceHold(_) | Self::ReleaseHold(_) | Self::StartAttempt { .. })
    }

    fn every() -> impl Iterator<Item = Self> {
        let holds = (0..HOLDS).flat_map(|hold| {
            [Self::PlaceHold(hold), Self::ReleaseHold(hold), Self::HoldTimeEnds(hold), Self::Expire(hold)]
        });
        let starts = (0..ATTEMPTS)
            .flat_map(|attempt| (0..HOLDS).map(move |hold| Self::StartAttempt { attempt, hold }));
        let attempts = (0..ATTEMPTS).flat_map(|attempt| {
            [
                Self::ClockMoves(attempt),
                Self::CallLost(attempt),
                Self::ProviderCaptures(attempt),
                Self::ProviderDeclines(attempt),
                Self::MessageLost(attempt),
                Self::MessageArrives(attempt),
                Self::SweepClaims(attempt),
                Self::CompareSettlement(attempt),
                Self::SendRefund(attempt),
                Self::RefundAnswered(attempt),
            ]
        });
        let asked = (0..ATTEMPTS).flat_map(|attempt| (0..RESOLVERS).map(move |resolver| (attempt, resolver)));
        let resolvers = asked.flat_map(|(attempt, resolver)| {
            [
                Self::Ask { attempt, resolver },
                Self::CancelByReference { attempt, resolver },
                Self::Resolve { attempt, resolver },
            ]
        });
        holds.chain(starts).chain(attempts).chain(resolvers)
    }
}

impl Protocol {
    /// Nothing is left to happen by itself, for as long as no guest does something.
    fn is_idle(self, state: &State) -> bool {
        Step::every().filter(|step| !step.is_asked_for()).all(|step| state.after(step, self).is_none())
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn actions(&self, _: &State, steps: &mut Vec<Step>) {
        steps.extend(Step::every());
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        state.after(step, *self)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = properties::always();
        properties.extend(properties::in_the_end());
        properties.extend(properties::sometimes());
        properties
    }
}
