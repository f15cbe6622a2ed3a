//! A refund is requested in the transaction of whatever makes it due.

use keyrack_domain::{
    clock::Moment,
    event::{Event, RefundChanged},
    ids::RefundId,
    money::{Currency, Money},
    refund::RefundState,
};
use keyrack_ledger::{
    AttemptMove, AttemptRow, Changes, Facts, Movement, MovementKind, RefundRow, ReservationFacts, Write,
};
use keyrack_payments::{Reference, RefundTry};
use keyrack_store::outbox::NewEvent;
use uuid::Uuid;

/// What has paid for a reservation, the last payment first: money goes back from there.
pub(crate) fn payments<'f>(reservation: &ReservationFacts, facts: &'f Facts) -> Vec<&'f AttemptRow> {
    reservation.paid_by.iter().rev().filter_map(|id| facts.attempts.get(id)).collect()
}

/// What of the payments has not been given back or promised.
pub(crate) fn left(payments: &[&AttemptRow], currency: Currency) -> Money {
    let sum = |sum: Money, attempt: &&AttemptRow| sum.plus(left_of(attempt)).unwrap_or(sum);
    payments.iter().fold(Money::zero(currency), sum)
}

pub(crate) fn left_of(attempt: &AttemptRow) -> Money {
    let zero = Money::zero(attempt.captured.currency());
    attempt.captured.minus(attempt.refund_committed).unwrap_or(zero)
}

/// What of `due` can still be paid back.
pub(crate) fn payable(payments: &[&AttemptRow], due: Money) -> Money {
    lesser(left(payments, due.currency()), due)
}

pub(crate) fn lesser(one: Money, other: Money) -> Money {
    if one.amount() < other.amount() { one } else { other }
}

/// At most what is left of the payments, each a refund of its own; the first one gets the id. A refund of
/// zero makes no record.
pub(crate) fn pay_back(
    first: RefundId,
    payments: &[&AttemptRow],
    due: Money,
    reason: &str,
    now: Moment,
    changes: &mut Changes,
) {
    let mut due = due;
    let mut id = first;
    for attempt in payments {
        let amount = lesser(left_of(attempt), due);
        let Some(rest) = due.minus(amount).filter(|_| !amount.is_zero()) else { continue };
        pay_back_of(id, attempt, amount, reason, now, changes);
        due = rest;
        // As unguessable as the first one, and as unlikely to be another's.
        id = RefundId::new(id.hotel(), Uuid::from_u128(id.uuid().as_u128().wrapping_add(1)));
    }
}

fn pay_back_of(
    refund: RefundId,
    attempt: &AttemptRow,
    amount: Money,
    reason: &str,
    now: Moment,
    changes: &mut Changes,
) {
    let Some(committed) = attempt.refund_committed.plus(amount) else { return };
    let number = attempt.refunds + 1;
    changes.writes.push(Write::ShiftAttempt(AttemptMove {
        refund_committed: committed,
        refunds: number,
        ..attempt.moved(attempt.state)
    }));
    let reference = RefundTry { attempt: attempt.id, number: number.unsigned_abs(), try_number: 1 };
    changes.writes.push(Write::Record(Movement {
        attempt: attempt.id,
        kind: MovementKind::RefundRequested,
        amount,
        reference: Reference::from(reference).to_string(),
    }));
    changes.writes.push(Write::RequestRefund(RefundRow {
        id: refund,
        attempt: attempt.id,
        number,
        try_number: 1,
        state: RefundState::Requested,
        amount,
        reason: reason.to_owned(),
        requested_at: now,
    }));
    let event = Event::RefundRequested(RefundChanged {
        refund_id: refund,
        attempt_id: attempt.id,
        amount,
        reason: reason.to_owned(),
    });
    changes.events.push(NewEvent { hotel: attempt.id.hotel(), event });
}
