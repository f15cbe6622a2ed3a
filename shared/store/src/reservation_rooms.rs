//! `reservation_rooms` and `reservation_nights`: what of a reservation still stands.

use chrono::NaiveDate;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{HotelId, RatePlanId, ReservationId, RoomTypeId},
    money::Money,
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{holds::UnitNight, read::money, reservations::ReservationRow};

/// A room's number is its place in the document, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomRow {
    pub room: i16,
    pub total: Money,
    pub cancelled: Option<Cancelled>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled {
    pub penalty: Money,
    /// What its cancellation gave back of the payments; `None` where a change took the room out.
    pub refund: Option<Money>,
    pub at: Moment,
}

/// A room to cancel, and how many units that gives back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomCancelled {
    pub reservation: ReservationId,
    pub room: i16,
    pub penalty: Money,
    /// Of the payments.
    pub refund: Money,
    pub units: usize,
}

fn columns<'i>(ids: impl IntoIterator<Item = &'i ReservationId>) -> (Vec<i32>, Vec<Uuid>) {
    ids.into_iter().map(|id| (id.hotel().0, id.uuid())).unzip()
}

/// In the order of the rooms.
pub async fn read(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &ReservationId>,
) -> Result<Vec<(ReservationId, RoomRow)>, DbError> {
    let (hotels, reservations) = columns(ids);
    let rows = sqlx::query!(
        "-- store::reservation_rooms::read
        SELECT m.hotel_id, m.reservation_id, m.room, m.total, m.penalty, m.refund, m.cancelled_at, r.currency
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, reservation_id)
        JOIN reservations r ON r.hotel_id = w.hotel_id AND r.reservation_id = w.reservation_id
        JOIN reservation_rooms m ON m.hotel_id = w.hotel_id AND m.reservation_id = w.reservation_id
        ORDER BY m.hotel_id, m.reservation_id, m.room",
        &hotels,
        &reservations
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let penalty = row.penalty.map(|penalty| money(penalty, &row.currency)).transpose()?;
            let refund = row.refund.map(|refund| money(refund, &row.currency)).transpose()?;
            let cancelled = penalty.zip(row.cancelled_at);
            let cancelled = cancelled.map(|(penalty, at)| Cancelled { penalty, refund, at: Moment(at) });
            let room = RoomRow { room: row.room, total: money(row.total, &row.currency)?, cancelled };
            Ok((ReservationId::new(HotelId(row.hotel_id), row.reservation_id), room))
        })
        .collect()
}

/// A unit of a reservation, and whether its night still has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SoldUnit {
    pub unit: UnitNight,
    pub is_given_back: bool,
}

/// Without those that a change has let go: they are no part of the stay.
pub async fn units(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &ReservationId>,
) -> Result<Vec<(ReservationId, SoldUnit)>, DbError> {
    let (hotels, reservations) = columns(ids);
    let rows = sqlx::query!(
        r#"-- store::reservation_rooms::units
        SELECT n.hotel_id, n.reservation_id, n.room, n.stay_date, n.room_type_id, n.rate_plan_id, n.amount,
               n.price_version, n.given_back_at IS NOT NULL AS "is_given_back!", r.currency
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, reservation_id)
        JOIN reservations r ON r.hotel_id = w.hotel_id AND r.reservation_id = w.reservation_id
        JOIN reservation_nights n ON n.hotel_id = w.hotel_id AND n.reservation_id = w.reservation_id
        WHERE n.left_at_version IS NULL
        ORDER BY n.hotel_id, n.reservation_id, n.room, n.stay_date"#,
        &hotels,
        &reservations
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let unit = UnitNight {
                room: row.room,
                date: row.stay_date,
                room_type: RoomTypeId(row.room_type_id),
                rate_plan: RatePlanId(row.rate_plan_id),
                amount: money(row.amount, &row.currency)?,
                price_version: row.price_version,
            };
            let unit = SoldUnit { unit, is_given_back: row.is_given_back };
            Ok((ReservationId::new(HotelId(row.hotel_id), row.reservation_id), unit))
        })
        .collect()
}

