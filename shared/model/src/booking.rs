//! T2, the provider's answer, T3, reconciliation and the refund.

use keyrack_domain::{
    attempt::AttemptState,
    change::ChangeState,
    guest::Guest,
    hold::HoldState,
    ids::{AttemptId, HoldId, PrincipalId, RefundId, ReservationId},
    method_token::MethodToken,
    money::Money,
    operation_key::OperationKey,
    refund::RefundState,
};

use crate::{
    nights::{Move, Units},
    outcome::{Answer, Answered, Outcome, Refusal},
    world::{Attempt, LateCapture, Refund, Reservation, World},
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StartAttempt {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub hold: HoldId,
    pub method: MethodToken,
    pub guest: Guest,
    /// The new attempt's, if it is started.
    pub id: AttemptId,
}

/// What the provider answered to the call, or told by a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProviderAnswer {
    Captured,
    Declined,
    /// No answer in time.
    Unknown,
}

/// What the provider knows under the attempt's reference when the sweep asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProviderRecord {
    Captured,
    Nothing,
    /// Nothing, and nothing can come any more: it was cancelled by reference.
    Cancelled,
    /// Nothing yet, and what was asked for can no longer be stopped.
    UnderWay,
}

/// For what a step may create.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewIds {
    pub reservation: ReservationId,
    pub refund: RefundId,
}

impl World {
    /// The key lives on the attempt: a repeat is told the present, however late it comes.
    pub fn start_attempt(&mut self, call: &StartAttempt) -> Answer {
        self.own_hold(call.principal, call.hold)?;
        let hotel = call.hold.hotel();
        let same_key = |id: &AttemptId, attempt: &Attempt| {
            id.hotel() == hotel
                && attempt.change.is_none()
                && attempt.principal == call.principal
                && attempt.key == call.key
        };
        if let Some((id, earlier)) = self.attempts.iter().find(|(id, attempt)| same_key(id, attempt)) {
            if (earlier.hold, &earlier.method, &earlier.guest) != (call.hold, &call.method, &call.guest) {
                return Err(Refusal::KeyReused);
            }
            return Ok(Answered { outcome: self.standing(*id)?, replayed: true });
        }
        let hold = self.own_hold(call.principal, call.hold)?;
        self.must_not_be_paid_for(call.hold)?;
        match hold.state {
            HoldState::Expired => return Err(Refusal::HoldExpired),
            HoldState::Active if self.now.is_past(hold.expires_at) => return Err(Refusal::HoldExpired),
            HoldState::Active => {}
            closed @ (HoldState::Consumed | HoldState::Released) => {
                return Err(Refusal::HoldNotActive(closed));
            }
        }
        let amount = hold.document.total;
        let deadline = self.now.plus(self.settings.auth_timeout);
        let attempt = Attempt {
            principal: call.principal,
            key: call.key.clone(),
            hold: call.hold,
            change: None,
            method: call.method.clone(),
            guest: call.guest.clone(),
            amount,
            state: AttemptState::PendingPayment,
            deadline,
            captured: Money::zero(amount.currency()),
        };
        self.attempts.insert(call.id, attempt);
        self.set_deferral(call.hold, true);
        Ok(Answered { outcome: self.standing(call.id)?, replayed: false })
    }

    /// The provider's answer on the guest's own request, or by notice.
    pub fn settle(&mut self, id: AttemptId, answer: ProviderAnswer, new: NewIds) -> Result<Outcome, Refusal> {
        let state = self.attempts.get(&id).ok_or(Refusal::NotFound)?.state;
        match (answer, state) {
            (ProviderAnswer::Captured, AttemptState::PendingPayment) => {
                self.note_capture(id);
                if !self.confirm(id, AttemptState::PendingPayment, new) {
                    self.move_to(id, AttemptState::Reconciling);
                }
            }
            // The resolver owns the case; it will find the money by reference.
            (ProviderAnswer::Captured, AttemptState::Reconciling) => self.note_capture(id),
            (ProviderAnswer::Captured, AttemptState::Failed) => {
                self.note_capture(id);
                self.request_refund(id, new);
            }
            (ProviderAnswer::Declined, AttemptState::PendingPayment) => self.fail(id),
            // Late, repeated or reordered: what is decided stays decided.
            (ProviderAnswer::Captured | ProviderAnswer::Declined | ProviderAnswer::Unknown, _) => {}
        }
        self.standing(id)
    }

