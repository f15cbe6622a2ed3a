//! The charges of a stay that is not prepaid, and what becomes of them when its price changes. A prepaid stay has
//! none: then everything here finds nothing to do, and the whole difference is the payments'.
//!
//! A charge that an attempt is paying keeps its amount. Where less is owed it is waived, so that what the attempt
//! takes goes back, and a charge of the rest takes its place.

use std::time::Duration;

use keyrack_domain::{
    actor::Actor,
    clock::Moment,
    event::{ChargeMoved, Event},
    ids::ReservationId,
    money::{Currency, Money},
    policy::PaymentPolicy,
    schedule::{ChargeState, DueKind},
};
use keyrack_ledger::{AttemptRow, Changes, ChargeMove, ChargeRow, ReservationFacts, ReservationRow, Write};
use keyrack_store::{audit::NewAudit, outbox::NewEvent};
use rust_decimal::Decimal;

use crate::request_refund::{lesser, payable};

/// A charge that was declined is tried again on the next day, so often and no more; then it is the staff's.
const MOST_TRIES: i16 = 3;
const NEXT_TRY_AFTER: Duration = Duration::from_hours(24);

/// With what the reservation of a booking begins: what was paid with it, and what is due later.
pub(crate) fn begin(reservation: &ReservationRow, attempt: &AttemptRow, changes: &mut Changes) {
    if reservation.document.payment() == PaymentPolicy::Prepay {
        return;
    }
    for (number, due) in (1_i16..).zip(&reservation.document.schedule) {
        let charge = match due.at {
            Some(at) => owed(reservation.id, number, due.kind, due.amount, at),
            None => ChargeRow {
                state: ChargeState::Paid,
                attempt: Some(attempt.id),
                next_try_at: None,
                ..owed(reservation.id, number, due.kind, due.amount, reservation.created_at)
            },
        };
        changes.writes.push(Write::AddCharge(charge));
    }
}

fn owed(reservation: ReservationId, number: i16, kind: DueKind, amount: Money, at: Moment) -> ChargeRow {
    ChargeRow {
        reservation,
        number,
        kind,
        amount,
        due_at: at,
        state: ChargeState::Due,
        attempt: None,
        tries: 0,
        // What is paid at the property nobody collects.
        next_try_at: (kind != DueKind::AtProperty).then_some(at),
        owed_back: Money::zero(amount.currency()),
    }
}

/// The charges of one reservation while a decision changes them.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    before: Vec<ChargeRow>,
    after: Vec<ChargeRow>,
    currency: Currency,
}

impl Schedule {
    pub(crate) fn of(reservation: &ReservationFacts) -> Self {
        Self::new(&reservation.charges, reservation.row.total.currency())
    }

    pub(crate) fn new(charges: &[ChargeRow], currency: Currency) -> Self {
        Self { before: charges.to_vec(), after: charges.to_vec(), currency }
    }

    /// What is owed and not paid.
    pub(crate) fn owed(&self) -> Money {
        sum(self.after.iter().filter(|charge| charge.state.is_owed()), self.currency)
    }

    /// The stay costs less by so much: charges that are owed give way, the last one first. Returns what is
    /// left of it, which has been paid.
    pub(crate) fn lessen(&mut self, by: Money) -> Money {
        let mut rest = by;
        for place in (0..self.before.len()).rev() {
            let charge = &self.after[place];
            if rest.is_zero() || !charge.state.is_owed() {
                continue;
            }
            let (kind, due_at, amount) = (charge.kind, charge.due_at, charge.amount);
            let Some(over) = rest.minus(amount).filter(|over| over.amount() >= Decimal::ZERO) else {
                let remains = amount.minus(rest).unwrap_or(amount);
                self.set(place, remains, kind, due_at);
                return Money::zero(self.currency);
            };
            self.waive(place);
            rest = over;
        }
        rest
    }

