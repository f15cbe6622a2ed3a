//! What the hotel offers for rooms and nights today: its rates, and its rules.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    code::RoomTypeCode,
    hotel::HotelRef,
    ids::{HotelId, RoomTypeId},
    pricing::DailyRate,
    quote::QuoteDocument,
    restriction::{Restrictions, Rule, Violation},
    stay::Stay,
};
use keyrack_store::{
    daily_rates::{self, RateKey},
    nights::{self, Night, NightKey},
    restrictions::{self, Window},
};

use crate::quote::check::Chosen;

/// Per room, in the order asked.
pub(crate) async fn rates(
    connection: &mut PgConnection,
    hotel: &HotelRef,
    stay: Stay,
    rooms: &[Chosen<'_>],
) -> Result<Vec<BTreeMap<NaiveDate, DailyRate>>, DbError> {
    let of = |room: &Chosen<'_>, night| RateKey {
        room_type: room.room_type.id,
        rate_plan: room.rate_plan.id,
        night,
    };
    let keys = rooms.iter().flat_map(|room| stay.nights().map(move |night| of(room, night)));
    let mut keys: Vec<RateKey> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    let rates = daily_rates::read(connection, hotel.id, hotel.currency, &keys).await?;
    let room_rates = |room| {
        let nights = stay.nights();
        nights.filter_map(|night| Some((night, *rates.get(&of(room, night))?))).collect()
    };
    Ok(rooms.iter().map(room_rates).collect())
}

/// The rules of the nights and of the day of departure.
pub(crate) async fn rules(
    connection: &mut PgConnection,
    hotel: HotelId,
    stay: Stay,
    rooms: &[Chosen<'_>],
) -> Result<Restrictions, DbError> {
    let mut room_types: Vec<RoomTypeId> = rooms.iter().map(|room| room.room_type.id).collect();
    room_types.sort_unstable();
    room_types.dedup();
    let (first, last) = (stay.check_in(), stay.check_out());
    let windows: Vec<Window> =
        room_types.into_iter().map(|room_type| Window { hotel, room_type, first, last }).collect();
    Ok(restrictions::in_windows(connection, &windows).await?.remove(&hotel).unwrap_or_default())
}

/// The rules of what was sold.
pub(crate) async fn rules_of(
    connection: &mut PgConnection,
    hotel: HotelId,
    sold: &QuoteDocument,
) -> Result<Restrictions, DbError> {
    let (first, last) = (sold.stay.check_in(), sold.stay.check_out());
    let room_types = sold.units_by_room_type().into_keys();
    let windows: Vec<Window> = room_types.map(|room_type| Window { hotel, room_type, first, last }).collect();
    Ok(restrictions::in_windows(connection, &windows).await?.remove(&hotel).unwrap_or_default())
}

/// Nights of which the hotel's own system says that fewer units are left than are committed.
pub(crate) async fn in_conflict(
    connection: &mut PgConnection,
    hotel: HotelId,
    stay: Stay,
    rooms: &[Chosen<'_>],
) -> Result<Vec<Violation<RoomTypeCode>>, DbError> {
    let codes: BTreeMap<RoomTypeId, &RoomTypeCode> =
        rooms.iter().map(|room| (room.room_type.id, &room.room_type.code)).collect();
    let of = |room_type: &RoomTypeId| {
        let room_type = *room_type;
        stay.nights().map(move |date| NightKey { hotel, room_type, date })
    };
    let nights: Vec<NightKey> = codes.keys().flat_map(of).collect();
    let told = |(key, night): (NightKey, Night)| {
        let room_type = codes.get(&key.room_type).filter(|_| night.is_in_conflict())?;
        let (night, rule) = (key.date, Rule::PmsConflict);
        Some(Violation { night, rule, room_type: (*room_type).clone(), required: None, given: None })
    };
    Ok(nights::read(connection, &nights).await?.into_iter().filter_map(told).collect())
}

/// Nights that have no rate.
pub(crate) fn without_rate(
    stay: Stay,
    rooms: &[Chosen<'_>],
    rates: &[BTreeMap<NaiveDate, DailyRate>],
) -> Vec<Violation<RoomTypeCode>> {
    let lacks = |(room, rates): (&Chosen<'_>, &BTreeMap<NaiveDate, DailyRate>)| {
        no_rate(room, stay.nights().filter(|night| !rates.contains_key(night))).collect::<Vec<_>>()
    };
    rooms.iter().zip(rates).flat_map(lacks).collect()
}

pub(crate) fn no_rate(
    room: &Chosen<'_>,
    nights: impl Iterator<Item = NaiveDate>,
) -> impl Iterator<Item = Violation<RoomTypeCode>> {
    let (rule, code) = (Rule::NoRate, room.room_type.code.clone());
    nights.map(move |night| Violation { night, rule, room_type: code.clone(), required: None, given: None })
}