    /// The sweep on one attempt that is past its deadline, or on a case left open.
    pub fn reconcile(
        &mut self,
        id: AttemptId,
        record: ProviderRecord,
        new: NewIds,
    ) -> Result<Outcome, Refusal> {
        let attempt = self.attempts.get(&id).ok_or(Refusal::NotFound)?;
        let (deadline, taken) = (attempt.deadline, !attempt.captured.is_zero());
        let due = match attempt.state {
            AttemptState::PendingPayment => self.now.is_past(deadline),
            state => state == AttemptState::Reconciling,
        };
        if !due {
            return self.standing(id);
        }
        self.move_to(id, AttemptState::Reconciling);
        match record {
            ProviderRecord::Captured => self.resolve_capture(id, new),
            ProviderRecord::Cancelled if !taken => self.fail(id),
            // A request may still be travelling.
            ProviderRecord::Nothing
                if !taken && self.now.is_past(deadline.plus(self.settings.travelling)) =>
            {
                self.fail(id);
            }
            ProviderRecord::Nothing | ProviderRecord::Cancelled | ProviderRecord::UnderWay => {}
        }
        self.standing(id)
    }

    fn resolve_capture(&mut self, id: AttemptId, new: NewIds) {
        self.note_capture(id);
        let confirmed = self.confirm(id, AttemptState::Reconciling, new)
            || (self.settings.late_capture == LateCapture::Reallocate && self.allocate_anew(id, new));
        if !confirmed {
            self.request_refund(id, new);
        }
    }

    /// T3: both fences match, or nothing happens.
    fn confirm(&mut self, id: AttemptId, from: AttemptState, new: NewIds) -> bool {
        let Some(attempt) = self.attempts.get(&id).filter(|attempt| attempt.state == from) else {
            return false;
        };
        let (hold_id, change) = (attempt.hold, attempt.change);
        let Some(hold) = self.holds.get_mut(&hold_id).filter(|hold| hold.state == HoldState::Active) else {
            return false;
        };
        if let Some(change) = change {
            return self.complete(change, id);
        }
        (hold.state, hold.deferred_until) = (HoldState::Consumed, None);
        let units = hold.units.clone();
        self.change(hold_id.hotel(), &units, Move::Confirm);
        self.reserve(id, hold_id, new.reservation);
        true
    }

    /// The hold is gone. Its rooms may still be free, and may still be sold.
    fn allocate_anew(&mut self, id: AttemptId, new: NewIds) -> bool {
        let booking = self.attempts.get(&id).filter(|attempt| attempt.change.is_none());
        let Some(hold_id) = booking.map(|attempt| attempt.hold) else { return false };
        let Some(hold) = self.holds.get(&hold_id).cloned() else { return false };
        let units = hold.units.clone();
        let fits = self.must_fit(hold_id.hotel(), &units, &Units::new()).is_ok();
        if !fits || !self.broken(hold_id.hotel(), &hold.document).is_empty() {
            return false;
        }
        self.change(hold_id.hotel(), &units, Move::Allocate);
        self.reserve(id, hold_id, new.reservation);
        true
    }

    fn reserve(&mut self, attempt: AttemptId, hold_id: HoldId, id: ReservationId) {
        self.move_to(attempt, AttemptState::Confirmed);
        let Some(hold) = self.holds.get(&hold_id) else { return };
        let (principal, document) = (hold.principal, hold.document.clone());
        let made = Reservation {
            hold: Some(hold_id),
            paid_by: vec![attempt],
            ..Reservation::new(principal, document)
        };
        self.reservations.insert(id, made);
    }

