//! What operators look at, over all hotels and shards. For everybody else there is nothing here.

use std::{sync::Arc, time::Duration};

use keyrack_domain::{
    clock::Moment,
    hotel::HotelRef,
    ids::{AttemptId, FindingId, HotelId, NoticeId, RefundId},
    notice::ProviderName,
    principal::{Caller, Role},
};
use keyrack_ledger::{EventRow, RefundRow};
use keyrack_store::{cases, cases::CaseRow, clock, provider_events, refunds, settlement, unmatched_notices};

pub use keyrack_store::{
    settlement::{FindingRow, FindingState},
    unmatched_notices::UnmatchedRow,
};

use crate::{Desk, Fault};

/// The largest page.
pub const MAX_PAGE: u16 = 100;

/// One page of a list, oldest first.
#[derive(Clone, Debug)]
pub struct Page<T, P> {
    pub items: Vec<T>,
    /// Goes on after here.
    pub next: Option<P>,
}

impl<T, P> Page<T, P> {
    /// Of more than `limit` items, those of the page.
    pub(crate) fn first(mut items: Vec<T>, limit: u16, place: impl Fn(&T) -> P) -> Self {
        let limit = usize::from(limit);
        let next = (items.len() > limit).then(|| place(&items[limit - 1]));
        items.truncate(limit);
        Self { items, next }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// Also for everybody but operators.
    #[error("there is no such list")]
    NotFound,
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<keyrack_db::DbError> for OpsError {
    fn from(error: keyrack_db::DbError) -> Self {
        Self::Fault(error.into())
    }
}

pub(crate) fn must_operate(caller: &Caller) -> Result<(), OpsError> {
    if caller.role == Role::Operator { Ok(()) } else { Err(OpsError::NotFound) }
}

/// Refunds that are not sent any more until somebody has looked.
pub async fn refunds(
    desk: &Desk,
    caller: &Caller,
    after: Option<RefundId>,
    limit: u16,
) -> Result<Page<(RefundRow, Arc<HotelRef>), RefundId>, OpsError> {
    must_operate(caller)?;
    let mut rows = Vec::new();
    for (_, database) in desk.shards().all() {
        let mut connection = database.connection().await?;
        rows.extend(refunds::needing_attention(&mut connection, after, one_more(limit)).await?);
    }
    rows.sort_by_key(|row| (row.id.uuid(), row.id.hotel()));
    let page = Page::first(rows, limit, |row| row.id);
    let mut items = Vec::with_capacity(page.items.len());
    for row in page.items {
        let hotel = hotel_of(desk, row.id.hotel()).await?;
        items.push((row, hotel));
    }
    Ok(Page { items, next: page.next })
}

/// Recorded notices that do not agree with what is recorded.
pub async fn notices_with_a_finding(
    desk: &Desk,
    caller: &Caller,
    after: Option<NoticeId>,
    limit: u16,
) -> Result<Page<(EventRow, Moment), NoticeId>, OpsError> {
    must_operate(caller)?;
    let mut rows = Vec::new();
    for (_, database) in desk.shards().all() {
        let mut connection = database.connection().await?;
        rows.extend(provider_events::found(&mut connection, after, one_more(limit)).await?);
    }
    rows.sort_by_key(|(event, _)| (event.id.uuid(), event.id.hotel()));
    Ok(Page::first(rows, limit, |(event, _)| event.id))
}

/// Notices about what is not there.
pub async fn unmatched_notices(
    desk: &Desk,
    caller: &Caller,
    after: Option<NoticeId>,
    limit: u16,
) -> Result<Page<UnmatchedRow, NoticeId>, OpsError> {
    must_operate(caller)?;
    let mut connection = desk.shards().directory().connection().await?;
    let rows = unmatched_notices::list(&mut connection, after, one_more(limit)).await?;
    Ok(Page::first(rows, limit, |row| row.id))
}

/// Lines of providers' books that did not agree with what is recorded: those that wait for somebody, or those that
/// have come to an end.
pub async fn settlement_findings(
    desk: &Desk,
    caller: &Caller,
    ended: bool,
    provider: Option<&ProviderName>,
    after: Option<FindingId>,
    limit: u16,
) -> Result<Page<FindingRow, FindingId>, OpsError> {
    must_operate(caller)?;
    let mut connection = desk.shards().directory().connection().await?;
    let rows = settlement::list(&mut connection, ended, provider, after, one_more(limit)).await?;
    Ok(Page::first(rows, limit, |row| row.id))
}

/// An attempt without an end, its hotel, and for how long.
#[derive(Clone, Debug)]
pub struct CaseView {
    pub row: CaseRow,
    pub hotel: Arc<HotelRef>,
    pub open_for: Duration,
}

pub async fn cases(
    desk: &Desk,
    caller: &Caller,
    after: Option<AttemptId>,
    limit: u16,
) -> Result<Page<CaseView, AttemptId>, OpsError> {
    must_operate(caller)?;
    let mut rows = Vec::new();
    for (_, database) in desk.shards().all() {
        let mut connection = database.connection().await?;
        let now = clock::now(&mut connection).await?;
        let open = cases::open(&mut connection, after, one_more(limit)).await?;
        rows.extend(open.into_iter().map(|row| (row, row.started_at.until(now))));
    }
    rows.sort_by_key(|(row, _)| (row.attempt.uuid(), row.attempt.hotel()));
    let page = Page::first(rows, limit, |(row, _)| row.attempt);
    let mut items = Vec::with_capacity(page.items.len());
    for (row, open_for) in page.items {
        items.push(CaseView { row, hotel: hotel_of(desk, row.attempt.hotel()).await?, open_for });
    }
    Ok(Page { items, next: page.next })
}

/// It tells whether there is a next page.
pub(crate) fn one_more(limit: u16) -> i64 {
    i64::from(limit) + 1
}

pub(crate) async fn hotel_of(desk: &Desk, id: HotelId) -> Result<Arc<HotelRef>, Fault> {
    let hotel = desk.hotel_of(id).await?;
    hotel.ok_or_else(|| Fault::internal(format!("the directory does not know hotel {id}")))
}
