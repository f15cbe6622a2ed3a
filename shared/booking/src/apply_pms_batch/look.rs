//! Batches that were taken, and how far a connector has been followed.

use keyrack_domain::{
    code::HotelCode,
    principal::{Caller, Role},
};
use keyrack_store::pms_batches;

use super::{BatchView, PmsBatchError, own_hotel};
use crate::{Desk, Fault};

/// The connector's own; for staff that of any connector, which came last.
pub async fn find(
    desk: &Desk,
    caller: &Caller,
    hotel: &HotelCode,
    sequence: i64,
) -> Result<BatchView, PmsBatchError> {
    let hotel = desk.hotels().by_code(hotel).await?;
    let connector = match caller.role {
        Role::Pms if caller.hotel == Some(hotel.id) => Some(caller.principal),
        _ if caller.runs(hotel.id) => None,
        _ => return Err(PmsBatchError::NotFound),
    };
    let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
    let row = pms_batches::find(&mut connection, hotel.id, connector, sequence).await.map_err(Fault::from)?;
    let row = row.ok_or(PmsBatchError::NotFound)?;
    Ok(BatchView::of(&row).map_err(Fault::from)?)
}

/// The last sequence that was applied; 0 before the first.
pub async fn cursor(desk: &Desk, caller: &Caller, hotel: &HotelCode) -> Result<i64, PmsBatchError> {
    let hotel = own_hotel(desk, caller, hotel).await?;
    let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
    let cursor = pms_batches::cursor(&mut connection, hotel.id, caller.principal).await;
    Ok(cursor.map_err(Fault::from)?.unwrap_or(0))
}
