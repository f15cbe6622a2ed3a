//! How much of the outbox waits to be published.

use std::time::Duration;

use keyrack_ledger::Ledger;
use keyrack_store::{clock, outbox};

use crate::Fault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    pub events: u32,
    /// Of the oldest, in the clock that decides.
    pub age: Duration,
}

pub async fn read(ledger: &Ledger) -> Result<Pending, Fault> {
    let mut connection = ledger.database().connection().await?;
    let (events, oldest) = outbox::pending(&mut connection).await?;
    let now = clock::now(&mut connection).await?;
    let age = oldest.map_or(Duration::ZERO, |written| written.until(now));
    Ok(Pending { events: u32::try_from(events).unwrap_or(u32::MAX), age })
}
