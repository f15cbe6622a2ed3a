//! The slower comparison: the provider's books against what is recorded. It finds what every answer and notice
//! was lost of. A line is judged by what it says and by what is recorded now, each effect is guarded, and a page
//! that is compared again changes nothing; so no lease is needed.

use std::{collections::BTreeMap, time::Duration};

use chrono::DateTime;
use keyrack_db::DbError;
use keyrack_domain::{
    attempt::AttemptState,
    clock::Moment,
    ids::{AttemptId, HotelId},
    money::Money,
    refund::RefundState,
};
use keyrack_ledger::{AttemptRow, RefundRow};
use keyrack_payments::{
    ChargeName, Deadline, Moved, Refund, RefundTry, Settlement, SettlementFrom, SettlementLine,
    SettlementPosition,
};
use keyrack_store::{
    attempts, clock, refunds,
    settlement::{self, Finding, FindingKind, Stray},
};

use crate::{Desk, Fault, reconcile::give_back};

/// Lines of one run, which are one page.
pub const MAX_LINES: u16 = 100;

/// Charges that one run gives back.
const MAX_RETURNS: i64 = 20;

/// One whose answer is not known is asked for again after so long, under the same name.
const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// The name of the provider behind the desk, in what is found.
const PROVIDER: &str = "default";

/// What one run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compared {
    pub lines: usize,
    /// Captures of attempts that had FAILED, whose money goes back.
    pub given_back: usize,
    /// Lines that do not agree, and were not known before.
    pub found: usize,
    /// Charges that nobody had asked for, and that have gone back.
    pub returned: usize,
    /// The export has more already.
    pub more: bool,
}

/// What a line comes to.
enum Judged {
    Agrees,
    GivenBack,
    Found(FindingKind),
}

/// One bounded run. Several at once are harmless.
pub async fn run_once(desk: &Desk) -> Result<Compared, Fault> {
    let mut compared = compare(desk).await?;
    compared.returned = return_strays(desk).await?;
    Ok(compared)
}

/// Findings that have not come to an end.
pub async fn open_findings(desk: &Desk) -> Result<i64, Fault> {
    let mut connection = desk.shards().directory().connection().await?;
    Ok(settlement::open_count(&mut connection).await?)
}

async fn compare(desk: &Desk) -> Result<Compared, Fault> {
    let mut connection = desk.shards().directory().connection().await?;
    let position = settlement::position(&mut connection, PROVIDER).await?;
    drop(connection);
    let from = match &position {
        Some(position) => SettlementFrom::Position(
            position.parse().map_err(|e| DbError::unreadable("position in a settlement", &e))?,
        ),
        None => SettlementFrom::Instant(DateTime::UNIX_EPOCH),
    };
    let page = match desk.provider().settlement(&from, MAX_LINES, deadline(desk)).await {
        Settlement::Page(page) => page,
        Settlement::Unknown(doubt) => {
            tracing::warn!(%doubt, "the provider's books could not be read");
            return Ok(Compared::default());
        }
    };
    let mut compared = Compared { lines: page.lines.len(), more: page.more, ..Compared::default() };
    let recorded = Recorded::of(desk, &page.lines).await?;
    for line in page.lines {
        match judge(desk, &recorded, &line).await? {
            Judged::Agrees => {}
            Judged::GivenBack => compared.given_back += 1,
            Judged::Found(kind) => compared.found += usize::from(enter(desk, kind, line).await?),
        }
    }
    advance(desk, position, page.next).await?;
    Ok(compared)
}