/// Cancels rooms that stand, and gives their units back: each exactly once.
pub async fn cancel(
    connection: &mut PgConnection,
    rooms: &[RoomCancelled],
    at: Moment,
) -> Result<(), DbError> {
    if rooms.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(rooms.iter().map(|room| &room.reservation));
    let numbers: Vec<i16> = rooms.iter().map(|room| room.room).collect();
    sqlx::query!(
        "-- store::reservation_rooms::cancel
        UPDATE reservation_rooms AS m
        SET cancelled_at = $5,
            penalty = u.penalty,
            refund = u.refund
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::numeric[], $6::numeric[])
            AS u (hotel_id, reservation_id, room, penalty, refund)
        WHERE m.hotel_id = u.hotel_id
          AND m.reservation_id = u.reservation_id
          AND m.room = u.room
          AND m.cancelled_at IS NULL",
        &hotels,
        &ids,
        &numbers,
        &rooms.iter().map(|room| room.penalty.amount()).collect::<Vec<Decimal>>(),
        at.0,
        &rooms.iter().map(|room| room.refund.amount()).collect::<Vec<Decimal>>()
    )
    .execute(&mut *connection)
    .await?
    .exactly(rooms.len(), "store::reservation_rooms::cancel")?;
    sqlx::query!(
        "-- store::reservation_rooms::give_back
        UPDATE reservation_nights AS n
        SET given_back_at = $4
        FROM unnest($1::int[], $2::uuid[], $3::smallint[]) AS u (hotel_id, reservation_id, room)
        WHERE n.hotel_id = u.hotel_id
          AND n.reservation_id = u.reservation_id
          AND n.room = u.room
          AND n.given_back_at IS NULL",
        &hotels,
        &ids,
        &numbers,
        at.0
    )
    .execute(connection)
    .await?
    .exactly(rooms.iter().map(|room| room.units).sum(), "store::reservation_rooms::give_back")
}

/// Nights of a reservation from this date on, in all rooms that stand, and how many units that is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NightsFrom {
    pub reservation: ReservationId,
    pub first: NaiveDate,
    pub units: usize,
}

/// Gives units back: each exactly once.
pub async fn give_back(
    connection: &mut PgConnection,
    nights: &[NightsFrom],
    at: Moment,
) -> Result<(), DbError> {
    if nights.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(nights.iter().map(|n| &n.reservation));
    sqlx::query!(
        "-- store::reservation_rooms::give_back_from
        UPDATE reservation_nights AS n
        SET given_back_at = $4
        FROM unnest($1::int[], $2::uuid[], $3::date[]) AS u (hotel_id, reservation_id, first)
        WHERE n.hotel_id = u.hotel_id
          AND n.reservation_id = u.reservation_id
          AND n.stay_date >= u.first
          AND n.given_back_at IS NULL",
        &hotels,
        &ids,
        &nights.iter().map(|n| n.first).collect::<Vec<NaiveDate>>(),
        at.0
    )
    .execute(connection)
    .await?
    .exactly(nights.iter().map(|n| n.units).sum(), "store::reservation_rooms::give_back_from")
}

/// Takes again what had been given back of rooms that stand; the night has let it go by then.
pub async fn take_again(connection: &mut PgConnection, nights: &[NightsFrom]) -> Result<(), DbError> {
    if nights.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(nights.iter().map(|n| &n.reservation));
    sqlx::query!(
        "-- store::reservation_rooms::take_again
        UPDATE reservation_nights AS n
        SET given_back_at = NULL
        FROM unnest($1::int[], $2::uuid[], $3::date[]) AS u (hotel_id, reservation_id, first)
        JOIN reservation_rooms m
          ON m.hotel_id = u.hotel_id
         AND m.reservation_id = u.reservation_id
         AND m.cancelled_at IS NULL
        WHERE n.hotel_id = u.hotel_id
          AND n.reservation_id = u.reservation_id
          AND n.room = m.room
          AND n.stay_date >= u.first
          AND n.given_back_at IS NOT NULL
          AND n.left_at_version IS NULL",
        &hotels,
        &ids,
        &nights.iter().map(|n| n.first).collect::<Vec<NaiveDate>>()
    )
    .execute(connection)
    .await?
    .exactly(nights.iter().map(|n| n.units).sum(), "store::reservation_rooms::take_again")
}

