//! Sending refunds to the provider. The reference is stable, so that a repeat pays nothing twice, and the
//! try in it rises only after a definite failure, never after an unknown outcome.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::actor::Actor;
use keyrack_ledger::{AttemptRow, Ledger, RefundRow};
use keyrack_payments::{Deadline, Reference, Refund, RefundTry};
use keyrack_store::{attempts, clock, refunds};

use crate::{
    Desk, Fault,
    give_up_booking::reference_of,
    refund_steps::{self, AGAIN_AFTER, Arrival},
};

/// Refunds of one run.
pub const MAX_SENT: u16 = 50;

/// How many refunds wait for an operator.
pub async fn needing_attention(ledger: &Ledger) -> Result<i64, Fault> {
    let mut connection = ledger.database().connection().await?;
    Ok(refunds::count_needing_attention(&mut connection).await?)
}

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
    let outcome = desk.provider().refund(name, refund.amount, deadline).await;
    ledger.database().points().reach("refund", "after_provider").await;
    match outcome {
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
                let attempt = lock_attempt(connection, &refund).await?;
                let now = clock::now(connection).await?;
                let arrival = Arrival { reference, provider_id: None, actor: Actor::Worker };
                // False: another sender, or the provider's notice, has told the same and it is written.
                refund_steps::arrive(connection, &attempt, &refund, arrival, now).await.map(|_| ())
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))
}

/// A refund's state and try change only under the lock of its attempt.
async fn lock_attempt(connection: &mut PgConnection, refund: &RefundRow) -> Result<AttemptRow, DbError> {
    let attempt = attempts::lock(connection, [&refund.attempt]).await?.pop();
    attempt.ok_or_else(|| DbError::unreadable("attempt of a refund", &refund.id))
}

/// A definite failure: the next try has a new name, up to the bound.
async fn fail(ledger: &Ledger, refund: RefundRow) -> Result<(), Fault> {
    let reference = Reference::from(try_of(&refund)?).to_string();
    ledger
        .database()
        .transaction("fail_refund_try", move |connection| {
            let (refund, reference) = (refund.clone(), reference.clone());
            Box::pin(async move {
                lock_attempt(connection, &refund).await?;
                let now = clock::now(connection).await?;
                // False: another sender was told the same and has written it.
                refund_steps::fail_try(connection, &refund, reference, Actor::Worker, now).await.map(|_| ())
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))
}
