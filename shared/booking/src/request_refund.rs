//! A refund is requested in the transaction of whatever makes it due.

use keyrack_domain::{
    clock::Moment,
    event::{Event, RefundChanged},
    ids::RefundId,
    money::Money,
    refund::RefundState,
};
use keyrack_ledger::{AttemptMove, AttemptRow, Changes, Movement, MovementKind, RefundRow, Write};
use keyrack_payments::{Reference, RefundTry};
use keyrack_store::outbox::NewEvent;

/// What of the payment has not been given back or promised.
pub(crate) fn left(attempt: &AttemptRow) -> Money {
    let zero = Money::zero(attempt.captured.currency());
    attempt.captured.minus(attempt.refund_committed).unwrap_or(zero)
}

/// What of `due` can still be paid back.
pub(crate) fn payable(attempt: &AttemptRow, due: Money) -> Money {
    let left = left(attempt);
    if due.amount() > left.amount() { left } else { due }
}

/// At most what is left of the payment. A refund of zero makes no record.
pub(crate) fn pay_back(
    refund: RefundId,
    attempt: &AttemptRow,
    due: Money,
    reason: &str,
    now: Moment,
    changes: &mut Changes,
) {
    let amount = payable(attempt, due);
    let Some(committed) = attempt.refund_committed.plus(amount).filter(|_| !amount.is_zero()) else { return };
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
