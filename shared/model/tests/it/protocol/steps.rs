//! Each step with its guards. `None`: it cannot be taken, and nothing has changed.

use keyrack_domain::{attempt::AttemptState, hold::HoldState, refund::RefundState};

use super::{
    Fault, Protocol, Step,
    state::{Attempt, Charge, Clock, Hold, Record, SELLABLE, State},
};

impl State {
    pub(crate) fn after(&self, step: Step, rules: Protocol) -> Option<Self> {
        let mut next = self.clone();
        match step {
            Step::PlaceHold(hold) => next.place_hold(hold, rules),
            Step::ReleaseHold(hold) => next.release_hold(hold),
            Step::StartAttempt { attempt, hold } => next.start_attempt(attempt, hold, rules),
            Step::HoldTimeEnds(hold) => next.hold_time_ends(hold),
            Step::Expire(hold) => next.expire(hold, rules),
            Step::MessageArrives(attempt) => next.message_arrives(attempt, rules),
            Step::Resolve { attempt, resolver } => next.resolve(attempt, resolver, rules),
            Step::CompareSettlement(attempt) => next.compare_settlement(attempt, rules),
            Step::ClockMoves(attempt) => next.attempt(attempt)?.clock_moves(),
            Step::CallLost(attempt) => next.attempt(attempt)?.decide(Charge::NeverCalled),
            Step::ProviderCaptures(attempt) => next.attempt(attempt)?.decide(Charge::Captured),
            Step::ProviderDeclines(attempt) => next.attempt(attempt)?.decide(Charge::Declined),
            Step::MessageLost(attempt) => next.attempt(attempt)?.receive(),
            Step::SweepClaims(attempt) => next.attempt(attempt)?.claim(),
            Step::Ask { attempt, resolver } => next.attempt(attempt)?.ask(resolver),
            Step::CancelByReference { attempt, resolver } => next.attempt(attempt)?.cancel(resolver),
            Step::SendRefund(attempt) => next.attempt(attempt)?.send_refund(rules),
            Step::RefundAnswered(attempt) => next.attempt(attempt)?.refund_answered(),
        }?;
        next.forget_what_no_longer_matters(rules);
        Some(next)
    }

    fn attempt(&mut self, attempt: usize) -> Option<&mut Attempt> {
        self.attempts[attempt].as_mut()
    }

    /// T1
    fn place_hold(&mut self, hold: usize, rules: Protocol) -> Option<()> {
        let fits = self.held + self.confirmed < SELLABLE;
        let checked = fits || rules.fault == Some(Fault::HoldWithoutCondition);
        if self.holds[hold].is_some() || !checked || !comes_next(&self.holds, hold) {
            return None;
        }
        self.held += 1;
        self.holds[hold] = Some(Hold { state: HoldState::Active, past_end: false });
        Some(())
    }

    fn release_hold(&mut self, hold: usize) -> Option<()> {
        let released = self.holds[hold]?.state.release().ok()?;
        if self.open_attempts(hold) > 0 {
            return None;
        }
        self.close_hold(hold, released)
    }

    fn hold_time_ends(&mut self, hold: usize) -> Option<()> {
        let hold = self.holds[hold].as_mut().filter(|hold| !hold.past_end)?;
        hold.past_end = true;
        Some(())
    }

    fn expire(&mut self, hold: usize, rules: Protocol) -> Option<()> {
        let Hold { state, past_end } = self.holds[hold]?;
        let is_mine = state.expire().is_ok() || rules.fault == Some(Fault::ExpireWithoutStateGuard);
        if !past_end || self.is_deferred(hold) || !is_mine {
            return None;
        }
        self.close_hold(hold, HoldState::Expired)
    }

    fn close_hold(&mut self, hold: usize, to: HoldState) -> Option<()> {
        self.held = self.held.checked_sub(1)?;
        self.holds[hold].as_mut()?.state = to;
        Some(())
    }

    /// T2. The call to the provider goes out when it has committed.
    fn start_attempt(&mut self, attempt: usize, hold: usize, rules: Protocol) -> Option<()> {
        let Hold { state, past_end } = self.holds[hold]?;
        let alone = self.open_attempts(hold) == 0 || rules.fault == Some(Fault::TwoOpenAttempts);
        let payable = state == HoldState::Active && !past_end && alone;
        if self.attempts[attempt].is_some() || !payable || !comes_next(&self.attempts, attempt) {
            return None;
        }
        self.attempts[attempt] = Some(Attempt::new(hold));
        Some(())
    }

    /// What the provider decided reaches us, by answer or by notice.
    fn message_arrives(&mut self, attempt: usize, rules: Protocol) -> Option<()> {
        let heard = self.attempts[attempt]?;
        self.attempt(attempt)?.receive()?;
        match (heard.charge, heard.state) {
            (Charge::Captured, AttemptState::PendingPayment) => self.confirm_or_open_case(attempt, rules)?,
            (Charge::Captured, AttemptState::Failed) => self.request_refund(attempt)?,
            (Charge::Declined, AttemptState::PendingPayment) => {
                self.attempt(attempt)?.state = AttemptState::Failed;
            }
            // Decided already, or a resolver's case: a no-op.
            _ => {}
        }
        Some(())
    }

    fn confirm_or_open_case(&mut self, attempt: usize, rules: Protocol) -> Option<()> {
        if !self.try_confirm(attempt, rules) {
            self.attempt(attempt)?.state = AttemptState::Reconciling;
        }
        Some(())
    }

