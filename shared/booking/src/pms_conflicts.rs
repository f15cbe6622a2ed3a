//! Nights that a hotel's own system reported below what is held and confirmed, and what the staff makes of them:
//! `GET /v1/hotels/{h}/pms/conflicts`, `POST .../pms/conflicts/{id}/resolve`.

pub mod operation;

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_db::PgConnection;
use keyrack_domain::{
    actor::Actor,
    clock::Moment,
    code::{HotelCode, RoomTypeCode},
    hotel::HotelRef,
    ids::{ConflictId, RoomTypeId},
    operation_key::{Endpoint, OperationKey},
    pms::{ConflictState, Resolution},
    principal::Caller,
};
use keyrack_ledger::ConflictRow;
use keyrack_store::{pms_conflicts, room_types};
use serde::{Deserialize, Serialize};

use self::operation::{ResolveAnswer, ResolveOp};
use crate::{Answered, Desk, Fault, KeyRefusal, hotel_directory::NoHotel, key};

pub const ENDPOINT: Endpoint = Endpoint("POST /v1/hotels/{hotel}/pms/conflicts/{id}/resolve");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictView {
    pub id: ConflictId,
    pub room_type: RoomTypeCode,
    pub night: NaiveDate,
    pub state: ConflictState,
    pub reported: i32,
    /// When it was reported.
    pub held: i32,
    pub confirmed: i32,
    /// The batch that reported it.
    pub sequence: i64,
    pub created_at: Moment,
    pub ended_at: Option<Moment>,
}

impl ConflictView {
    fn of(row: &ConflictRow, room_type: RoomTypeCode) -> Self {
        let ConflictRow {
            id, night, state, reported, held, confirmed, sequence, created_at, ended_at, ..
        } = *row;
        let night = night.date;
        Self { id, room_type, night, state, reported, held, confirmed, sequence, created_at, ended_at }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConflictError {
    /// No such hotel or conflict of theirs.
    #[error("no such conflict")]
    NotFound,
    /// 409: somebody or something was faster.
    #[error("the conflict is {0:?}")]
    Ended(ConflictState),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for ConflictError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::NotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Page {
    pub items: Vec<ConflictView>,
    /// Where the next page begins.
    pub next: Option<ConflictId>,
}

/// In the order in which they came: of one state, or those that wait.
pub async fn list(
    desk: &Desk,
    caller: &Caller,
    hotel: &HotelCode,
    state: Option<ConflictState>,
    after: Option<ConflictId>,
    limit: u16,
) -> Result<Page, ConflictError> {
    let hotel = desk.hotels().by_code(hotel).await?;
    if !caller.runs(hotel.id) {
        return Err(ConflictError::NotFound);
    }
    let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
    let limit = usize::from(limit);
    let one_more = i64::try_from(limit + 1).map_err(Fault::internal)?;
    let mut rows = pms_conflicts::of_hotel(&mut connection, hotel.id, state, after, one_more)
        .await
        .map_err(Fault::from)?;
    let codes = codes(&mut connection, &hotel).await?;
    let is_last = rows.len() <= limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| !is_last).map(|row| row.id);
    let view = |row: &ConflictRow| Some(ConflictView::of(row, codes.get(&row.night.room_type)?.clone()));
    Ok(Page { items: rows.iter().filter_map(view).collect(), next })
}

pub async fn resolve(
    desk: &Desk,
    caller: &Caller,
    hotel: &HotelCode,
    id: ConflictId,
    resolution: Resolution,
    key: OperationKey,
) -> Result<Answered<ConflictView>, ConflictError> {
    let hotel = desk.hotels().by_code(hotel).await?;
    if !caller.runs(hotel.id) || id.hotel() != hotel.id {
        return Err(ConflictError::NotFound);
    }
    let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
    let found = pms_conflicts::find(&mut connection, id).await.map_err(Fault::from)?;
    let row = found.ok_or(ConflictError::NotFound)?;
    let code = codes(&mut connection, &hotel).await?.remove(&row.night.room_type);
    drop(connection);
    let fingerprint = key::fingerprint(ENDPOINT, &(id, resolution))?;
    let operation = ResolveOp {
        hotel: hotel.as_ref().clone(),
        claim: key::claim(hotel.id, caller.principal, ENDPOINT, key, fingerprint),
        actor: Actor::Caller(caller.clone()),
        // The foreign key keeps it.
        room_type: code.ok_or(ConflictError::NotFound)?,
        conflict: row,
        resolution,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        ResolveAnswer::Resolved(answer) => Ok(Answered { answer, replayed }),
        ResolveAnswer::Ended => {
            let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
            let found = pms_conflicts::find(&mut connection, id).await.map_err(Fault::from)?;
            Err(found.map_or(ConflictError::NotFound, |row| ConflictError::Ended(row.state)))
        }
    }
}

async fn codes(
    connection: &mut PgConnection,
    hotel: &HotelRef,
) -> Result<BTreeMap<RoomTypeId, RoomTypeCode>, Fault> {
    let types = room_types::of_hotel(connection, hotel.id).await?;
    Ok(types.into_iter().map(|room_type| (room_type.id, room_type.code)).collect())
}
