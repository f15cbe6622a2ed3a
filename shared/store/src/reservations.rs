//! `reservations` and `reservation_nights`.

use chrono::NaiveDate;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    guest::Guest,
    ids::{AttemptId, HoldId, HotelId, PrincipalId, ReservationId},
    money::Money,
    quote::QuoteDocument,
    reservation::ReservationState,
    stay::Stay,
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::{
    holds::UnitNight,
    read::{document, json, money, stay},
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReservationRow {
    pub id: ReservationId,
    pub principal: PrincipalId,
    pub hold: HoldId,
    pub attempt: AttemptId,
    pub state: ReservationState,
    pub version: i32,
    pub stay: Stay,
    pub total: Money,
    pub guest: Guest,
    pub document: QuoteDocument,
    pub created_at: Moment,
}

struct Raw {
    hotel_id: i32,
    reservation_id: Uuid,
    principal_id: Uuid,
    hold_id: Uuid,
    attempt_id: Uuid,
    state: String,
    version: i32,
    check_in: NaiveDate,
    check_out: NaiveDate,
    total: Decimal,
    currency: String,
    guest: serde_json::Value,
    document: serde_json::Value,
    created_at: chrono::DateTime<chrono::Utc>,
}

impl TryFrom<Raw> for ReservationRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let hotel = HotelId(r.hotel_id);
        Ok(Self {
            id: ReservationId::new(hotel, r.reservation_id),
            principal: PrincipalId(r.principal_id),
            hold: HoldId::new(hotel, r.hold_id),
            attempt: AttemptId::new(hotel, r.attempt_id),
            state: ReservationState::from_name(&r.state)
                .ok_or_else(|| DbError::unreadable("reservation state", &r.state))?,
            version: r.version,
            stay: stay(r.check_in, r.check_out)?,
            total: money(r.total, &r.currency)?,
            guest: document("guest", r.guest)?,
            document: document("reservation document", r.document)?,
            created_at: Moment(r.created_at),
        })
    }
}

