//! Changing a stay: priced first, claiming nothing; then what it adds is held, the difference is paid, and the
//! stay is replaced in one step. Whatever goes wrong before that leaves the stay as it was.

use keyrack_domain::{
    attempt::AttemptState,
    change::ChangeState,
    clock::Moment,
    guest::Guest,
    hold::HoldState,
    ids::{AttemptId, ChangeId, HoldId, PrincipalId, RefundId, ReservationId},
    method_token::MethodToken,
    money::Money,
    operation_key::OperationKey,
    quote::{QuoteDocument, QuotedRoom, VALID_FOR},
    reservation::ReservationState,
};
use rust_decimal::Decimal;

mod price;

use crate::{
    keys::Input,
    nights::{Move, RoomNights, Units, beyond, count, room_nights},
    outcome::{Answer, Answered, Outcome, Refusal},
    reservation::lesser,
    world::{Attempt, Hold, Reservation, World},
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub reservation: ReservationId,
    /// The version that was priced.
    pub base_version: i32,
    pub state: ChangeState,
    /// The stay as it will be.
    pub document: QuoteDocument,
    /// Rooms that go, and what that costs.
    pub removed: Vec<(usize, Money)>,
    /// For the nights that go from rooms that stay.
    pub fees: Money,
    pub difference: Money,
    pub total: Money,
    /// What is paid before the stay changes.
    pub charge: Money,
    pub expires_at: Moment,
    pub attempt: Option<AttemptId>,
    pub to_version: Option<i32>,
    /// The first refund's, where less is to be paid.
    pub(crate) refund: RefundId,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PriceChange {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub reservation: ReservationId,
    pub if_match: i32,
    /// The rooms that shall stand, at the prices of the day; they take the places of those that do, in order.
    pub wanted: QuoteDocument,
    /// The new change's.
    pub id: ChangeId,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfirmChange {
    pub principal: PrincipalId,
    pub key: OperationKey,
    pub change: ChangeId,
    pub method: Option<MethodToken>,
    pub if_match: i32,
    /// Of what it may make.
    pub hold: HoldId,
    pub attempt: AttemptId,
    pub refund: RefundId,
}

const fn is_changeable(state: ReservationState) -> bool {
    matches!(state, ReservationState::Confirmed | ReservationState::CheckedIn)
}

impl Change {
    fn nights(&self, reservation: &Reservation) -> RoomNights {
        let gone = |number: usize| {
            reservation.cancelled.contains_key(&number)
                || self.removed.iter().any(|(room, _)| *room == number)
        };
        room_nights(&self.document, |number| !gone(number))
    }

    fn is_as_priced(&self, reservation: &Reservation) -> bool {
        reservation.version == self.base_version && is_changeable(reservation.state)
    }
}

impl World {
    pub fn price_change(&mut self, call: &PriceChange) -> Answer {
        let id = call.reservation;
        let input =
            Input::PriceChange { reservation: id, wanted: call.wanted.clone(), if_match: call.if_match };
        self.once(id.hotel(), call.principal, &call.key, input, |world| world.new_price(call))
    }

    fn new_price(&mut self, call: &PriceChange) -> Result<Outcome, Refusal> {
        let reservation = self.seen(call.principal, call.reservation)?;
        if reservation.paid_by.is_empty() {
            return Err(Refusal::OfChannel);
        }
        if !is_changeable(reservation.state) {
            return Err(Refusal::Conflict(reservation.state));
        }
        if reservation.version != call.if_match {
            return Err(Refusal::VersionConflict(reservation.version));
        }
        let (before, wanted) = (reservation.document.stay, call.wanted.stay);
        let today = self.today(call.reservation.hotel());
        let arrives_anew = wanted.check_in() != before.check_in();
        if arrives_anew && (wanted.check_in() < today || today > before.check_in())
            || wanted.check_out() < today
            || wanted == before && call.wanted.rooms.len() == reservation.standing().count()
        {
            return Err(Refusal::Invalid);
        }
        let priced = self.priced(call).ok_or(Refusal::Invalid)?;
        self.must_not_be_worse(&priced)?;
        let zero = priced.total.minus(priced.total).ok_or(Refusal::Invalid)?;
        let penalty = priced.removed.iter().map(|(_, penalty)| *penalty).try_fold(priced.fees, Money::plus);
        let outcome = Outcome::ChangePriced {
            change: call.id,
            difference: priced.difference,
            penalty: penalty.unwrap_or(zero),
            total: priced.total,
            charge: priced.charge,
        };
        self.changes.insert(call.id, priced);
        Ok(outcome)
    }

    /// What forbade the stay as it was sold does not forbid keeping it.
    fn must_not_be_worse(&self, change: &Change) -> Result<(), Refusal> {
        let hotel = change.reservation.hotel();
        let before = self.reservations.get(&change.reservation).ok_or(Refusal::NotFound)?;
        let known = self.broken(hotel, &before.document);
        let mut new = self.broken(hotel, &change.document);
        new.retain(|violation| !known.contains(violation));
        if new.is_empty() { Ok(()) } else { Err(Refusal::RestrictionViolated(new)) }
    }

    /// A repeat is told how its attempt stands by now.
    pub fn confirm_change(&mut self, call: &ConfirmChange) -> Answer {
        let change = self.changes.get(&call.change).ok_or(Refusal::NotFound)?;
        self.seen(call.principal, change.reservation)?;
        let input = Input::ConfirmChange {
            change: call.change,
            method: call.method.clone(),
            if_match: call.if_match,
        };
        let hotel = call.change.hotel();
        let told = self.once(hotel, call.principal, &call.key, input, |world| world.new_confirm(call))?;
        let Outcome::ChangePending { change, attempt } = told.outcome else { return Ok(told) };
        Ok(Answered { outcome: self.change_standing(change, attempt)?, ..told })
    }

    fn new_confirm(&mut self, call: &ConfirmChange) -> Result<Outcome, Refusal> {
        let change = self.changes.get(&call.change).ok_or(Refusal::NotFound)?;
        let reservation = self.reservations.get(&change.reservation).ok_or(Refusal::NotFound)?;
        if change.state != ChangeState::Priced {
            return Err(Refusal::NotPriced);
        }
        let of_this = |(_, other): &(&ChangeId, &Change)| {
            other.reservation == change.reservation && other.state == ChangeState::Started
        };
        if let Some((other, _)) = self.changes.iter().find(of_this) {
            return Err(Refusal::ChangeInProgress(*other));
        }
        if !is_changeable(reservation.state) {
            return Err(Refusal::Conflict(reservation.state));
        }
        if call.if_match != reservation.version || !change.is_as_priced(reservation) {
            return Err(Refusal::VersionConflict(reservation.version));
        }
        if self.now.is_past(change.expires_at) {
            return Err(Refusal::ChangeExpired);
        }
        self.must_not_be_worse(change)?;
        let (now_has, will_have) = (count(&reservation.nights), count(&change.nights(reservation)));
        let added = beyond(&will_have, &now_has);
        self.must_fit(call.change.hotel(), &added, &Units::new())?;
        if change.charge.is_zero() {
            self.swap(call.change, None);
            let version = self.changes.get(&call.change).and_then(|change| change.to_version);
            return Ok(Outcome::Changed { change: call.change, version });
        }
        let method = call.method.clone().ok_or(Refusal::Invalid)?;
        self.hold_and_open(call, method, &added)
    }

    fn hold_and_open(
        &mut self,
        call: &ConfirmChange,
        method: MethodToken,
        units: &Units,
    ) -> Result<Outcome, Refusal> {
        let change = self.changes.get(&call.change).ok_or(Refusal::NotFound)?;
        let reservation = self.reservations.get(&change.reservation).ok_or(Refusal::NotFound)?;
        let deadline = self.now.plus(self.settings.auth_timeout);
        let hold = Hold {
            principal: reservation.principal,
            document: change.document.clone(),
            state: HoldState::Active,
            expires_at: self.now.plus(VALID_FOR),
            deferred_until: Some(deadline),
            units: units.clone(),
        };
        let attempt = Attempt {
            principal: call.principal,
            key: call.key.clone(),
            hold: call.hold,
            change: Some(call.change),
            method,
            guest: self.guest_of(reservation).ok_or(Refusal::NotFound)?,
            amount: change.charge,
            state: AttemptState::PendingPayment,
            deadline,
            captured: reservation.zero(),
        };
        self.change(call.change.hotel(), units, Move::Hold);
        self.holds.insert(call.hold, hold);
        self.attempts.insert(call.attempt, attempt);
        let change = self.changes.get_mut(&call.change).ok_or(Refusal::NotFound)?;
        (change.state, change.attempt) = (ChangeState::Started, Some(call.attempt));
        Ok(Outcome::ChangePending { change: call.change, attempt: call.attempt })
    }

    fn guest_of(&self, reservation: &Reservation) -> Option<Guest> {
        Some(self.attempts.get(reservation.paid_by.first()?)?.guest.clone())
    }

    /// What was paid for, unless somebody has changed or cancelled the reservation meanwhile.
    pub(crate) fn complete(&mut self, id: ChangeId, attempt: AttemptId) -> bool {
        let Some(change) = self.changes.get(&id) else { return false };
        let Some(reservation) = self.reservations.get(&change.reservation) else { return false };
        let is_ours = change.state == ChangeState::Started && change.attempt == Some(attempt);
        if !is_ours || !change.is_as_priced(reservation) {
            return false;
        }
        if let Some(hold) = self.attempts.get(&attempt).map(|attempt| attempt.hold) {
            self.close(hold, HoldState::Consumed);
        }
        self.swap(id, Some(attempt));
        self.move_to(attempt, AttemptState::Confirmed);
        true
    }

    fn swap(&mut self, id: ChangeId, paid_by: Option<AttemptId>) {
        let Some(change) = self.changes.get(&id).cloned() else { return };
        let Some(reservation) = self.reservations.get_mut(&change.reservation) else { return };
        let (had, nights) = (count(&reservation.nights), change.nights(reservation));
        let has = count(&nights);
        reservation.nights = nights;
        reservation.document = change.document;
        reservation.fees = reservation.fees.plus(change.fees).unwrap_or(reservation.fees);
        reservation.cancelled.extend(change.removed);
        reservation.version += 1;
        reservation.paid_by.extend(paid_by);
        let version = reservation.version;
        self.change(id.hotel(), &beyond(&had, &has), Move::GiveUp);
        self.change(id.hotel(), &beyond(&has, &had), Move::Allocate);
        if let Some(change) = self.changes.get_mut(&id) {
            (change.state, change.to_version) = (ChangeState::Completed, Some(version));
        }
        let zero = Money::zero(change.total.currency());
        let less = zero.minus(change.difference).unwrap_or(zero);
        let above = self.left(change.reservation).and_then(|left| left.minus(change.total)).unwrap_or(zero);
        if less.amount() > Decimal::ZERO && above.amount() > Decimal::ZERO {
            self.pay_back(change.reservation, lesser(less, above), change.refund);
        }
    }

    /// Its attempt has ended without it: what was held goes back. PRICED, another card may pay.
    pub(crate) fn end_change(&mut self, attempt: AttemptId, to: ChangeState) {
        let Some(row) = self.attempts.get(&attempt) else { return };
        let (Some(change), hold) = (row.change, row.hold) else { return };
        self.close(hold, HoldState::Released);
        let ours =
            |change: &&mut Change| change.state == ChangeState::Started && change.attempt == Some(attempt);
        if let Some(change) = self.changes.get_mut(&change).filter(ours) {
            change.state = to;
        }
    }

    /// How a confirmation stands.
    fn change_standing(&self, change: ChangeId, attempt: AttemptId) -> Result<Outcome, Refusal> {
        let row = self.attempts.get(&attempt).ok_or(Refusal::NotFound)?;
        let version = self.changes.get(&change).ok_or(Refusal::NotFound)?.to_version;
        Ok(match row.state {
            AttemptState::PendingPayment | AttemptState::Reconciling => {
                Outcome::ChangePending { change, attempt }
            }
            AttemptState::Confirmed => Outcome::Changed { change, version },
            AttemptState::Failed => Outcome::ChangeDeclined { change, attempt },
            AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
                Outcome::ChangeFailed { change, amount: row.captured }
            }
        })
    }
}

/// A room that stays keeps its terms; with a later arrival their instants stay where they were.
fn with_terms_of(sold: &QuotedRoom, wanted: &QuotedRoom, later: u16) -> QuotedRoom {
    let mut cancellation = sold.cancellation.clone();
    for rung in &mut cancellation.rungs {
        rung.until_days_before = rung.until_days_before.saturating_add(later);
    }
    QuotedRoom { cancellation, payment: sold.payment, deposit: sold.deposit, ..wanted.clone() }
}
