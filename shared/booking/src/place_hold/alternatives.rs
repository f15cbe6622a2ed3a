//! What a guest is told beside "sold out": the other short nights, and where the same rooms would fit.
//! Read after the rollback, without a lock: advisory.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{Days, NaiveDate};
use keyrack_domain::{
    code::RoomTypeCode,
    hotel::HotelRef,
    ids::{HoldId, RoomTypeId},
    quote::QuoteDocument,
    stay::Stay,
};
use keyrack_ledger::{Night, NightKey};
use keyrack_store::{clock, nights, room_types};

use super::{Alternative, ShortNight, Shortage, operation::Short};
use crate::{Desk, Fault};

/// Other dates are looked for so many days around.
const DAYS_AROUND: u64 = 3;

/// At most so many are told.
const MAX_TOLD: usize = 6;

pub(super) async fn shortage(
    desk: &Desk,
    hotel: &HotelRef,
    short: &[Short],
    own_hold: Option<HoldId>,
    wanted: &QuoteDocument,
) -> Result<Shortage, Fault> {
    let codes: BTreeMap<RoomTypeId, RoomTypeCode> =
        wanted.rooms.iter().map(|room| (room.room_type_id, room.room_type.clone())).collect();
    let mut told = short.iter().filter_map(|short| {
        Some(ShortNight {
            room_type: codes.get(&short.night.room_type)?.clone(),
            night: short.night.date,
            requested: short.requested,
            available: short.available,
        })
    });
    let first = told.next().ok_or_else(|| Fault::internal(NothingShort))?;
    let also_short = told.collect();
    let alternatives = alternatives(desk, hotel, wanted).await?;
    Ok(Shortage { first, also_short, alternatives, own_hold })
}

#[derive(Debug, thiserror::Error)]
#[error("a hold was refused for want of units, and no night is short")]
struct NothingShort;

/// Only where one room type is wanted: for a mixture there is no one answer.
async fn alternatives(
    desk: &Desk,
    hotel: &HotelRef,
    wanted: &QuoteDocument,
) -> Result<Vec<Alternative>, Fault> {
    let units = wanted.units_by_room_type();
    let mut only = units.iter();
    let (Some((room_type, rooms)), None) = (only.next(), only.next()) else { return Ok(Vec::new()) };
    let mut connection = desk.hotels().database(hotel)?.connection().await?;
    let today = clock::now(&mut connection).await?.date_in(hotel.zone);
    let types = room_types::of_hotel(&mut connection, hotel.id).await?;
    let offers: Vec<(RoomTypeId, RoomTypeCode, Stay)> = types
        .iter()
        .flat_map(|other| {
            let dates =
                if other.id == *room_type { other_dates(wanted.stay, today) } else { vec![wanted.stay] };
            dates.into_iter().map(|stay| (other.id, other.code.clone(), stay))
        })
        .collect();
    let keys: BTreeSet<NightKey> = offers
        .iter()
        .flat_map(|(room_type, _, stay)| {
            stay.nights().map(|date| NightKey { hotel: hotel.id, room_type: *room_type, date })
        })
        .collect();
    let counters: BTreeMap<NightKey, Night> =
        nights::read(&mut connection, &keys).await?.into_iter().collect();
    let fits = |(room_type, code, stay): (RoomTypeId, RoomTypeCode, Stay)| {
        let left = stay.nights().map(|date| {
            let key = NightKey { hotel: hotel.id, room_type, date };
            counters.get(&key).map_or(0, |night| night.available())
        });
        let available = u32::try_from(left.min()?).ok().filter(|available| available >= rooms)?;
        Some(Alternative { room_type: code, stay, available })
    };
    Ok(offers.into_iter().filter_map(fits).take(MAX_TOLD).collect())
}

/// The nearest first, none in the past.
fn other_dates(stay: Stay, today: NaiveDate) -> Vec<Stay> {
    let shifted = |days: u64| {
        let (sooner, later) = (Days::new(days), Days::new(days));
        [
            stay.check_in().checked_sub_days(sooner).zip(stay.check_out().checked_sub_days(sooner)),
            stay.check_in().checked_add_days(later).zip(stay.check_out().checked_add_days(later)),
        ]
    };
    let dates = (1..=DAYS_AROUND).flat_map(shifted).flatten();
    dates.filter(|(check_in, _)| *check_in >= today).filter_map(|(i, o)| Stay::new(i, o).ok()).collect()
}