pub async fn find(
    connection: &mut PgConnection,
    id: ReservationId,
) -> Result<Option<ReservationRow>, DbError> {
    let row = sqlx::query_as!(
        Raw,
        "-- store::reservations::find
        SELECT hotel_id, reservation_id, principal_id, hold_id, attempt_id, state, version, check_in, check_out, total,
               currency, guest, document, created_at
        FROM reservations
        WHERE hotel_id = $1
          AND reservation_id = $2",
        id.hotel().0,
        id.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(TryInto::try_into).transpose()
}

pub async fn of_attempt(
    connection: &mut PgConnection,
    attempt: AttemptId,
) -> Result<Option<ReservationRow>, DbError> {
    let row = sqlx::query_as!(
        Raw,
        "-- store::reservations::of_attempt
        SELECT hotel_id, reservation_id, principal_id, hold_id, attempt_id, state, version, check_in, check_out, total,
               currency, guest, document, created_at
        FROM reservations
        WHERE hotel_id = $1
          AND attempt_id = $2",
        attempt.hotel().0,
        attempt.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(TryInto::try_into).transpose()
}

/// A principal's reservations on this shard that come after `after`, by time-ordered id.
pub async fn of_principal(
    connection: &mut PgConnection,
    principal: PrincipalId,
    after: Option<ReservationId>,
    limit: i64,
) -> Result<Vec<ReservationRow>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        "-- store::reservations::of_principal
        SELECT hotel_id, reservation_id, principal_id, hold_id, attempt_id, state, version, check_in, check_out, total,
               currency, guest, document, created_at
        FROM reservations
        WHERE principal_id = $1
          AND (reservation_id, hotel_id) > ($2, $3)
        ORDER BY reservation_id, hotel_id
        LIMIT $4",
        principal.0,
        // Before every id there is.
        after.map_or(Uuid::nil(), ReservationId::uuid),
        after.map_or(0, |id| id.hotel().0),
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Writes reservations whose holds have just been consumed, with one row per unit.
pub async fn insert(
    connection: &mut PgConnection,
    reservations: &[(ReservationRow, Vec<UnitNight>)],
) -> Result<(), DbError> {
    if reservations.is_empty() {
        return Ok(());
    }
    let rows = || reservations.iter().map(|(row, _)| row);
    let guests = rows().map(|r| json("guest", &r.guest)).collect::<Result<Vec<_>, _>>()?;
    let documents =
        rows().map(|r| json("reservation document", &r.document)).collect::<Result<Vec<_>, _>>()?;
    sqlx::query!(
        "-- store::reservations::insert
        INSERT INTO reservations (
            hotel_id, reservation_id, principal_id, hold_id, attempt_id, state, version, check_in, check_out,
            total, currency, guest, document, created_at)
        SELECT u.hotel_id, u.reservation_id, u.principal_id, u.hold_id, u.attempt_id, 'CONFIRMED', 1, u.check_in,
               u.check_out, u.total, u.currency, u.guest, u.document, u.created_at
        FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::date[], $7::date[], $8::numeric[],
                    $9::text[], $10::jsonb[], $11::jsonb[], $12::timestamptz[])
            AS u (hotel_id, reservation_id, principal_id, hold_id, attempt_id, check_in, check_out, total, currency,
                  guest, document, created_at)",
        &rows().map(|r| r.id.hotel().0).collect::<Vec<i32>>(),
        &rows().map(|r| r.id.uuid()).collect::<Vec<Uuid>>(),
        &rows().map(|r| r.principal.0).collect::<Vec<Uuid>>(),
        &rows().map(|r| r.hold.uuid()).collect::<Vec<Uuid>>(),
        &rows().map(|r| r.attempt.uuid()).collect::<Vec<Uuid>>(),
        &rows().map(|r| r.stay.check_in()).collect::<Vec<NaiveDate>>(),
        &rows().map(|r| r.stay.check_out()).collect::<Vec<NaiveDate>>(),
        &rows().map(|r| r.total.amount()).collect::<Vec<Decimal>>(),
        &rows().map(|r| r.total.currency().code().to_owned()).collect::<Vec<String>>(),
        &guests,
        &documents,
        &rows().map(|r| r.created_at.0).collect::<Vec<chrono::DateTime<chrono::Utc>>>()
    )
    .execute(&mut *connection)
    .await?
    .exactly(reservations.len(), "store::reservations::insert")?;
    insert_units(connection, reservations).await
}

async fn insert_units(
    connection: &mut PgConnection,
    reservations: &[(ReservationRow, Vec<UnitNight>)],
) -> Result<(), DbError> {
    let units: Vec<(ReservationId, &UnitNight)> =
        reservations.iter().flat_map(|(row, units)| units.iter().map(|unit| (row.id, unit))).collect();
    sqlx::query!(
        "-- store::reservations::insert_units
        INSERT INTO reservation_nights (
            hotel_id, reservation_id, room, stay_date, room_type_id, rate_plan_id, amount, price_version)
        SELECT u.hotel_id, u.reservation_id, u.room, u.stay_date, u.room_type_id, u.rate_plan_id, u.amount,
               u.price_version
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::date[], $5::int[], $6::int[], $7::numeric[], $8::int[])
            AS u (hotel_id, reservation_id, room, stay_date, room_type_id, rate_plan_id, amount, price_version)",
        &units.iter().map(|(id, _)| id.hotel().0).collect::<Vec<i32>>(),
        &units.iter().map(|(id, _)| id.uuid()).collect::<Vec<Uuid>>(),
        &units.iter().map(|(_, u)| u.room).collect::<Vec<i16>>(),
        &units.iter().map(|(_, u)| u.date).collect::<Vec<NaiveDate>>(),
        &units.iter().map(|(_, u)| u.room_type.0).collect::<Vec<i32>>(),
        &units.iter().map(|(_, u)| u.rate_plan.0).collect::<Vec<i32>>(),
        &units.iter().map(|(_, u)| u.amount.amount()).collect::<Vec<Decimal>>(),
        &units.iter().map(|(_, u)| u.price_version).collect::<Vec<i32>>()
    )
    .execute(connection)
    .await?
    .exactly(units.len(), "store::reservations::insert_units")
}
