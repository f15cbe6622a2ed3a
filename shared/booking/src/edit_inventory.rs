//! The staff's edit of what can be sold: `PUT /v1/hotels/{h}/inventory`.

pub mod operation;

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_domain::{
    actor::Actor,
    clock::Moment,
    code::{HotelCode, RoomTypeCode},
    hotel::{HotelRef, RoomType},
    operation_key::{Endpoint, OperationKey},
    principal::Caller,
};
use keyrack_ledger::NightKey;
use keyrack_store::{clock, room_types};
use serde::{Deserialize, Serialize};

use self::operation::{EditAnswer, EditInventoryOp};
use crate::{
    Answered, Desk, Fault, FieldError, KeyRefusal,
    hotel_directory::NoHotel,
    key,
    night_range::{self, NightRange},
};

#[derive(Clone, Debug)]
pub struct EditInventory {
    pub hotel: HotelCode,
    pub changes: Vec<InventoryChange>,
    pub key: OperationKey,
}

/// A later change wins over an earlier one of the same night.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InventoryChange {
    pub room_type: RoomTypeCode,
    pub nights: NightRange,
    /// In total, what is held and confirmed included.
    pub sellable: u32,
}

/// The largest number of units of a night.
pub const MAX_SELLABLE: u32 = 100_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryEdited {
    /// Nights named by the call, each as it is afterwards, in order of room type and date.
    pub nights: Vec<NightView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NightView {
    pub room_type: RoomTypeCode,
    pub night: NaiveDate,
    pub sellable: u32,
    pub held: u32,
    pub confirmed: u32,
    /// What the hotel's own system said, where a conflict waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum EditInventoryError {
    /// Also for staff of another hotel.
    #[error("no such hotel")]
    HotelNotFound,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    /// 409 `BELOW_COMMITTED`: these nights carry more than the wanted number; nothing was applied.
    #[error("below what is held and confirmed")]
    BelowCommitted(Vec<NightView>),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub const ENDPOINT: Endpoint = Endpoint("PUT /v1/hotels/{hotel}/inventory");

pub async fn run(
    desk: &Desk,
    caller: &Caller,
    request: EditInventory,
) -> Result<Answered<InventoryEdited>, EditInventoryError> {
    let hotel = match desk.hotels().by_code(&request.hotel).await {
        Ok(hotel) if caller.runs(hotel.id) => hotel,
        Ok(_) | Err(NoHotel::NotFound) => return Err(EditInventoryError::HotelNotFound),
        Err(NoHotel::Fault(fault)) => return Err(fault.into()),
    };
    let faults = night_range::faults(request.changes.iter().map(|change| &change.nights));
    if !faults.is_empty() {
        return Err(EditInventoryError::Invalid(faults));
    }
    let mut connection = desk.hotels().database(&hotel)?.connection().await.map_err(Fault::from)?;
    let types = room_types::of_hotel(&mut connection, hotel.id).await.map_err(Fault::from)?;
    let now = clock::now(&mut connection).await.map_err(Fault::from)?;
    drop(connection);
    let (wanted, faults) = match wanted(desk, &hotel, &types, now, &request.changes) {
        Ok(wanted) => (wanted, Vec::new()),
        Err(faults) => (BTreeMap::new(), faults),
    };
    let fingerprint = key::fingerprint(ENDPOINT, &request.changes)?;
    let operation = EditInventoryOp {
        hotel: hotel.id,
        claim: key::claim(hotel.id, caller.principal, ENDPOINT, request.key, fingerprint),
        actor: Actor::Caller(caller.clone()),
        codes: types.into_iter().map(|room_type| (room_type.id, room_type.code)).collect(),
        faults,
        wanted,
    };
    let outcome = desk.ledger(&hotel)?.run(operation).await.map_err(Fault::from)?;
    let Answered { answer, replayed } = key::answered(outcome)?;
    match answer {
        EditAnswer::Edited(edited) => Ok(Answered { answer: edited, replayed }),
        EditAnswer::Invalid(faults) => Err(EditInventoryError::Invalid(faults)),
        EditAnswer::BelowCommitted(nights) => Err(EditInventoryError::BelowCommitted(nights)),
        EditAnswer::NotOpen(nights) => {
            Err(EditInventoryError::Invalid(nights.iter().map(not_open).collect()))
        }
    }
}

fn not_open((room_type, night): &(RoomTypeCode, NaiveDate)) -> FieldError {
    FieldError::new(
        "/changes",
        "OUT_OF_HORIZON",
        format!("{night} of {room_type} has not been opened for sale"),
    )
}

/// The number wanted for each night, or everything that is wrong with the changes.
fn wanted(
    desk: &Desk,
    hotel: &HotelRef,
    types: &[RoomType],
    now: Moment,
    changes: &[InventoryChange],
) -> Result<BTreeMap<NightKey, i32>, Vec<FieldError>> {
    let today = now.date_in(hotel.zone);
    let last = desk.settings().horizon.last_night(today);
    let mut faults = night_range::faults_today(changes.iter().map(|change| &change.nights), today, last);
    let mut meant = Vec::new();
    for (place, change) in changes.iter().enumerate() {
        let room_type = types.iter().find(|room_type| room_type.code == change.room_type);
        if room_type.is_none() {
            let rule = format!("the hotel has no room type {}", change.room_type);
            faults.push(FieldError::new(format!("/changes/{place}/room_type"), "UNKNOWN_ROOM_TYPE", rule));
        }
        let sellable = i32::try_from(change.sellable).ok().filter(|_| change.sellable <= MAX_SELLABLE);
        if sellable.is_none() {
            let rule = format!("must be 0 to {MAX_SELLABLE}");
            faults.push(FieldError::new(format!("/changes/{place}/sellable"), "OUT_OF_RANGE", rule));
        }
        meant.extend(room_type.zip(sellable).map(|(room_type, sellable)| (change, room_type.id, sellable)));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let key = |room_type, date| NightKey { hotel: hotel.id, room_type, date };
    Ok(meant
        .into_iter()
        .flat_map(|(change, room_type, sellable)| {
            change.nights.nights().map(move |date| (key(room_type, date), sellable))
        })
        .collect())
}
