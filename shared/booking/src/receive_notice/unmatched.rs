//! Authentic notices about what is not there: kept in the directory, listed for operators, and applied when what
//! they are about appears.

use std::time::Duration;

use keyrack_db::DbError;
use keyrack_domain::{actor::Actor, notice::ProviderName};
use keyrack_payments::Notice;
use keyrack_store::unmatched_notices::{self, NewUnmatched, UnmatchedRow};

use super::{Received, Told, apply, of_nobody};
use crate::{Desk, Fault};

/// So many are kept; above that the oldest go, with an error in the log. Their captures are still found by the
/// comparison with the provider's settlement.
const MOST: i64 = 10_000;

/// Of one run.
pub const MAX_MATCHED: u16 = 100;

/// An old notice is looked at at least so often.
const LOOKS_WITHIN: Duration = Duration::from_secs(300);

/// Who applies it when it is matched: the call that brought it has long been answered.
const MATCHED: &str = "matched-later";

pub(super) async fn keep(desk: &Desk, told: &Told) -> Result<Received, Fault> {
    let told = told.clone();
    let id = of_nobody();
    let document = serde_json::to_value(&told.notice).map_err(Fault::internal)?;
    let work = desk.shards().directory().transaction("keep_notice", move |connection| {
        let (told, document) = (told.clone(), document.clone());
        Box::pin(async move {
            let fact = &told.notice.fact;
            let new = NewUnmatched {
                id,
                provider: &told.provider,
                event: &told.notice.event,
                kind: &told.notice.kind,
                reference: &fact.reference().unwrap_or_default(),
                attempt: fact.attempt(),
                notice: &document,
            };
            let is_new = unmatched_notices::keep(connection, new).await?;
            let removed = if is_new { unmatched_notices::bound(connection, MOST).await? } else { 0 };
            if removed > 0 {
                tracing::error!(removed, "unmatched notices were removed to make room");
            }
            Ok(is_new)
        })
    });
    let is_new: bool = work.await.map_err(|error: DbError| Fault::from(error))?;
    Ok(if is_new { Received::Unmatched } else { Received::Duplicate })
}

/// What one run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Matched {
    pub taken: usize,
    pub applied: usize,
}

impl Matched {
    /// More may be due.
    pub fn is_full(self) -> bool {
        self.taken >= usize::from(MAX_MATCHED)
    }
}

/// One bounded run. Several at once are normal: the event's id decides which of them has the effect.
pub async fn run_once(desk: &Desk) -> Result<Matched, Fault> {
    let directory = desk.shards().directory();
    let rows: Vec<UnmatchedRow> = directory
        .transaction("take_unmatched_notices", |connection| {
            Box::pin(async move {
                unmatched_notices::take(connection, LOOKS_WITHIN, i64::from(MAX_MATCHED)).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    let mut matched = Matched { taken: rows.len(), applied: 0 };
    for row in rows {
        let (id, event) = (row.id, row.event.clone());
        match look_again(desk, row).await {
            Ok(Received::Unmatched) => {}
            Ok(received) => {
                tracing::info!(%id, event, ?received, "an unmatched notice was applied");
                let mut connection = directory.connection().await?;
                // Only a run beside this one can have removed it, and had no effect of its own.
                unmatched_notices::remove(&mut connection, id).await?;
                matched.applied += 1;
            }
            Err(fault) => {
                tracing::warn!(%id, error = %fault, "a notice could not be applied; a later run tries again");
            }
        }
    }
    Ok(matched)
}

async fn look_again(desk: &Desk, row: UnmatchedRow) -> Result<Received, Fault> {
    let provider: ProviderName = row.provider;
    let notice: Notice = serde_json::from_value(row.notice).map_err(Fault::internal)?;
    let told = Told { provider, notice, actor: Actor::Provider { request_id: MATCHED.to_owned() } };
    Ok(apply(desk, &told).await?.received)
}

/// How many there are, and the age of the oldest in seconds.
pub async fn waiting(desk: &Desk) -> Result<(i64, f64), Fault> {
    let mut connection = desk.shards().directory().connection().await?;
    Ok(unmatched_notices::waiting(&mut connection).await?)
}
