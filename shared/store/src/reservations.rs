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
    reservation_rooms,
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReservationRow {
    pub id: ReservationId,
    pub principal: PrincipalId,
    /// Of a guest who booked here: what was consumed, and what paid for it. A channel's booking has neither.
    pub hold: Option<HoldId>,
    pub attempt: Option<AttemptId>,
    pub state: ReservationState,
    pub version: i32,
    pub stay: Stay,
    pub total: Money,
    /// Of it, what its changes cost by the policy that was sold.
    pub change_fees: Money,
    pub guest: Guest,
    pub document: QuoteDocument,
    pub created_at: Moment,
}

struct Raw {
    hotel_id: i32,
    reservation_id: Uuid,
    principal_id: Uuid,
    hold_id: Option<Uuid>,
    attempt_id: Option<Uuid>,
    state: String,
    version: i32,
    check_in: NaiveDate,
    check_out: NaiveDate,
    total: Decimal,
    change_fees: Decimal,
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
            hold: r.hold_id.map(|id| HoldId::new(hotel, id)),
            attempt: r.attempt_id.map(|id| AttemptId::new(hotel, id)),
            state: ReservationState::from_name(&r.state)
                .ok_or_else(|| DbError::unreadable("reservation state", &r.state))?,
            version: r.version,
            stay: stay(r.check_in, r.check_out)?,
            total: money(r.total, &r.currency)?,
            change_fees: money(r.change_fees, &r.currency)?,
            guest: document("guest", r.guest)?,
            document: document("reservation document", r.document)?,
            created_at: Moment(r.created_at),
        })
    }
}

/// A guarded move of a reservation's state. The version rises by one with each change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReservationMove {
    pub id: ReservationId,
    pub from: ReservationState,
    pub to: ReservationState,
    pub from_version: i32,
    pub to_version: i32,
}

pub async fn read(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &ReservationId>,
) -> Result<Vec<ReservationRow>, DbError> {
    let (hotels, reservations) = columns(ids);
    let rows = sqlx::query_as!(
        Raw,
        "-- store::reservations::read
        SELECT r.hotel_id, r.reservation_id, r.principal_id, r.hold_id, r.attempt_id, r.state, r.version, r.check_in,
               r.check_out, r.total, r.change_fees, r.currency, r.guest, r.document, r.created_at
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, reservation_id)
        JOIN reservations r ON r.hotel_id = w.hotel_id AND r.reservation_id = w.reservation_id",
        &hotels,
        &reservations
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Waits for each reservation's lock in the order of their ids, before any other aggregate.
pub async fn lock(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &ReservationId>,
) -> Result<Vec<ReservationRow>, DbError> {
    let (hotels, reservations) = columns(ids);
    let rows = sqlx::query_as!(
        Raw,
        "-- store::reservations::lock
        SELECT l.hotel_id, l.reservation_id, l.principal_id, l.hold_id, l.attempt_id, l.state, l.version, l.check_in,
               l.check_out, l.total, l.change_fees, l.currency, l.guest, l.document, l.created_at
        FROM (
            SELECT u.hotel_id, u.reservation_id
            FROM unnest($1::int[], $2::uuid[]) AS u (hotel_id, reservation_id)
            ORDER BY u.hotel_id, u.reservation_id
        ) AS w
        CROSS JOIN LATERAL (
            SELECT r.hotel_id, r.reservation_id, r.principal_id, r.hold_id, r.attempt_id, r.state, r.version,
                   r.check_in, r.check_out, r.total, r.change_fees, r.currency, r.guest, r.document, r.created_at
            FROM reservations r
            WHERE r.hotel_id = w.hotel_id
              AND r.reservation_id = w.reservation_id
            FOR NO KEY UPDATE
        ) AS l",
        &hotels,
        &reservations
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Moves reservations, each from its stated state and version and no other.
pub async fn shift(connection: &mut PgConnection, moves: &[ReservationMove]) -> Result<(), DbError> {
    if moves.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(moves.iter().map(|m| &m.id));
    sqlx::query!(
        "-- store::reservations::shift
        UPDATE reservations AS r
        SET state = u.to_state,
            version = u.to_version
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::int[], $6::int[])
            AS u (hotel_id, reservation_id, from_state, to_state, from_version, to_version)
        WHERE r.hotel_id = u.hotel_id
          AND r.reservation_id = u.reservation_id
          AND r.state = u.from_state
          AND r.version = u.from_version",
        &hotels,
        &ids,
        &moves.iter().map(|m| m.from.as_str().to_owned()).collect::<Vec<String>>(),
        &moves.iter().map(|m| m.to.as_str().to_owned()).collect::<Vec<String>>(),
        &moves.iter().map(|m| m.from_version).collect::<Vec<i32>>(),
        &moves.iter().map(|m| m.to_version).collect::<Vec<i32>>()
    )
    .execute(connection)
    .await?
    .exactly(moves.len(), "store::reservations::shift")
}

fn columns<'i>(ids: impl IntoIterator<Item = &'i ReservationId>) -> (Vec<i32>, Vec<Uuid>) {
    ids.into_iter().map(|id| (id.hotel().0, id.uuid())).unzip()
}

pub async fn find(
    connection: &mut PgConnection,
    id: ReservationId,
) -> Result<Option<ReservationRow>, DbError> {
    Ok(read(connection, [&id]).await?.pop())
}

pub async fn of_attempt(
    connection: &mut PgConnection,
    attempt: AttemptId,
) -> Result<Option<ReservationRow>, DbError> {
    let row = sqlx::query_as!(
        Raw,
        "-- store::reservations::of_attempt
        SELECT hotel_id, reservation_id, principal_id, hold_id, attempt_id, state, version, check_in, check_out, total,
               change_fees, currency, guest, document, created_at
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
               change_fees, currency, guest, document, created_at
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

/// Writes new reservations, with one row per unit.
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
        &rows().map(|r| r.hold.map(HoldId::uuid)).collect::<Vec<Option<Uuid>>>() as &[Option<Uuid>],
        &rows().map(|r| r.attempt.map(AttemptId::uuid)).collect::<Vec<Option<Uuid>>>() as &[Option<Uuid>],
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
    reservation_rooms::insert(connection, reservations).await
}
