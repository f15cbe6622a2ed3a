//! The sweep: payments of which nobody knows how they ended. The provider is asked by our own reference,
//! and each ends as a reservation, as nothing, or as a refund. Every step is guarded by the attempt's
//! state, so that a second resolver, or this one after a crash, can do nothing twice.

use std::time::Duration;

use futures::{StreamExt, stream};
use keyrack_db::DbError;
use keyrack_domain::{
    actor::Actor,
    attempt::{AttemptState, Purpose},
    hold::HoldState,
    hotel::HotelRef,
    ids::{AttemptId, HoldId, RefundId, ReservationId},
    money::Money,
    policy::LateCapture,
};
use keyrack_ledger::{AttemptRow, Ledger, Outcome};
use keyrack_payments::{Capture, Deadline, LookUp, Reference, Standing, Void};
use keyrack_store::{attempts, audit, clock, holds, hotels, outbox, scheduled_charges};

use crate::{
    Desk, Fault,
    allocate_anew::{AllocateAnewOp, AllocateAnswer},
    change_stay::end::was_overtaken,
    confirm::{ConfirmAnswer, ConfirmOp, open_case},
    entropy,
    fail_attempt::FailAttemptOp,
    give_up_booking::{GiveUpAnswer, GiveUpBookingOp, NO_ROOM},
    pay::insist,
};

/// A resolver owns a case for so long; after it, the next run may take it.
const LEASE: Duration = Duration::from_secs(30);

/// Cases of one run, and how many of them are asked about at once.
pub const MAX_CASES: u16 = 100;
const AT_ONCE: usize = 8;

/// What one run did on one shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Swept {
    pub taken: usize,
    pub ended: usize,
}

impl Swept {
    /// More may be due.
    pub fn is_full(self) -> bool {
        self.taken >= usize::from(MAX_CASES)
    }
}

