//! A refund that somebody made at the provider. It is recorded as a refund of its own, by the provider's id, as
//! far as the payment goes; what goes further, and what we were about to send, waits for an operator.

use keyrack_db::DbError;
use keyrack_domain::{
    event::Event,
    ids::RefundId,
    money::Money,
    notice::{Finding, NoticeOutcome},
    refund::RefundState,
};
use keyrack_ledger::{AttemptMove, MovementKind, RefundRow};
use keyrack_store::{attempts, audit, provider_events, refunds};

use super::{
    Told,
    refund::{At, Verdict},
};
use crate::{
    refund_steps::{self, audit_of},
    request_refund::{left_of, payable},
};

/// Why it was made, as far as we know.
const REASON: &str = "made_at_the_provider";

pub(super) async fn record(
    at: At<'_>,
    told: &Told,
    id: RefundId,
    amount: Money,
    provider_id: &str,
) -> Result<Verdict, DbError> {
    if at.attempt.captured.is_zero() {
        // Of a capture that is not known yet.
        return Ok(None);
    }
    let is_known = at.refunds.iter().any(|known| known.provider_id.as_deref() == Some(provider_id));
    // Where nothing of it fitted, what was told of it is the only record.
    if is_known
        || provider_events::tells_of(at.connection, at.attempt.id, &told.provider, provider_id).await?
    {
        return Ok(Some((NoticeOutcome::NoOp, None)));
    }
    if amount.currency() != at.attempt.captured.currency() {
        return Ok(Some((NoticeOutcome::NoOp, Some(Finding::AnotherCurrency))));
    }
    let exceeds = amount.amount() > left_of(&at.attempt).amount();
    let fits = payable(&[&at.attempt], amount);
    let At { connection, attempt, refunds: known, now } = at;
    let mut outcome = NoticeOutcome::NoOp;
    if let Some(committed) = attempt.refund_committed.plus(fits).filter(|_| !fits.is_zero()) {
        let number = attempt.refunds + 1;
        let moved =
            AttemptMove { refund_committed: committed, refunds: number, ..attempt.moved(attempt.state) };
        attempts::shift(connection, &[moved], now).await?;
        let row = RefundRow {
            id,
            attempt: attempt.id,
            number,
            try_number: 1,
            state: RefundState::Succeeded,
            amount: fits,
            reason: REASON.to_owned(),
            requested_at: now,
        };
        refunds::insert_by_hand(connection, &row, provider_id).await?;
        let by_name = provider_id.to_owned();
        refund_steps::record(connection, &row, MovementKind::RefundSucceeded, by_name, now).await?;
        let entry = audit_of(&row, "refund.made_at_the_provider", told.actor.clone());
        audit::append(connection, &[entry]).await?;
        refund_steps::tell(connection, Event::RefundSucceeded(refund_steps::told(&row)), &row).await?;
        outcome = NoticeOutcome::Applied;
    }
    if !exceeds {
        return Ok(Some((outcome, None)));
    }
    // It was perhaps made in place of one of ours, which must not be sent too before somebody has looked.
    for ours in known.iter().filter(|known| known.row.state == RefundState::Requested) {
        refund_steps::park(connection, &ours.row, ours.row.try_number, told.actor.clone()).await?;
        outcome = NoticeOutcome::Applied;
    }
    Ok(Some((outcome, Some(Finding::MoreThanIsLeft))))
}