    /// Nothing was taken. The hold of a booking is as it was; that of a change goes back.
    fn fail(&mut self, id: AttemptId) {
        self.move_to(id, AttemptState::Failed);
        self.end_change(id, ChangeState::Priced);
    }

    fn request_refund(&mut self, id: AttemptId, new: NewIds) {
        self.move_to(id, AttemptState::PaymentCapturedBookingFailed);
        if let Some(amount) = self.attempts.get(&id).map(|attempt| attempt.captured) {
            let refund = Refund { attempt: id, amount, state: RefundState::Requested, tries: 1 };
            self.refunds.insert(new.refund, refund);
        }
        self.end_change(id, ChangeState::Failed);
    }

    /// The provider's definite answer to a refund; an unknown one changes nothing.
    pub fn settle_refund(&mut self, id: RefundId, succeeded: bool) -> Result<RefundState, Refusal> {
        let bound = self.settings.refund_tries;
        let refund = self.refunds.get_mut(&id).ok_or(Refusal::NotFound)?;
        if refund.state != RefundState::Requested {
            return Ok(refund.state);
        }
        if succeeded {
            refund.state = RefundState::Succeeded;
        } else if refund.tries >= bound {
            refund.state = RefundState::NeedsAttention;
        } else {
            refund.tries += 1;
        }
        let (attempt, state) = (refund.attempt, refund.state);
        let failed = |attempt: &Attempt| attempt.state == AttemptState::PaymentCapturedBookingFailed;
        if state == RefundState::Succeeded && self.attempts.get(&attempt).is_some_and(failed) {
            self.move_to(attempt, AttemptState::Refunded);
        }
        Ok(state)
    }

    fn note_capture(&mut self, id: AttemptId) {
        if let Some(attempt) = self.attempts.get_mut(&id) {
            attempt.captured = attempt.amount;
        }
    }

    /// Along the table of moves; the deferral of the hold ends when its attempt is pending no more.
    pub(crate) fn move_to(&mut self, id: AttemptId, to: AttemptState) {
        let Some(attempt) = self.attempts.get_mut(&id) else { return };
        let Ok(state) = attempt.state.becomes(to) else { return };
        attempt.state = state;
        let hold = attempt.hold;
        self.set_deferral(hold, false);
    }

    fn set_deferral(&mut self, id: HoldId, in_flight: bool) {
        let until = in_flight.then(|| self.now.plus(self.settings.auth_timeout));
        if let Some(hold) = self.holds.get_mut(&id).filter(|hold| hold.state == HoldState::Active) {
            hold.deferred_until = until;
        }
    }

    /// What a client is told of the booking now.
    pub fn standing(&self, id: AttemptId) -> Result<Outcome, Refusal> {
        let attempt = self.attempts.get(&id).ok_or(Refusal::NotFound)?;
        Ok(match attempt.state {
            AttemptState::PendingPayment => Outcome::Pending { attempt: id, reconciling: false },
            AttemptState::Reconciling => Outcome::Pending { attempt: id, reconciling: true },
            AttemptState::Failed => Outcome::Declined { attempt: id },
            AttemptState::Confirmed => {
                let paid = |reservation: &Reservation| reservation.paid_by.contains(&id);
                let mut made = self.reservations.iter().filter(|(_, reservation)| paid(reservation));
                let (reservation, _) = made.next().ok_or(Refusal::NotFound)?;
                Outcome::Confirmed { attempt: id, reservation: *reservation }
            }
            AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
                let mut due = self.refunds.iter().filter(|(_, refund)| refund.attempt == id);
                let (refund, found) = due.next().ok_or(Refusal::NotFound)?;
                Outcome::BookingFailed { attempt: id, refund: *refund, state: found.state }
            }
        })
    }
}
