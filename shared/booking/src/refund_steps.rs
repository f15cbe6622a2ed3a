//! What becomes of a refund, whoever tells: our own call or the provider's notice. Each step is taken under the
//! lock of the refund's attempt, and moves it from the state and try that it states.

use std::time::Duration;

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    actor::Actor,
    attempt::AttemptState,
    clock::Moment,
    event::{Event, RefundChanged},
    refund::RefundState,
};
use keyrack_ledger::{AttemptRow, Movement, MovementKind, RefundRow};
use keyrack_store::{
    attempts,
    audit::{self, NewAudit},
    outbox::{self, NewEvent},
    payment_history, refunds,
};

/// A sender that dies leaves its refunds to the next one after so long.
pub(crate) const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// Definite failures after which an operator must look.
const MAX_TRIES: i32 = 5;

/// By which name it arrived, and who said so.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) reference: String,
    pub(crate) provider_id: Option<String>,
    pub(crate) actor: Actor,
}

/// The money is back. False where that is written already.
pub(crate) async fn arrive(
    connection: &mut PgConnection,
    attempt: &AttemptRow,
    refund: &RefundRow,
    arrival: Arrival,
    now: Moment,
) -> Result<bool, DbError> {
    let Arrival { reference, provider_id, actor } = arrival;
    if !refunds::succeed(connection, refund.id, provider_id.as_deref(), now).await? {
        return Ok(false);
    }
    if attempt.state == AttemptState::PaymentCapturedBookingFailed {
        attempts::shift(connection, &[attempt.moved(AttemptState::Refunded)], now).await?;
    }
    record(connection, refund, MovementKind::RefundSucceeded, reference, now).await?;
    audit::append(connection, &[audit_of(refund, "refund.succeeded", actor)]).await?;
    tell(connection, Event::RefundSucceeded(told(refund)), refund).await?;
    Ok(true)
}

/// A definite failure: the next try has a new name, up to the bound. False where that is written already.
pub(crate) async fn fail_try(
    connection: &mut PgConnection,
    refund: &RefundRow,
    reference: String,
    actor: Actor,
    now: Moment,
) -> Result<bool, DbError> {
    let is_last = refund.try_number >= MAX_TRIES;
    let moved = if is_last {
        refunds::needs_attention(connection, refund.id, refund.try_number).await?
    } else {
        refunds::try_anew(connection, refund.id, refund.try_number, now.plus(AGAIN_AFTER)).await?
    };
    if !moved {
        return Ok(false);
    }
    record(connection, refund, MovementKind::RefundFailed, reference, now).await?;
    let action = if is_last { "refund.needs_attention" } else { "refund.try_failed" };
    audit::append(connection, &[audit_of(refund, action, actor)]).await?;
    if is_last {
        tell(connection, Event::RefundNeedsAttention(told(refund)), refund).await?;
    }
    Ok(true)
}

/// It had arrived, and has failed after all: it is owed again, and sent by a new name.
pub(crate) async fn fail_after_all(
    connection: &mut PgConnection,
    attempt: &AttemptRow,
    refund: &RefundRow,
    reference: String,
    actor: Actor,
    now: Moment,
) -> Result<(), DbError> {
    let is_last = refund.try_number >= MAX_TRIES;
    let (to, next_try) = if is_last {
        (RefundState::NeedsAttention, refund.try_number)
    } else {
        (RefundState::Requested, refund.try_number + 1)
    };
    refunds::undo(connection, refund.id, to, next_try, now.plus(AGAIN_AFTER)).await?;
    if attempt.state == AttemptState::Refunded {
        let owed = attempt.moved(AttemptState::PaymentCapturedBookingFailed);
        attempts::shift(connection, &[owed], now).await?;
    }
    record(connection, refund, MovementKind::RefundFailed, reference, now).await?;
    audit::append(connection, &[audit_of(refund, "refund.failed", actor)]).await?;
    tell(connection, Event::RefundFailed(told(refund)), refund).await?;
    if is_last {
        tell(connection, Event::RefundNeedsAttention(told(refund)), refund).await?;
    }
    Ok(())
}

/// An operator must look before anything is sent; `next_try` is the name that it would be sent by.
pub(crate) async fn park(
    connection: &mut PgConnection,
    refund: &RefundRow,
    next_try: i32,
    actor: Actor,
) -> Result<(), DbError> {
    refunds::park(connection, refund.id, next_try).await?;
    audit::append(connection, &[audit_of(refund, "refund.needs_attention", actor)]).await?;
    if refund.state == RefundState::Requested {
        tell(connection, Event::RefundNeedsAttention(told(refund)), refund).await?;
    }
    Ok(())
}

pub(crate) async fn record(
    connection: &mut PgConnection,
    refund: &RefundRow,
    kind: MovementKind,
    reference: String,
    now: Moment,
) -> Result<(), DbError> {
    let movement = Movement { attempt: refund.attempt, kind, amount: refund.amount, reference };
    payment_history::record(connection, &[movement], now).await
}

pub(crate) async fn tell(
    connection: &mut PgConnection,
    event: Event,
    refund: &RefundRow,
) -> Result<(), DbError> {
    outbox::append(connection, &[NewEvent { hotel: refund.id.hotel(), event }]).await
}

pub(crate) fn told(refund: &RefundRow) -> RefundChanged {
    let RefundRow { id, attempt, amount, reason, .. } = refund;
    RefundChanged { refund_id: *id, attempt_id: *attempt, amount: *amount, reason: reason.clone() }
}

pub(crate) fn audit_of(refund: &RefundRow, action: &'static str, actor: Actor) -> NewAudit {
    NewAudit {
        hotel: refund.id.hotel(),
        actor,
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
