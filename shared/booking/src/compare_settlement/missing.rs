//! The other way round: refunds that we call a success and that the provider's books do not have.

use std::time::Duration;

use keyrack_db::DbError;
use keyrack_domain::{ids::AttemptId, notice::ProviderName};
use keyrack_ledger::Ledger;
use keyrack_payments::{Reference, RefundTry};
use keyrack_store::{
    book_lines::{self, MissingRefund},
    clock,
    settlement::{Finding, FindingKind},
};

use super::{keep, new_id};
use crate::{Desk, Fault};

/// Looked for from a day to thirty days after it was settled: the books may be late.
const AGES: (Duration, Duration) = (Duration::from_hours(24), Duration::from_hours(30 * 24));

/// Of one run and shard.
const MAX_MISSING: i64 = 50;

/// How many were not known to be missing.
pub(super) async fn look_for(desk: &Desk) -> Result<usize, Fault> {
    let mut found = 0;
    for (_, ledger) in desk.ledgers() {
        let mut connection = ledger.database().connection().await?;
        let now = clock::now(&mut connection).await?;
        let missing = book_lines::missing(&mut connection, now, AGES, MAX_MISSING).await?;
        drop(connection);
        for refund in missing {
            found += usize::from(keep(desk, finding(desk.provider().name(), &refund)?).await?);
            no_longer_looked_for(ledger, refund.attempt, refund.number, false).await?;
        }
    }
    Ok(found)
}

/// The books have it, or an operator knows that they do not.
pub(super) async fn no_longer_looked_for(
    ledger: &Ledger,
    attempt: AttemptId,
    number: i32,
    found: bool,
) -> Result<(), Fault> {
    ledger
        .database()
        .transaction("remember_book_line", move |connection| {
            Box::pin(async move {
                let now = clock::now(connection).await?;
                book_lines::remember(connection, attempt, number, found, now).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))
}

fn finding(provider: ProviderName, row: &MissingRefund) -> Result<Finding, Fault> {
    let MissingRefund { attempt, number, try_number, amount, settled_at } = *row;
    let unreadable = || Fault::internal(DbError::unreadable("refund number", &number));
    let number = u32::try_from(number).map_err(|_| unreadable())?;
    let try_number = u32::try_from(try_number).map_err(|_| unreadable())?;
    let reference = Reference::from(RefundTry { attempt, number, try_number }).to_string();
    Ok(Finding {
        id: new_id(),
        provider,
        entry: format!("missing:{reference}"),
        kind: FindingKind::RefundMissing,
        returning: false,
        attempt: Some(attempt),
        reference,
        amount,
        happened_at: settled_at.0,
    })
}