/// Only when every line of the page has been dealt with: a run that dies before does it again.
async fn advance(desk: &Desk, from: Option<String>, to: SettlementPosition) -> Result<(), Fault> {
    let directory = desk.shards().directory();
    directory
        .transaction("advance_settlement", move |connection| {
            let (from, to) = (from.clone(), to.clone());
            Box::pin(async move {
                let now = clock::now(connection).await?;
                settlement::advance(connection, PROVIDER, from.as_deref(), to.as_str(), now).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    Ok(())
}

fn deadline(desk: &Desk) -> Deadline {
    Deadline::after(desk.settings().provider_deadline)
}

/// What the attempts of a page are recorded with.
#[derive(Default)]
struct Recorded {
    attempts: BTreeMap<AttemptId, AttemptRow>,
    refunds: BTreeMap<(AttemptId, i32), RefundRow>,
}

impl Recorded {
    async fn of(desk: &Desk, lines: &[SettlementLine]) -> Result<Self, Fault> {
        let mut by_hotel: BTreeMap<HotelId, Vec<AttemptId>> = BTreeMap::new();
        for attempt in lines.iter().filter_map(named) {
            by_hotel.entry(attempt.hotel()).or_default().push(attempt);
        }
        let mut recorded = Self::default();
        for (hotel, ids) in by_hotel {
            let Some(hotel) = desk.hotel_of(hotel).await? else { continue };
            let mut connection = desk.hotels().database(&hotel)?.connection().await?;
            let rows = attempts::read(&mut connection, &ids).await?;
            recorded.attempts.extend(rows.into_iter().map(|row| (row.id, row)));
            let rows = refunds::of_attempts(&mut connection, &ids).await?;
            recorded.refunds.extend(rows.into_iter().map(|row| ((row.attempt, row.number), row)));
        }
        Ok(recorded)
    }

    fn refund(&self, refund: RefundTry) -> Option<&RefundRow> {
        self.refunds.get(&(refund.attempt, i32::try_from(refund.number).ok()?))
    }
}

/// Whom a line speaks of.
fn named(line: &SettlementLine) -> Option<AttemptId> {
    match &line.moved {
        Moved::Captured { attempt, .. } | Moved::RefundedByHand { attempt, .. } => Some(*attempt),
        Moved::Refunded { refund } | Moved::RefundFailed { refund } => Some(refund.attempt),
        Moved::Charged { attempt, .. } => *attempt,
        Moved::Returned { .. } | Moved::Other { .. } => None,
    }
}

async fn judge(desk: &Desk, recorded: &Recorded, line: &SettlementLine) -> Result<Judged, Fault> {
    Ok(match &line.moved {
        Moved::Captured { attempt, .. } => match recorded.attempts.get(attempt) {
            Some(row) => return captured(desk, row, line.amount).await,
            None => Judged::Found(FindingKind::UnknownAttempt),
        },
        Moved::Charged { .. } => Judged::Found(FindingKind::OtherCharge),
        Moved::Refunded { refund } => left(recorded.refund(*refund), *refund, line.amount),
        Moved::RefundFailed { refund } => came_back(recorded.refund(*refund), *refund),
        // Where notices of it are recorded, the record is looked for here, and what is found is recorded so.
        Moved::RefundedByHand { .. } => Judged::Found(FindingKind::RefundByHand),
        Moved::Returned { .. } => Judged::Agrees,
        Moved::Other { .. } => Judged::Found(FindingKind::Unreadable),
    })
}

/// An attempt that is open belongs to the request and to the sweep, which ask for exactly this capture.
async fn captured(desk: &Desk, row: &AttemptRow, amount: Money) -> Result<Judged, Fault> {
    match row.state {
        AttemptState::PendingPayment | AttemptState::Reconciling => Ok(Judged::Agrees),
        AttemptState::Failed => {
            let hotel = desk.hotel_of(row.id.hotel()).await?;
            let hotel = hotel.ok_or_else(|| Fault::internal(DbError::unreadable("hotel", &row.id)))?;
            give_back(desk.ledger(&hotel)?, row.id, amount).await?;
            Ok(Judged::GivenBack)
        }
        AttemptState::Confirmed | AttemptState::PaymentCapturedBookingFailed | AttemptState::Refunded => {
            let agrees = row.captured == amount;
            Ok(if agrees { Judged::Agrees } else { Judged::Found(FindingKind::AmountDiffers) })
        }
    }
}

/// A refund that is still REQUESTED is sent again under its name, and its sender hears that it has left.
fn left(row: Option<&RefundRow>, refund: RefundTry, amount: Money) -> Judged {
    let Some(row) = row else { return Judged::Found(FindingKind::UnknownRefund) };
    let same_try = u32::try_from(row.try_number) == Ok(refund.try_number);
    let is_told = matches!(row.state, RefundState::Requested | RefundState::Succeeded);
    if same_try && is_told && row.amount == amount {
        Judged::Agrees
    } else {
        Judged::Found(FindingKind::RefundDiffers)
    }
}

/// One that is called a success and is none. A later try than the one that came back stands for itself.
fn came_back(row: Option<&RefundRow>, refund: RefundTry) -> Judged {
    let Some(row) = row else { return Judged::Found(FindingKind::UnknownRefund) };
    let same_try = u32::try_from(row.try_number) == Ok(refund.try_number);
    let stands = same_try && row.state == RefundState::Succeeded;
    if stands { Judged::Found(FindingKind::RefundFailed) } else { Judged::Agrees }
}

/// A charge that goes back does so by the name that it has at the provider; where that is none that can be
/// used, an operator must.
async fn enter(desk: &Desk, kind: FindingKind, line: SettlementLine) -> Result<bool, Fault> {
    let attempt = named(&line);
    let reference = match line.moved {
        Moved::Charged { charge, .. } | Moved::Returned { charge } => charge,
        Moved::RefundedByHand { provider_id, .. } => provider_id,
        Moved::Captured { .. } | Moved::Refunded { .. } | Moved::RefundFailed { .. } => line.entry.clone(),
        Moved::Other { reference } => reference,
    };
    let returning = kind == FindingKind::OtherCharge && reference.parse::<ChargeName>().is_ok();
    let SettlementLine { entry, amount, at: happened_at, .. } = line;
    let provider = PROVIDER;
    let finding = Finding { provider, entry, kind, returning, attempt, reference, amount, happened_at };
    tracing::error!(
        entry = finding.entry,
        kind = kind.as_str(),
        "the provider's books do not agree with ours"
    );
    desk.shards()
        .directory()
        .transaction("enter_finding", move |connection| {
            let finding = finding.clone();
            Box::pin(async move {
                let now = clock::now(connection).await?;
                settlement::enter(connection, &finding, now).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))
}

async fn return_strays(desk: &Desk) -> Result<usize, Fault> {
    let due: Vec<Stray> = desk
        .shards()
        .directory()
        .transaction("take_strays", |connection| {
            Box::pin(async move {
                let now = clock::now(connection).await?;
                let again_at: Moment = now.plus(AGAIN_AFTER);
                settlement::take_due(connection, PROVIDER, now, again_at, MAX_RETURNS).await
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
    match desk.provider().return_charge(&charge, stray.amount, deadline(desk)).await {
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
    let written = desk
        .shards()
        .directory()
        .transaction("settle_stray", move |connection| {
            let entry = stray.entry.clone();
            Box::pin(async move {
                let now = clock::now(connection).await?;
                settlement::settle(connection, PROVIDER, &entry, returned, now).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    Ok(written && returned)
}