/// One bounded run over one shard. Several at once are normal.
pub async fn run_once(desk: &Desk, ledger: &Ledger) -> Result<Swept, Fault> {
    let lease = entropy::id();
    let taken: Vec<AttemptId> = ledger
        .database()
        .transaction("lease_unknown_attempts", move |connection| {
            Box::pin(async move {
                let now = clock::now(connection).await?;
                let limit = i64::from(MAX_CASES);
                let cases = attempts::lease_unknown(connection, lease, now, now.plus(LEASE), limit).await?;
                let opened = cases.iter().filter(|case| case.is_new);
                let (events, audits): (Vec<_>, Vec<_>) =
                    opened.map(|case| open_case(case.id, case.hold, "no_answer", Actor::Worker)).unzip();
                audit::append(connection, &audits).await?;
                outbox::append(connection, &events).await?;
                Ok(cases.into_iter().map(|case| case.id).collect())
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    let cases = taken.len();
    let ended = stream::iter(taken)
        .map(|attempt| async move {
            resolve(desk, ledger, attempt).await.unwrap_or_else(|fault| {
                tracing::warn!(%attempt, error = %fault, "a case could not be resolved; the next run tries again");
                false
            })
        })
        .buffer_unordered(AT_ONCE)
        .fold(0, |ended, done| std::future::ready(ended + usize::from(done)))
        .await;
    Ok(Swept { taken: cases, ended })
}

/// One case at once, where nobody has it: true when it has ended.
pub async fn resolve_now(desk: &Desk, id: AttemptId) -> Result<bool, Fault> {
    let hotel = desk.hotel_of(id.hotel()).await?;
    let hotel = hotel.ok_or_else(|| Fault::internal(DbError::unreadable("hotel of a case", &id)))?;
    let ledger = desk.ledger(&hotel)?;
    let lease = entropy::id();
    let ours = ledger
        .database()
        .transaction("lease_one_attempt", move |connection| {
            Box::pin(async move {
                let now = clock::now(connection).await?;
                attempts::lease_one(connection, id, lease, now, now.plus(LEASE)).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    if ours { resolve(desk, ledger, id).await } else { Ok(false) }
}

/// How many cases are open.
pub async fn open_cases(ledger: &Ledger) -> Result<i64, Fault> {
    let mut connection = ledger.database().connection().await?;
    Ok(attempts::open_count(&mut connection).await?)
}

/// True when the case has ended.
async fn resolve(desk: &Desk, ledger: &Ledger, id: AttemptId) -> Result<bool, Fault> {
    let hotel = desk.hotel_of(id.hotel()).await?;
    let hotel = hotel.ok_or_else(|| Fault::internal(DbError::unreadable("hotel of a case", &id)))?;
    let (attempt, alive) = read(ledger, id).await?;
    if attempt.state != AttemptState::Reconciling {
        return Ok(true);
    }
    // The provider was never asked.
    if attempt.amount.is_zero() {
        return place(ledger, &hotel, &attempt, attempt.amount).await;
    }
    let standing = match desk.provider().look_up(Reference::Authorization(id), deadline(desk)).await {
        LookUp::Stands(standing) => standing,
        LookUp::Unknown(doubt) => {
            tracing::warn!(attempt = %id, %doubt, "the provider could not be asked");
            return Ok(false);
        }
    };
    tracing::info!(attempt = %id, ?standing, wanted = alive, "reconciling");
    match standing {
        Standing::Captured { amount, .. } => place(ledger, &hotel, &attempt, amount).await,
        Standing::Authorized { .. } if alive => capture(desk, ledger, &hotel, &attempt).await,
        Standing::Authorized { .. } => void(desk, ledger, &attempt, NO_ROOM).await,
        // The hold's end is also the end of the customer's session: whoever comes back to it is told so.
        Standing::ActionRequired { .. } => {
            let ended = desk.provider().expire_session(id, deadline(desk)).await;
            when_voided(ledger, id, ended, "action_not_completed").await
        }
        Standing::Voided => fail(ledger, id, "voided").await,
        Standing::Declined => fail(ledger, id, "declined").await,
        // Whoever was to ask may only be slow, however long ago it was: a cancel by reference makes sure
        // that nothing will be taken.
        Standing::Nothing => void(desk, ledger, &attempt, "not_received").await,
        Standing::Refunded { .. } => {
            tracing::error!(attempt = %id, "the provider calls an authorization a refund; an operator must look");
            Ok(false)
        }
    }
}

/// The attempt, and whether what it pays for can still be had.
async fn read(ledger: &Ledger, id: AttemptId) -> Result<(AttemptRow, bool), Fault> {
    let mut connection = ledger.database().connection().await?;
    let attempt = attempts::read(&mut connection, [&id]).await?.pop();
    let attempt = attempt.ok_or_else(|| Fault::internal(DbError::unreadable("leased attempt", &id)))?;
    let alive = match attempt.hold {
        Some(hold) => {
            let hold = holds::read(&mut connection, [&hold]).await?.pop();
            let held =
                hold.is_some_and(|hold| hold.state == HoldState::Active && hold.change == attempt.change);
            held && match attempt.change {
                Some(change) => !was_overtaken(&mut connection, change).await?,
                None => true,
            }
        }
        None => scheduled_charges::is_owed_by(&mut connection, id).await?,
    };
    Ok((attempt, alive))
}

fn deadline(desk: &Desk) -> Deadline {
    Deadline::after(desk.settings().provider_deadline)
}

/// Money was taken: a reservation while the hold lives, else the money goes back.
pub(crate) async fn place(
    ledger: &Ledger,
    hotel: &HotelRef,
    attempt: &AttemptRow,
    captured: Money,
) -> Result<bool, Fault> {
    if captured.currency() != attempt.amount.currency() {
        tracing::error!(attempt = %attempt.id, %captured, "taken in another currency; an operator must look");
        return Ok(false);
    }
    let confirm = ConfirmOp {
        actor: Actor::Worker,
        attempt: attempt.id,
        guard: AttemptState::Reconciling,
        captured,
        reservation: ReservationId::new(attempt.id.hotel(), entropy::id()),
    };
    match ledger.run(confirm).await? {
        Outcome::Answered(ConfirmAnswer::Unplaced) => {}
        Outcome::Answered(ConfirmAnswer::Stale(Some(AttemptState::Failed))) => {
            give_back(ledger, attempt.id, captured).await?;
            return Ok(true);
        }
        _ => return Ok(true),
    }
    if attempt.purpose == Purpose::Booking && allocates(ledger, hotel).await? {
        let anew = AllocateAnewOp {
            hotel: hotel.clone(),
            attempt: attempt.id,
            captured,
            hold: HoldId::new(hotel.id, entropy::id()),
            reservation: ReservationId::new(hotel.id, entropy::id()),
        };
        if ledger.run(anew).await? == Outcome::Answered(AllocateAnswer::Confirmed) {
            return Ok(true);
        }
    }
    // Nothing was to be paid, so there is nothing to give back.
    if captured.is_zero() {
        return fail(ledger, attempt.id, NO_ROOM).await;
    }
    let give_up = GiveUpBookingOp {
        attempt: attempt.id,
        guard: AttemptState::Reconciling,
        captured,
        refund: RefundId::new(attempt.id.hotel(), entropy::id()),
    };
    let answer = ledger.run(give_up).await?;
    // A hold that lives and could not be confirmed does not fit the counters: it waits for the repair.
    Ok(!matches!(answer, Outcome::Answered(GiveUpAnswer::HoldAlive)))
}

/// Whether the hotel wants a fresh allocation tried.
async fn allocates(ledger: &Ledger, hotel: &HotelRef) -> Result<bool, Fault> {
    let mut connection = ledger.database().connection().await?;
    Ok(hotels::late_capture_of(&mut connection, hotel.id).await? == LateCapture::Allocate)
}

/// Money was taken for an attempt that had been given up. It never becomes a reservation: the guest was told
/// otherwise, and may have paid again.
pub(crate) async fn give_back(ledger: &Ledger, attempt: AttemptId, captured: Money) -> Result<(), Fault> {
    let give_up = GiveUpBookingOp {
        attempt,
        guard: AttemptState::Failed,
        captured,
        refund: RefundId::new(attempt.hotel(), entropy::id()),
    };
    let answer = insist(ledger, give_up).await?;
    tracing::error!(%attempt, ?answer, "a failed attempt has taken money: it goes back");
    Ok(())
}

async fn capture(
    desk: &Desk,
    ledger: &Ledger,
    hotel: &HotelRef,
    attempt: &AttemptRow,
) -> Result<bool, Fault> {
    match desk.provider().capture(attempt.id, attempt.amount, deadline(desk)).await {
        Capture::Captured => place(ledger, hotel, attempt, attempt.amount).await,
        Capture::Declined(reason) => void(desk, ledger, attempt, reason.as_str()).await,
        Capture::Refused(_) | Capture::NotSent(_) | Capture::Unknown(_) => Ok(false),
    }
}

/// Cancels by reference, also what is still travelling: only then is it sure that nothing will be taken.
async fn void(desk: &Desk, ledger: &Ledger, attempt: &AttemptRow, why: &str) -> Result<bool, Fault> {
    let voided = desk.provider().void(attempt.id, deadline(desk)).await;
    when_voided(ledger, attempt.id, voided, why).await
}

async fn when_voided(ledger: &Ledger, attempt: AttemptId, voided: Void, why: &str) -> Result<bool, Fault> {
    match voided {
        Void::Voided => fail(ledger, attempt, why).await,
        Void::Refused(_) | Void::NotSent(_) | Void::Unknown(_) => Ok(false),
    }
}

async fn fail(ledger: &Ledger, attempt: AttemptId, why: &str) -> Result<bool, Fault> {
    let operation = FailAttemptOp {
        actor: Actor::Worker,
        attempt,
        guard: AttemptState::Reconciling,
        failure: why.to_owned(),
    };
    ledger.run(operation).await?;
    Ok(true)
}