    /// T3, rolled back as a whole where a fence does not match.
    fn try_confirm(&mut self, attempt: usize, rules: Protocol) -> bool {
        let mut after = self.clone();
        let committed = after.confirm(attempt, rules).is_some();
        if committed {
            *self = after;
        }
        committed
    }

    fn confirm(&mut self, attempt: usize, rules: Protocol) -> Option<()> {
        let hold = self.attempts[attempt]?.hold;
        match self.holds[hold]?.state.consume() {
            Ok(consumed) => self.holds[hold].as_mut()?.state = consumed,
            Err(_) if rules.fault == Some(Fault::ConfirmWithoutHoldFence) => {}
            Err(_) => return None,
        }
        self.held = self.held.checked_sub(1)?;
        self.reserve(attempt)
    }

    fn reserve(&mut self, attempt: usize) -> Option<()> {
        self.confirmed += 1;
        let attempt = self.attempt(attempt)?;
        (attempt.state, attempt.reserved) = (AttemptState::Confirmed, true);
        Some(())
    }

    /// A resolver acts on what it was told, which may be old news by now.
    fn resolve(&mut self, attempt: usize, resolver: usize, rules: Protocol) -> Option<()> {
        let record = self.attempt(attempt)?.told[resolver].take()?;
        let is_mine = self.attempts[attempt]?.state == AttemptState::Reconciling;
        if !is_mine && rules.fault != Some(Fault::ResolveWithoutAttemptGuard) {
            return Some(());
        }
        if record == Record::Nothing {
            self.attempt(attempt)?.state = AttemptState::Failed;
            return Some(());
        }
        if self.try_confirm(attempt, rules) {
            return Some(());
        }
        if rules.reallocate && self.held + self.confirmed < SELLABLE {
            return self.reserve(attempt);
        }
        self.request_refund(attempt)
    }

    /// The provider's own account finds what nobody told us.
    fn compare_settlement(&mut self, attempt: usize, rules: Protocol) -> Option<()> {
        let found = self.attempts[attempt]?;
        let missed = found.state == AttemptState::Failed && found.charge == Charge::Captured;
        if !missed || rules.fault == Some(Fault::NoSettlementComparison) {
            return None;
        }
        self.request_refund(attempt)
    }

    fn request_refund(&mut self, attempt: usize) -> Option<()> {
        let attempt = self.attempt(attempt)?;
        attempt.state = AttemptState::PaymentCapturedBookingFailed;
        attempt.refund = Some(RefundState::Requested);
        Some(())
    }
}

impl Attempt {
    fn clock_moves(&mut self) -> Option<()> {
        self.clock = match self.clock {
            Clock::Running => Clock::PastDeadline,
            Clock::PastDeadline => Clock::PastTravelling,
            Clock::PastTravelling => return None,
        };
        Some(())
    }

    /// A call arrives once, or never.
    fn decide(&mut self, charge: Charge) -> Option<()> {
        if self.charge != Charge::Travelling {
            return None;
        }
        self.charge = charge;
        self.messages = if charge == Charge::NeverCalled { 0 } else { 2 };
        Some(())
    }

    fn receive(&mut self) -> Option<()> {
        self.messages = self.messages.checked_sub(1)?;
        Some(())
    }

    fn claim(&mut self) -> Option<()> {
        if self.state != AttemptState::PendingPayment || self.clock == Clock::Running {
            return None;
        }
        self.state = AttemptState::Reconciling;
        Some(())
    }

    /// Told "nothing" before the while is over, a resolver waits: no step.
    fn ask(&mut self, resolver: usize) -> Option<()> {
        if self.state != AttemptState::Reconciling || self.told[resolver].is_some() {
            return None;
        }
        let over = self.clock == Clock::PastTravelling;
        self.told[resolver] = Some(match self.charge {
            Charge::Captured => Record::Captured,
            Charge::Declined | Charge::Cancelled => Record::Nothing,
            Charge::Travelling | Charge::NeverCalled if over => Record::Nothing,
            Charge::Travelling | Charge::NeverCalled => return None,
        });
        Some(())
    }

    fn cancel(&mut self, resolver: usize) -> Option<()> {
        let mine = self.state == AttemptState::Reconciling && self.told[resolver].is_none();
        if !mine || !matches!(self.charge, Charge::Travelling | Charge::NeverCalled) {
            return None;
        }
        self.charge = Charge::Cancelled;
        self.told[resolver] = Some(Record::Nothing);
        Some(())
    }

    /// Repeated until it is answered; the provider knows a reference that it has seen.
    fn send_refund(&mut self, rules: Protocol) -> Option<()> {
        let again = rules.fault == Some(Fault::RefundWithoutStableReference) && self.given_back < 2;
        if self.refund != Some(RefundState::Requested) || (self.given_back > 0 && !again) {
            return None;
        }
        self.given_back += 1;
        Some(())
    }

    fn refund_answered(&mut self) -> Option<()> {
        if self.refund != Some(RefundState::Requested) || self.given_back == 0 {
            return None;
        }
        self.refund = Some(RefundState::Succeeded);
        self.state = self.state.becomes(AttemptState::Refunded).ok()?;
        Some(())
    }
}

/// Guests and cards are alike, so it is enough that the first comes before the second.
fn comes_next<T>(slots: &[Option<T>], slot: usize) -> bool {
    slots[..slot].iter().all(Option::is_some)
}