/// The rooms of new reservations, with one row per unit.
pub(crate) async fn insert(
    connection: &mut PgConnection,
    reservations: &[(ReservationRow, Vec<UnitNight>)],
) -> Result<(), DbError> {
    let rooms: Vec<(ReservationId, i16, Money)> = reservations
        .iter()
        .flat_map(|(row, _)| (1..).zip(&row.document.rooms).map(|(n, room)| (row.id, n, room.total)))
        .collect();
    insert_rooms(connection, &rooms).await?;
    let units: Vec<(ReservationId, i32, &UnitNight)> = reservations
        .iter()
        .flat_map(|(row, units)| units.iter().map(|unit| (row.id, row.version, unit)))
        .collect();
    insert_units(connection, &units).await
}

pub(crate) async fn insert_rooms(
    connection: &mut PgConnection,
    rooms: &[(ReservationId, i16, Money)],
) -> Result<(), DbError> {
    if rooms.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "-- store::reservation_rooms::insert
        INSERT INTO reservation_rooms (hotel_id, reservation_id, room, total)
        SELECT u.hotel_id, u.reservation_id, u.room, u.total
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::numeric[]) AS u (hotel_id, reservation_id, room, total)",
        &rooms.iter().map(|(id, ..)| id.hotel().0).collect::<Vec<i32>>(),
        &rooms.iter().map(|(id, ..)| id.uuid()).collect::<Vec<Uuid>>(),
        &rooms.iter().map(|(_, room, _)| *room).collect::<Vec<i16>>(),
        &rooms.iter().map(|(.., total)| total.amount()).collect::<Vec<Decimal>>()
    )
    .execute(connection)
    .await?
    .exactly(rooms.len(), "store::reservation_rooms::insert")
}

/// Each with the version of its reservation that takes it.
pub(crate) async fn insert_units(
    connection: &mut PgConnection,
    units: &[(ReservationId, i32, &UnitNight)],
) -> Result<(), DbError> {
    if units.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "-- store::reservation_rooms::insert_units
        INSERT INTO reservation_nights (
            hotel_id, reservation_id, room, stay_date, since, room_type_id, rate_plan_id, amount, price_version)
        SELECT u.hotel_id, u.reservation_id, u.room, u.stay_date, u.since, u.room_type_id, u.rate_plan_id, u.amount,
               u.price_version
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::date[], $5::int[], $6::int[], $7::int[], $8::numeric[],
                    $9::int[])
            AS u (hotel_id, reservation_id, room, stay_date, since, room_type_id, rate_plan_id, amount,
                  price_version)",
        &units.iter().map(|(id, ..)| id.hotel().0).collect::<Vec<i32>>(),
        &units.iter().map(|(id, ..)| id.uuid()).collect::<Vec<Uuid>>(),
        &units.iter().map(|(.., u)| u.room).collect::<Vec<i16>>(),
        &units.iter().map(|(.., u)| u.date).collect::<Vec<NaiveDate>>(),
        &units.iter().map(|(_, since, _)| *since).collect::<Vec<i32>>(),
        &units.iter().map(|(.., u)| u.room_type.0).collect::<Vec<i32>>(),
        &units.iter().map(|(.., u)| u.rate_plan.0).collect::<Vec<i32>>(),
        &units.iter().map(|(.., u)| u.amount.amount()).collect::<Vec<Decimal>>(),
        &units.iter().map(|(.., u)| u.price_version).collect::<Vec<i32>>()
    )
    .execute(connection)
    .await?
    .exactly(units.len(), "store::reservation_rooms::insert_units")
}
