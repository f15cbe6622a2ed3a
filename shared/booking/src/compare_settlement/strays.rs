//! Charges that nobody asked for go back, by their own name at the provider.

use std::time::Duration;

use keyrack_db::DbError;
use keyrack_payments::{ChargeName, Refund};
use keyrack_store::{
    clock,
    settlement::{self, Stray},
};

use crate::{Desk, Fault};

/// Charges that one run gives back.
const MAX_RETURNS: i64 = 20;

/// One whose answer is not known is asked for again after so long, under the same name.
const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// How many have gone back.
pub(super) async fn give_back(desk: &Desk) -> Result<usize, Fault> {
    let provider = desk.provider().name();
    let due: Vec<Stray> = desk
        .shards()
        .directory()
        .transaction("take_strays", move |connection| {
            let provider = provider.clone();
            Box::pin(async move {
                let now = clock::now(connection).await?;
                let again_at = now.plus(AGAIN_AFTER);
                settlement::take_due(connection, &provider, now, again_at, MAX_RETURNS).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    let mut returned = 0;
    for stray in due {
        returned += usize::from(return_stray(desk, stray).await?);
    }
    Ok(returned)
}

async fn return_stray(desk: &Desk, stray: Stray) -> Result<bool, Fault> {
    let Ok(charge) = stray.reference.parse::<ChargeName>() else { return settle(desk, stray, false).await };
    match desk.provider().return_charge(&charge, stray.amount, super::deadline(desk)).await {
        Refund::Refunded => settle(desk, stray, true).await,
        Refund::Refused(refusal) => {
            tracing::error!(%charge, %refusal, "a charge that nobody asked for cannot be given back");
            settle(desk, stray, false).await
        }
        unknown @ (Refund::NotSent(_) | Refund::Unknown(_)) => {
            tracing::warn!(%charge, ?unknown, "whether a charge has gone back is unknown; it is asked again");
            Ok(false)
        }
    }
}

/// True when this has ended it, and the money is back.
async fn settle(desk: &Desk, stray: Stray, returned: bool) -> Result<bool, Fault> {
    let provider = desk.provider().name();
    let written = desk
        .shards()
        .directory()
        .transaction("settle_stray", move |connection| {
            let (provider, entry) = (provider.clone(), stray.entry.clone());
            Box::pin(async move {
                let now = clock::now(connection).await?;
                settlement::settle(connection, &provider, &entry, returned, now).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    Ok(written && returned)
}
