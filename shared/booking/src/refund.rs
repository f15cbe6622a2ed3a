//! Sending refunds to the provider. The reference is stable, so that a repeat pays nothing twice, and the
//! try in it rises only after a definite failure, never after an unknown outcome.

use std::time::Duration;

use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    event::{Event, RefundChanged},
};
use keyrack_ledger::{Ledger, Movement, MovementKind, RefundRow};
use keyrack_payments::{Deadline, Reference, Refund, RefundTry};
use keyrack_store::{
    attempts,
    audit::{self, NewAudit},
    clock,
    outbox::{self, NewEvent},
    refunds,
};

use crate::{Desk, Fault, give_up_booking::reference_of};

/// A sender that dies leaves its refunds to the next one after so long.
const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// Definite failures after which an operator must look.
const MAX_TRIES: i32 = 5;

/// Refunds of one run.
pub const MAX_SENT: u16 = 50;

/// What one run did on one shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    pub taken: usize,
    pub settled: usize,
}

impl Sent {
    /// More may be due.
    pub fn is_full(self) -> bool {
        self.taken >= usize::from(MAX_SENT)
    }
}

/// One bounded run over one shard. Several at once are normal.
pub async fn run_once(desk: &Desk, ledger: &Ledger) -> Result<Sent, Fault> {
    let due: Vec<RefundRow> = ledger
        .database()
        .transaction("take_due_refunds", |connection| {
            Box::pin(async move {
                let now = clock::now(connection).await?;
                refunds::take_due(connection, now, now.plus(AGAIN_AFTER), i64::from(MAX_SENT)).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    let mut sent = Sent { taken: due.len(), settled: 0 };
    for refund in due {
        sent.settled += usize::from(send(desk, ledger, refund).await?);
    }
    Ok(sent)
}

async fn send(desk: &Desk, ledger: &Ledger, refund: RefundRow) -> Result<bool, Fault> {
    let deadline = Deadline::after(desk.settings().provider_deadline);
    let name = try_of(&refund)?;
    match desk.provider().refund(name, refund.amount, deadline).await {
        Refund::Refunded => {
            settle(ledger, refund).await?;
            Ok(true)
        }
        Refund::Refused(refusal) => {
            tracing::error!(refund = %refund.id, %refusal, try_number = refund.try_number, "the provider refused a refund");
            fail(ledger, refund).await?;
            Ok(false)
        }
        unknown @ (Refund::NotSent(_) | Refund::Unknown(_)) => {
            tracing::warn!(refund = %refund.id, ?unknown, "a refund's outcome is unknown; it is sent again by the same name");
            Ok(false)
        }
    }
}

fn try_of(refund: &RefundRow) -> Result<RefundTry, Fault> {
    reference_of(refund).ok_or_else(|| Fault::internal(DbError::unreadable("refund number", &refund.number)))
}

/// The money is back: the refund, its attempt, the history and the event in one transaction.
async fn settle(ledger: &Ledger, refund: RefundRow) -> Result<(), Fault> {
    let reference = Reference::from(try_of(&refund)?).to_string();
    ledger
        .database()
        .transaction("settle_refund", move |connection| {
            let (refund, reference) = (refund.clone(), reference.clone());
            Box::pin(async move {
                let now = clock::now(connection).await?;
                let Some(attempt) = attempts::lock(connection, [&refund.attempt]).await?.pop() else {
                    return Err(DbError::unreadable("attempt of a refund", &refund.id));
                };
                if !refunds::succeed(connection, refund.id, now).await? {
                    // Another sender was told the same and has written it.
                    return Ok(());
                }
                if attempt.state == AttemptState::PaymentCapturedBookingFailed {
                    attempts::shift(connection, &[attempt.moved(AttemptState::Refunded)], now).await?;
                }
                let movement = Movement {
                    attempt: attempt.id,
                    kind: MovementKind::RefundSucceeded,
                    amount: refund.amount,
                    reference,
                };
                refunds::record(connection, &[movement], now).await?;
                let hotel = refund.id.hotel();
                audit::append(connection, &[audit_of(&refund, "refund.succeeded")]).await?;
                let event = Event::RefundSucceeded(told(refund));
                outbox::append(connection, &[NewEvent { hotel, event }]).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))
}

fn told(refund: RefundRow) -> RefundChanged {
    let RefundRow { id, attempt, amount, reason, .. } = refund;
    RefundChanged { refund_id: id, attempt_id: attempt, amount, reason }
}

fn audit_of(refund: &RefundRow, action: &'static str) -> NewAudit {
    NewAudit {
        hotel: refund.id.hotel(),
        actor: Actor::Worker,
        action,
        subject: refund.id.to_string(),
        before: None,
        after: Some(serde_json::json!({
            "attempt": refund.attempt,
            "amount": refund.amount,
            "try": refund.try_number,
        })),
    }
}

/// A definite failure: the next try has a new name, up to the bound.
async fn fail(ledger: &Ledger, refund: RefundRow) -> Result<(), Fault> {
    let reference = Reference::from(try_of(&refund)?).to_string();
    ledger
        .database()
        .transaction("fail_refund_try", move |connection| {
            let (refund, reference) = (refund.clone(), reference.clone());
            Box::pin(async move {
                let now = clock::now(connection).await?;
                let is_last = refund.try_number >= MAX_TRIES;
                let moved = if is_last {
                    refunds::needs_attention(connection, refund.id, refund.try_number).await?
                } else {
                    let retry_at = now.plus(AGAIN_AFTER);
                    refunds::try_anew(connection, refund.id, refund.try_number, retry_at).await?
                };
                if !moved {
                    // Another sender was told the same and has written it.
                    return Ok(());
                }
                let movement = Movement {
                    attempt: refund.attempt,
                    kind: MovementKind::RefundFailed,
                    amount: refund.amount,
                    reference,
                };
                refunds::record(connection, &[movement], now).await?;
                let action = if is_last { "refund.needs_attention" } else { "refund.try_failed" };
                audit::append(connection, &[audit_of(&refund, action)]).await?;
                if is_last {
                    let hotel = refund.id.hotel();
                    let event = Event::RefundNeedsAttention(told(refund));
                    outbox::append(connection, &[NewEvent { hotel, event }]).await?;
                }
                Ok(())
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))
}
