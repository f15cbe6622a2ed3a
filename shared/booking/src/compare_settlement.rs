//! The slower comparison: the provider's books against what is recorded. It finds what every answer and notice
//! was lost of. A line is judged by what it says and by what is recorded now, each effect is guarded, and a page
//! that is compared again changes nothing; so no lease is needed.

mod judge;
mod missing;
mod strays;

use chrono::DateTime;
use keyrack_db::DbError;
use keyrack_domain::ids::{FindingId, HotelId};
use keyrack_payments::{
    ChargeName, Deadline, Moved, Settlement, SettlementFrom, SettlementLine, SettlementPosition,
};
use keyrack_store::{
    clock,
    settlement::{self, Finding, FindingKind},
};

use self::judge::{Judged, Recorded, judge, named};
use crate::{Desk, Fault, entropy};

/// Lines of one run, which are one page.
pub const MAX_LINES: u16 = 100;

/// What one run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compared {
    pub lines: usize,
    /// Captures of attempts that had FAILED, whose money goes back.
    pub given_back: usize,
    /// Refunds that were made or have come back at the provider, which nobody had told.
    pub applied: usize,
    /// Lines that do not agree, and were not known before.
    pub found: usize,
    /// Charges that nobody had asked for, and that have gone back.
    pub returned: usize,
    /// The export has more already.
    pub more: bool,
}

/// One bounded run. Several at once are harmless.
pub async fn run_once(desk: &Desk) -> Result<Compared, Fault> {
    let mut compared = compare(desk).await?;
    compared.returned = strays::give_back(desk).await?;
    if !compared.more {
        compared.found += missing::look_for(desk).await?;
    }
    Ok(compared)
}

/// Findings that have not come to an end.
pub async fn open_findings(desk: &Desk) -> Result<i64, Fault> {
    let mut connection = desk.shards().directory().connection().await?;
    Ok(settlement::open_count(&mut connection).await?)
}

async fn compare(desk: &Desk) -> Result<Compared, Fault> {
    let mut connection = desk.shards().directory().connection().await?;
    let provider = desk.provider().name();
    let position = settlement::position(&mut connection, &provider).await?;
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
    let (mut next, mut waits) = (None, false);
    for line in page.lines {
        let after = line.next.clone();
        match judge(desk, &recorded, &line).await? {
            Judged::Agrees => {}
            // The next run begins here: at the latest after the attempt's deadline it can be judged.
            Judged::TooEarly => waits = true,
            Judged::GivenBack => compared.given_back += 1,
            Judged::Applied => compared.applied += 1,
            Judged::Found(kind) => compared.found += usize::from(enter(desk, kind, line).await?),
        }
        next = if waits { next } else { Some(after) };
    }
    let next = if waits { next } else { page.next };
    if let Some(next) = next {
        advance(desk, position, next).await?;
    }
    compared.more &= !waits;
    Ok(compared)
}

/// Only when every line up to there has been dealt with: a run that dies before does them again.
async fn advance(desk: &Desk, from: Option<String>, to: SettlementPosition) -> Result<(), Fault> {
    let (directory, provider) = (desk.shards().directory(), desk.provider().name());
    directory
        .transaction("advance_settlement", move |connection| {
            let (provider, from, to) = (provider.clone(), from.clone(), to.clone());
            Box::pin(async move {
                let now = clock::now(connection).await?;
                settlement::advance(connection, &provider, from.as_deref(), to.as_str(), now).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    Ok(())
}

fn deadline(desk: &Desk) -> Deadline {
    Deadline::after(desk.settings().provider_deadline)
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
    let (id, provider) = (new_id(), desk.provider().name());
    let finding = Finding { id, provider, entry, kind, returning, attempt, reference, amount, happened_at };
    keep(desk, finding).await
}

/// Of no hotel: the books are those of all.
fn new_id() -> FindingId {
    FindingId::new(HotelId(0), entropy::id())
}

/// Once, whoever finds it first. True when that was this one.
async fn keep(desk: &Desk, finding: Finding) -> Result<bool, Fault> {
    let (entry, kind) = (finding.entry.clone(), finding.kind.as_str());
    let is_new = desk
        .shards()
        .directory()
        .transaction("enter_finding", move |connection| {
            let finding = finding.clone();
            Box::pin(async move {
                let now = clock::now(connection).await?;
                settlement::enter(connection, &finding, now).await
            })
        })
        .await
        .map_err(|error: DbError| Fault::from(error))?;
    if is_new {
        tracing::error!(entry, kind, "the provider's books do not agree with ours");
    }
    Ok(is_new)
}
