//! What is stored, what the provider has, and what is on its way between them.

use keyrack_domain::{attempt::AttemptState, hold::HoldState, refund::RefundState};

use super::{Fault, Protocol};

pub(crate) const HOLDS: usize = 2;
pub(crate) const ATTEMPTS: usize = 2;
pub(crate) const RESOLVERS: usize = 2;
pub(crate) const SELLABLE: u8 = 1;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct State {
    pub(crate) held: u8,
    pub(crate) confirmed: u8,
    pub(crate) holds: [Option<Hold>; HOLDS],
    pub(crate) attempts: [Option<Attempt>; ATTEMPTS],
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Hold {
    pub(crate) state: HoldState,
    pub(crate) past_end: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Attempt {
    pub(crate) hold: usize,
    pub(crate) state: AttemptState,
    pub(crate) clock: Clock,
    pub(crate) charge: Charge,
    /// The provider's answer to the call and its notice, as far as they are on their way to us.
    /// Both tell what was decided and do the same, so it is enough to count them.
    pub(crate) messages: u8,
    /// What each resolver was told when it asked, until it acts upon it.
    pub(crate) told: [Option<Record>; RESOLVERS],
    /// It paid for a reservation.
    pub(crate) reserved: bool,
    pub(crate) refund: Option<RefundState>,
    /// Times that the provider has given the money back.
    pub(crate) given_back: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Clock {
    Running,
    PastDeadline,
    PastTravelling,
}

/// What the provider has under the attempt's reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Charge {
    /// The call is on its way.
    Travelling,
    /// The call never arrives.
    NeverCalled,
    Captured,
    Declined,
    /// Cancelled by reference: a call that still arrives is refused.
    Cancelled,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Record {
    Captured,
    Nothing,
}

impl State {
    pub(crate) fn all_attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().flatten()
    }

    pub(crate) fn open_attempts(&self, hold: usize) -> usize {
        self.all_attempts().filter(|attempt| attempt.hold == hold && attempt.state.is_open()).count()
    }

    /// An attempt in flight delays the release, until its deadline at most.
    pub(crate) fn is_deferred(&self, hold: usize) -> bool {
        let pending = |attempt: &Attempt| attempt.state == AttemptState::PendingPayment;
        self.all_attempts().any(|a| a.hold == hold && pending(a) && a.clock == Clock::Running)
    }

    pub(crate) fn is_in(&self, hold: usize, state: HoldState) -> bool {
        self.holds[hold].is_some_and(|hold| hold.state == state)
    }

    /// What can have no effect any more, and which of two equals is which, is not told apart.
    /// It keeps the search small and takes no behaviour from it.
    pub(crate) fn forget_what_no_longer_matters(&mut self, rules: Protocol) {
        for hold in self.holds.iter_mut().flatten().filter(|hold| hold.state != HoldState::Active) {
            hold.past_end = true;
        }
        // Where the guard of its step stands, old news is a no-op once the case is closed.
        let guarded = rules.fault != Some(Fault::ResolveWithoutAttemptGuard);
        for attempt in self.attempts.iter_mut().flatten() {
            if guarded && attempt.state != AttemptState::Reconciling {
                attempt.told = [None; RESOLVERS];
            }
            attempt.told.sort_unstable();
            if !attempt.state.is_open() {
                attempt.clock = Clock::PastTravelling;
            }
            if !attempt.can_learn() {
                attempt.messages = 0;
            }
        }
    }
}

impl Attempt {
    pub(crate) const fn new(hold: usize) -> Self {
        Self {
            hold,
            state: AttemptState::PendingPayment,
            clock: Clock::Running,
            charge: Charge::Travelling,
            messages: 0,
            told: [None; RESOLVERS],
            reserved: false,
            refund: None,
            given_back: 0,
        }
    }

    /// Could a message from the provider still change something?
    fn can_learn(&self) -> bool {
        match self.state {
            AttemptState::PendingPayment => true,
            AttemptState::Reconciling | AttemptState::Failed => self.charge == Charge::Captured,
            AttemptState::Confirmed | AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
                false
            }
        }
    }

    /// The provider took it and did not give it back.
    pub(crate) fn keeps_money(&self) -> bool {
        self.charge == Charge::Captured && self.given_back == 0
    }
}
