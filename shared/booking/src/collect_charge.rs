//! Collecting the later charges of stays that are not prepaid: a balance on its day, a penalty at once. Each try is
//! an attempt of its own, with its own references, and ends as every attempt does: by its request, by the
//! provider's notice, or by the sweep.

pub mod operation;

use std::time::Duration;

use futures::{StreamExt, stream};
use keyrack_db::DbError;
use keyrack_domain::{actor::Actor, ids::AttemptId, operation_key::Endpoint};
use keyrack_ledger::{KeyClaim, KeyHome, Ledger, Outcome};
use keyrack_store::{
    clock,
    scheduled_charges::{self, DueCharge},
};

use self::operation::{CollectAnswer, OpenChargeOp};
use crate::{Desk, Fault, entropy, key, pay::pay};

const ENDPOINT: Endpoint = Endpoint::COLLECT_CHARGE;

/// A collector that dies before it has opened an attempt leaves its charges to the next one after so long.
const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// Charges of one run, and how many of them are asked about at once.
pub const MAX_CHARGES: u16 = 50;
const AT_ONCE: usize = 8;

/// What one run did on one shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Collected {
    pub taken: usize,
    /// For which an attempt was made.
    pub asked: usize,
}

impl Collected {
    /// More may be due.
    pub fn is_full(self) -> bool {
        self.taken >= usize::from(MAX_CHARGES)
    }
}

/// One bounded run over one shard. Several at once are normal.
pub async fn run_once(desk: &Desk, ledger: &Ledger) -> Result<Collected, Fault> {
    let due: Vec<DueCharge> = ledger
        .database()
        .transaction("take_due_charges", |connection| {
            Box::pin(async move {
                let now = clock::now(connection).await?;
                let limit = i64::from(MAX_CHARGES);
                scheduled_charges::take_due(connection, now, now.plus(AGAIN_AFTER), limit).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    let taken = due.len();
    let asked = stream::iter(due)
        .map(|charge| async move {
            collect(desk, ledger, charge).await.unwrap_or_else(|fault| {
                let DueCharge { reservation, number, .. } = charge;
                tracing::warn!(%reservation, number, error = %fault, "a charge could not be collected; a later run tries again");
                false
            })
        })
        .buffer_unordered(AT_ONCE)
        .fold(0, |asked, done| std::future::ready(asked + usize::from(done)))
        .await;
    Ok(Collected { taken, asked })
}

/// How many charges nobody tries to collect any more: they are the hotels' staff's.
pub async fn given_up(ledger: &Ledger) -> Result<i64, Fault> {
    let mut connection = ledger.database().connection().await?;
    Ok(scheduled_charges::count_given_up(&mut connection).await?)
}

/// The attempt is on record before the provider hears of it. What the provider answers, and what becomes of an
/// answer that is lost, is as with every attempt.
async fn collect(desk: &Desk, ledger: &Ledger, charge: DueCharge) -> Result<bool, Fault> {
    let DueCharge { reservation, number, principal, next_try } = charge;
    let hotel = desk.hotel_of(reservation.hotel()).await?;
    let hotel =
        hotel.ok_or_else(|| Fault::internal(DbError::unreadable("hotel of a charge", &reservation)))?;
    let input = (reservation, number, next_try);
    let fingerprint = key::fingerprint(ENDPOINT, &input)?;
    let key = format!("{reservation}-charge-{number}-{next_try}");
    let key = key.parse().map_err(|error| Fault::internal(DbError::unreadable("operation key", &error)))?;
    let operation = OpenChargeOp {
        claim: KeyClaim {
            home: KeyHome::Attempts,
            ..key::claim(hotel.id, principal, ENDPOINT, key, fingerprint)
        },
        reservation,
        number,
        try_number: next_try,
        attempt: AttemptId::new(hotel.id, entropy::id()),
        auth_timeout: desk.settings().auth_timeout,
    };
    match ledger.run(operation).await? {
        Outcome::Answered(CollectAnswer::Opened(attempt)) => {
            pay(desk, &hotel, &attempt, Actor::Worker).await?;
            Ok(true)
        }
        // Another collector has it, or nothing is owed any more.
        _ => Ok(false),
    }
}