    /// So much of what was paid goes back: to the card what the card has paid, as far as it goes, and the rest at
    /// the desk, as far as the desk has taken it. Returns the card's part; the desk's is kept on its charges, the
    /// last one first, for the staff, who give it back by hand.
    pub(crate) fn pay_back(&mut self, back: Money, payments: &[&AttemptRow]) -> Money {
        let refund = payable(payments, back);
        let mut rest = back.minus(refund).unwrap_or(Money::zero(self.currency));
        for charge in self.after.iter_mut().rev().filter(|charge| charge.is_taken_at_the_desk()) {
            let part = lesser(rest, left_at_the_desk(charge));
            charge.owed_back = charge.owed_back.plus(part).unwrap_or(charge.owed_back);
            rest = rest.minus(part).unwrap_or(rest);
        }
        refund
    }

    /// What the desk has taken and need not give back.
    pub(crate) fn kept_at_the_desk(&self) -> Money {
        let taken = self.after.iter().filter(|charge| charge.is_taken_at_the_desk());
        let zero = Money::zero(self.currency);
        taken.fold(zero, |sum, charge| sum.plus(left_at_the_desk(charge)).unwrap_or(sum))
    }

    /// The stay costs more by so much: the last charge that is owed takes it, or a new one, due at `due`.
    pub(crate) fn grow(&mut self, by: Money, kind: DueKind, due: Moment) {
        // One that was tried for the last time collects nothing more.
        let goes_on = |charge: &ChargeRow| charge.next_try_at.is_some() || charge.kind == DueKind::AtProperty;
        let takes = |charge: &ChargeRow| charge.state.is_owed() && !charge.is_in_flight() && goes_on(charge);
        let last = self.after.iter().rposition(takes);
        let grown = last.and_then(|place| Some((place, self.after[place].amount.plus(by)?)));
        match grown {
            Some((place, amount)) => self.after[place].amount = amount,
            None => self.add(by, kind, due),
        }
    }

    /// Another arrival: what is not being paid is due on its day.
    pub(crate) fn move_to(&mut self, kind: DueKind, due: Moment) {
        let idle = |charge: &&mut ChargeRow| {
            charge.kind == kind && charge.state == ChargeState::Due && charge.attempt.is_none()
        };
        for charge in self.after.iter_mut().filter(idle) {
            charge.due_at = due;
            charge.next_try_at = charge.next_try_at.map(|_| due);
        }
    }

    /// Nobody will come: all that is owed is one charge, due now.
    pub(crate) fn due_as_penalty(&mut self, now: Moment) {
        self.turn_into(DueKind::Penalty, now, |_| true);
    }

    /// The guest came after all: what was to be paid at the property is so again, unless it is being paid.
    pub(crate) fn back_to_the_property(&mut self, arrival: Moment) {
        let idle = |charge: &ChargeRow| charge.kind == DueKind::Penalty && !charge.is_in_flight();
        self.turn_into(DueKind::AtProperty, arrival, idle);
    }

    fn turn_into(&mut self, kind: DueKind, due: Moment, wanted: impl Fn(&ChargeRow) -> bool) {
        let turned: Vec<usize> = (0..self.after.len())
            .filter(|place| self.after[*place].state.is_owed() && wanted(&self.after[*place]))
            .collect();
        let amount = sum(turned.iter().map(|place| &self.after[*place]), self.currency);
        for place in turned {
            self.waive(place);
        }
        if !amount.is_zero() {
            self.add(amount, kind, due);
        }
    }

    fn set(&mut self, place: usize, amount: Money, kind: DueKind, due: Moment) {
        if self.after[place].is_in_flight() {
            self.waive(place);
            self.add(amount, kind, due);
        } else {
            self.after[place].amount = amount;
        }
    }

    /// An attempt that is paying it stays named: what it takes goes back.
    fn waive(&mut self, place: usize) {
        let charge = &mut self.after[place];
        charge.state = ChargeState::Waived;
        charge.next_try_at = None;
    }

