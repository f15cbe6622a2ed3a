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
    for (row, units) in reservations {
        sqlx::query!(
            "-- store::reservations::insert
            INSERT INTO reservations (
                hotel_id, reservation_id, principal_id, hold_id, attempt_id, state, version, check_in, check_out,
                total, currency, guest, document, created_at)
            VALUES ($1, $2, $3, $4, $5, 'CONFIRMED', 1, $6, $7, $8, $9, $10, $11, $12)",
            row.id.hotel().0,
            row.id.uuid(),
            row.principal.0,
            row.hold.uuid(),
            row.attempt.uuid(),
            row.stay.check_in(),
            row.stay.check_out(),
            row.total.amount(),
            row.total.currency().code(),
            json("guest", &row.guest)?,
            json("reservation document", &row.document)?,
            row.created_at.0
        )
        .execute(&mut *connection)
        .await?
        .exactly(1, "store::reservations::insert")?;
        insert_units(connection, row.id, units).await?;
    }
    Ok(())
}

async fn insert_units(
    connection: &mut PgConnection,
    id: ReservationId,
    units: &[UnitNight],
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::reservations::insert_units
        INSERT INTO reservation_nights (
            hotel_id, reservation_id, room, stay_date, room_type_id, rate_plan_id, amount, price_version)
        SELECT $1, $2, u.room, u.stay_date, u.room_type_id, u.rate_plan_id, u.amount, u.price_version
        FROM unnest($3::smallint[], $4::date[], $5::int[], $6::int[], $7::numeric[], $8::int[])
            AS u (room, stay_date, room_type_id, rate_plan_id, amount, price_version)",
        id.hotel().0,
        id.uuid(),
        &units.iter().map(|u| u.room).collect::<Vec<i16>>(),
        &units.iter().map(|u| u.date).collect::<Vec<NaiveDate>>(),
        &units.iter().map(|u| u.room_type.0).collect::<Vec<i32>>(),
        &units.iter().map(|u| u.rate_plan.0).collect::<Vec<i32>>(),
        &units.iter().map(|u| u.amount.amount()).collect::<Vec<Decimal>>(),
        &units.iter().map(|u| u.price_version).collect::<Vec<i32>>()
    )
    .execute(connection)
    .await?
    .exactly(units.len(), "store::reservations::insert_units")
}
