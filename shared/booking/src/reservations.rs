//! Reading reservations, from the authority.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    code::HotelCode,
    ids::{PrincipalId, ReservationId},
    principal::Caller,
};
use keyrack_ledger::ReservationRow;

use keyrack_store::{
    attempts, clock, customer_actions, refunds, reservation_rooms, reservations, scheduled_charges,
};

use crate::{
    Desk, Fault,
    views::{ChargeView, Parts, RefundView, ReservationView},
};

/// One page of a traveler's reservations, oldest first.
#[derive(Clone, Debug)]
pub struct Page {
    pub items: Vec<ReservationView>,
    /// Goes on after here.
    pub next: Option<ReservationId>,
    pub as_of: Moment,
}

/// The largest page.
pub const MAX_PAGE: u16 = 100;

/// Its guest's, or its hotel's staff's; anybody else's is not found.
pub async fn find(desk: &Desk, caller: &Caller, id: ReservationId) -> Result<Option<ReservationView>, Fault> {
    let Some(hotel) = desk.hotel_of(id.hotel()).await? else { return Ok(None) };
    let mut connection = desk.hotels().database(&hotel)?.connection().await?;
    let row = reservations::find(&mut connection, id).await?;
    let own = row.filter(|row| row.principal == caller.principal || caller.runs(hotel.id));
    let own = own.map(|row| (row, hotel.code.clone())).into_iter().collect();
    Ok(told(&mut connection, own, caller.principal).await?.pop())
}

/// The caller's own, over all hotels. Each shard is asked; with the projections this becomes one read.
pub async fn list(
    desk: &Desk,
    caller: &Caller,
    after: Option<ReservationId>,
    limit: u16,
) -> Result<Page, Fault> {
    let limit = usize::from(limit.clamp(1, MAX_PAGE));
    let mut rows = Vec::new();
    let mut as_of = None;
    for (_, database) in desk.shards().all() {
        let mut connection = database.connection().await?;
        let now = clock::now(&mut connection).await?;
        as_of = Some(as_of.map_or(now, |earlier: Moment| earlier.min(now)));
        // One more than the page: it tells whether there is a next one.
        let more = i64::try_from(limit + 1).map_err(Fault::internal)?;
        rows.extend(reservations::of_principal(&mut connection, caller.principal, after, more).await?);
    }
    rows.sort_by_key(|row| (row.id.uuid(), row.id.hotel()));
    let next = (rows.len() > limit).then(|| rows[limit - 1].id);
    rows.truncate(limit);
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let hotel =
            desk.hotel_of(row.id.hotel()).await?.ok_or_else(|| Fault::internal(NoDirectoryEntry(row.id)))?;
        // Each on its own: a guest has few, and they may lie on several shards.
        let mut connection = desk.hotels().database(&hotel)?.connection().await?;
        let own = vec![(row, hotel.code.clone())];
        items.extend(told(&mut connection, own, caller.principal).await?);
    }
    let as_of = as_of.ok_or_else(|| Fault::internal(NoShard))?;
    Ok(Page { items, next, as_of })
}

/// With what stands of their rooms and what went back, all of one shard; and the payments that wait for `principal`
/// to act.
pub(crate) async fn told(
    connection: &mut PgConnection,
    rows: Vec<(ReservationRow, HotelCode)>,
    principal: PrincipalId,
) -> Result<Vec<ReservationView>, DbError> {
    let rooms = reservation_rooms::read(connection, rows.iter().map(|(row, _)| &row.id)).await?;
    let ids: Vec<ReservationId> = rows.iter().map(|(row, _)| row.id).collect();
    let paid_by = attempts::that_paid(connection, &ids).await?;
    let refunds = refunds::of_attempts(connection, paid_by.iter().map(|(_, attempt)| attempt)).await?;
    let charges = scheduled_charges::read(connection, &ids).await?;
    let waiting = customer_actions::waiting(connection, &ids, principal).await?;
    let view = |(row, hotel): (ReservationRow, HotelCode)| {
        let rooms = rooms.iter().filter(|(id, _)| *id == row.id).map(|(_, room)| *room).collect();
        let refunds = refunds.iter().filter(|refund| paid_by.contains(&(row.id, refund.attempt)));
        let refunds = refunds.map(RefundView::of).collect();
        let schedule = charges.iter().filter(|charge| charge.reservation == row.id).map(ChargeView::of);
        let schedule = schedule.collect();
        let waiting = waiting.iter().filter(|payment| payment.reservation == row.id).cloned().collect();
        let parts = Parts { rooms, refunds, schedule, waiting };
        ReservationView::of(row, &hotel, parts)
    };
    Ok(rows.into_iter().map(view).collect())
}

#[derive(Debug, thiserror::Error)]
#[error("the directory does not know the hotel of {0}")]
struct NoDirectoryEntry(ReservationId);

#[derive(Debug, thiserror::Error)]
#[error("no shard is configured")]
struct NoShard;