    fn add(&mut self, amount: Money, kind: DueKind, due: Moment) {
        let Some(reservation) = self.before.first().map(|charge| charge.reservation) else { return };
        let last = self.after.iter().map(|charge| charge.number).max().unwrap_or(0);
        self.after.push(owed(reservation, last + 1, kind, amount, due));
    }

    /// What of it has changed.
    pub(crate) fn write(self, changes: &mut Changes) {
        let known = self.before.len();
        for (before, after) in self.before.iter().zip(&self.after) {
            if before != after {
                changes.writes.push(Write::ShiftCharge(ChargeMove { from: before.state, to: after.clone() }));
            }
        }
        changes.writes.extend(self.after.into_iter().skip(known).map(Write::AddCharge));
    }
}

fn left_at_the_desk(charge: &ChargeRow) -> Money {
    charge.amount.minus(charge.owed_back).unwrap_or(Money::zero(charge.amount.currency()))
}

fn sum<'c>(charges: impl Iterator<Item = &'c ChargeRow>, currency: Currency) -> Money {
    // Parts of a total that was within range.
    charges.fold(Money::zero(currency), |sum, charge| sum.plus(charge.amount).unwrap_or(sum))
}

/// What a cancellation or a no-show has left to pay, paid since or not.
pub(crate) fn penalties(charges: &[ChargeRow], currency: Currency) -> Money {
    let stands = |charge: &&ChargeRow| charge.kind == DueKind::Penalty && charge.state != ChargeState::Waived;
    sum(charges.iter().filter(stands), currency)
}

/// The charge that this attempt is paying, where it is owed still.
pub(crate) fn owed_by<'f>(attempt: &AttemptRow, reservation: &'f ReservationFacts) -> Option<&'f ChargeRow> {
    let pays = |charge: &&ChargeRow| charge.state == ChargeState::Due && charge.attempt == Some(attempt.id);
    reservation.charges.iter().find(pays)
}

/// Nothing was taken, or what was taken goes back: it is owed as before, and tried again another day.
pub(crate) fn fail(
    charge: &ChargeRow,
    attempt: &AttemptRow,
    actor: &Actor,
    now: Moment,
    changes: &mut Changes,
) {
    let again = charge.tries < MOST_TRIES;
    let to = ChargeRow {
        state: ChargeState::Failed,
        attempt: None,
        next_try_at: again.then(|| now.plus(NEXT_TRY_AFTER)),
        ..charge.clone()
    };
    shift(charge, to, Event::ChargeFailed(moved(charge, Some(attempt))), actor, changes);
}

/// `attempt` has paid it, or the hotel says that it was paid at the desk.
pub(crate) fn pay(charge: &ChargeRow, attempt: Option<&AttemptRow>, actor: &Actor, changes: &mut Changes) {
    let to = ChargeRow {
        state: ChargeState::Paid,
        attempt: attempt.map(|attempt| attempt.id),
        next_try_at: None,
        ..charge.clone()
    };
    shift(charge, to, Event::ChargePaid(moved(charge, attempt)), actor, changes);
}

fn moved(charge: &ChargeRow, attempt: Option<&AttemptRow>) -> ChargeMoved {
    ChargeMoved {
        reservation_id: charge.reservation,
        number: charge.number,
        kind: charge.kind,
        amount: charge.amount,
        attempt_id: attempt.map(|attempt| attempt.id),
    }
}

fn shift(charge: &ChargeRow, to: ChargeRow, event: Event, actor: &Actor, changes: &mut Changes) {
    let hotel = charge.reservation.hotel();
    changes.audit.push(NewAudit {
        hotel,
        actor: actor.clone(),
        action: event.type_name(),
        subject: charge.reservation.to_string(),
        before: Some(serde_json::json!({ "charge": charge.number, "state": charge.state })),
        after: Some(serde_json::json!({
            "state": to.state,
            "kind": to.kind,
            "amount": to.amount,
            "attempt": to.attempt,
        })),
    });
    changes.writes.push(Write::ShiftCharge(ChargeMove { from: charge.state, to }));
    changes.events.push(NewEvent { hotel, event });
}
