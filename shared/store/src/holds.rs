//! `holds` and `hold_nights`.

use chrono::NaiveDate;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    hold::HoldState,
    ids::{AttemptId, ChangeId, HoldId, HotelId, PrincipalId, QuoteId, RatePlanId, RoomTypeId},
    money::Money,
    stay::Stay,
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::read::{money, stay};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoldRow {
    pub id: HoldId,
    pub principal: PrincipalId,
    pub quote: QuoteId,
    /// That it belongs to: only that change's attempt may spend it, and no guest ends it.
    pub change: Option<ChangeId>,
    pub state: HoldState,
    pub stay: Stay,
    pub total: Money,
    pub created_at: Moment,
    pub expires_at: Moment,
    pub deferred_until: Option<Moment>,
    pub drifted: bool,
}

impl HoldRow {
    /// Placed by this guest, and not by a change of their stay.
    pub fn is_of_guest(&self, principal: PrincipalId) -> bool {
        self.principal == principal && self.change.is_none()
    }
}

/// One room on one night: one unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnitNight {
    /// The room's place in the quote, from 1.
    pub room: i16,
    pub date: NaiveDate,
    pub room_type: RoomTypeId,
    pub rate_plan: RatePlanId,
    pub amount: Money,
    pub price_version: i32,
}

macro_rules! hold {
    ($row:expr) => {
        HoldRow {
            id: HoldId::new(HotelId($row.hotel_id), $row.hold_id),
            principal: PrincipalId($row.principal_id),
            quote: QuoteId::new(HotelId($row.hotel_id), $row.quote_id),
            change: $row.change_id.map(|id| ChangeId::new(HotelId($row.hotel_id), id)),
            state: HoldState::from_name(&$row.state)
                .ok_or_else(|| DbError::unreadable("hold state", &$row.state))?,
            stay: stay($row.check_in, $row.check_out)?,
            total: money($row.total, &$row.currency)?,
            created_at: Moment($row.created_at),
            expires_at: Moment($row.expires_at),
            deferred_until: $row.deferred_until.map(Moment),
            drifted: $row.drift_at.is_some(),
        }
    };
}

fn columns<'i>(ids: impl IntoIterator<Item = &'i HoldId>) -> (Vec<i32>, Vec<Uuid>) {
    ids.into_iter().map(|id| (id.hotel().0, id.uuid())).unzip()
}

pub async fn read(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &HoldId>,
) -> Result<Vec<HoldRow>, DbError> {
    let (hotels, holds) = columns(ids);
    let rows = sqlx::query!(
        "-- store::holds::read
        SELECT h.hotel_id, h.hold_id, h.principal_id, h.quote_id, h.change_id, h.state, h.check_in, h.check_out,
               h.total, h.currency, h.created_at, h.expires_at, h.deferred_until, h.drift_at
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, hold_id)
        JOIN holds h ON h.hotel_id = w.hotel_id AND h.hold_id = w.hold_id",
        &hotels,
        &holds
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok(hold!(row))).collect()
}

/// Waits for each hold's lock in the order of their ids, and reads it as it is then.
pub async fn lock(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &HoldId>,
) -> Result<Vec<HoldRow>, DbError> {
    let (hotels, holds) = columns(ids);
    let rows = sqlx::query!(
        "-- store::holds::lock
        SELECT l.hotel_id, l.hold_id, l.principal_id, l.quote_id, l.change_id, l.state, l.check_in, l.check_out,
               l.total, l.currency, l.created_at, l.expires_at, l.deferred_until, l.drift_at
        FROM (
            SELECT u.hotel_id, u.hold_id
            FROM unnest($1::int[], $2::uuid[]) AS u (hotel_id, hold_id)
            ORDER BY u.hotel_id, u.hold_id
        ) AS w
        CROSS JOIN LATERAL (
            SELECT h.hotel_id, h.hold_id, h.principal_id, h.quote_id, h.change_id, h.state, h.check_in, h.check_out,
                   h.total, h.currency, h.created_at, h.expires_at, h.deferred_until, h.drift_at
            FROM holds h
            WHERE h.hotel_id = w.hotel_id
              AND h.hold_id = w.hold_id
            FOR NO KEY UPDATE
        ) AS l",
        &hotels,
        &holds
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok(hold!(row))).collect()
}

/// As [`lock`], but passes over holds that somebody else has: they are being confirmed or released.
pub async fn lock_free(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &HoldId>,
) -> Result<Vec<HoldRow>, DbError> {
    let (hotels, holds) = columns(ids);
    let rows = sqlx::query!(
        "-- store::holds::lock_free
        SELECT l.hotel_id, l.hold_id, l.principal_id, l.quote_id, l.change_id, l.state, l.check_in, l.check_out,
               l.total, l.currency, l.created_at, l.expires_at, l.deferred_until, l.drift_at
        FROM (
            SELECT u.hotel_id, u.hold_id
            FROM unnest($1::int[], $2::uuid[]) AS u (hotel_id, hold_id)
            ORDER BY u.hotel_id, u.hold_id
        ) AS w
        CROSS JOIN LATERAL (
            SELECT h.hotel_id, h.hold_id, h.principal_id, h.quote_id, h.change_id, h.state, h.check_in, h.check_out,
                   h.total, h.currency, h.created_at, h.expires_at, h.deferred_until, h.drift_at
            FROM holds h
            WHERE h.hotel_id = w.hotel_id
              AND h.hold_id = w.hold_id
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS l",
        &hotels,
        &holds
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok(hold!(row))).collect()
}

/// The units of holds. They never change once written.
pub async fn units(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &HoldId>,
) -> Result<Vec<(HoldId, UnitNight)>, DbError> {
    let (hotels, holds) = columns(ids);
    let rows = sqlx::query!(
        "-- store::holds::units
        SELECT n.hotel_id, n.hold_id, n.room, n.stay_date, n.room_type_id, n.rate_plan_id, n.amount,
               n.price_version, h.currency
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, hold_id)
        JOIN holds h ON h.hotel_id = w.hotel_id AND h.hold_id = w.hold_id
        JOIN hold_nights n ON n.hotel_id = w.hotel_id AND n.hold_id = w.hold_id
        ORDER BY n.hotel_id, n.hold_id, n.room, n.stay_date",
        &hotels,
        &holds
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
            Ok((HoldId::new(HotelId(row.hotel_id), row.hold_id), unit))
        })
        .collect()
}

/// The open attempt of each hold that has one; stable only under the holds' locks. One at most, and the
/// limit says so to the planner, which else reads all open attempts there are.
pub async fn open_attempts(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &HoldId>,
) -> Result<Vec<(HoldId, AttemptId)>, DbError> {
    let (hotels, holds) = columns(ids);
    let rows = sqlx::query!(
        r#"-- store::holds::open_attempts
        SELECT a.hotel_id, a.hold_id AS "hold_id!", a.attempt_id
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, hold_id)
        CROSS JOIN LATERAL (
            SELECT p.hotel_id, p.hold_id, p.attempt_id
            FROM payment_attempts p
            WHERE p.hotel_id = w.hotel_id
              AND p.hold_id = w.hold_id
              AND p.state IN ('PENDING_PAYMENT', 'RECONCILING')
            LIMIT 1
        ) AS a"#,
        &hotels,
        &holds
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|r| {
            let hotel = HotelId(r.hotel_id);
            (HoldId::new(hotel, r.hold_id), AttemptId::new(hotel, r.attempt_id))
        })
        .collect())
}

pub async fn insert(
    connection: &mut PgConnection,
    holds: &[(HoldRow, Vec<UnitNight>)],
) -> Result<(), DbError> {
    if holds.is_empty() {
        return Ok(());
    }
    let rows = || holds.iter().map(|(row, _)| row);
    sqlx::query!(
        "-- store::holds::insert
        INSERT INTO holds (
            hotel_id, hold_id, principal_id, quote_id, change_id, state, check_in, check_out, total, currency, created_at,
            expires_at, deferred_until, closed_at)
        SELECT u.hotel_id, u.hold_id, u.principal_id, u.quote_id, u.change_id, u.state, u.check_in, u.check_out,
               u.total, u.currency, u.created_at, u.expires_at, u.deferred_until,
               CASE WHEN u.state = 'ACTIVE' THEN NULL ELSE u.created_at END
        FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::date[], $6::date[], $7::numeric[], $8::text[],
                    $9::timestamptz[], $10::timestamptz[], $11::text[], $12::uuid[], $13::timestamptz[])
            AS u (hotel_id, hold_id, principal_id, quote_id, check_in, check_out, total, currency, created_at,
                  expires_at, state, change_id, deferred_until)",
        &rows().map(|h| h.id.hotel().0).collect::<Vec<i32>>(),
        &rows().map(|h| h.id.uuid()).collect::<Vec<Uuid>>(),
        &rows().map(|h| h.principal.0).collect::<Vec<Uuid>>(),
        &rows().map(|h| h.quote.uuid()).collect::<Vec<Uuid>>(),
        &rows().map(|h| h.stay.check_in()).collect::<Vec<NaiveDate>>(),
        &rows().map(|h| h.stay.check_out()).collect::<Vec<NaiveDate>>(),
        &rows().map(|h| h.total.amount()).collect::<Vec<Decimal>>(),
        &rows().map(|h| h.total.currency().code().to_owned()).collect::<Vec<String>>(),
        &rows().map(|h| h.created_at.0).collect::<Vec<_>>(),
        &rows().map(|h| h.expires_at.0).collect::<Vec<_>>(),
        &rows().map(|h| h.state.as_str().to_owned()).collect::<Vec<String>>(),
        &rows().map(|h| h.change.map(ChangeId::uuid)).collect::<Vec<Option<Uuid>>>() as &[Option<Uuid>],
        &rows().map(|h| h.deferred_until.map(|until| until.0)).collect::<Vec<_>>()
            as &[Option<chrono::DateTime<chrono::Utc>>]
    )
    .execute(&mut *connection)
    .await?
    .exactly(holds.len(), "store::holds::insert")?;
    insert_units(connection, holds).await
}

async fn insert_units(
    connection: &mut PgConnection,
    holds: &[(HoldRow, Vec<UnitNight>)],
) -> Result<(), DbError> {
    let units: Vec<(HoldId, &UnitNight)> =
        holds.iter().flat_map(|(hold, units)| units.iter().map(|unit| (hold.id, unit))).collect();
    sqlx::query!(
        "-- store::holds::insert_units
        INSERT INTO hold_nights (hotel_id, hold_id, room, stay_date, room_type_id, rate_plan_id, amount, price_version)
        SELECT u.hotel_id, u.hold_id, u.room, u.stay_date, u.room_type_id, u.rate_plan_id, u.amount, u.price_version
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::date[], $5::int[], $6::int[], $7::numeric[], $8::int[])
            AS u (hotel_id, hold_id, room, stay_date, room_type_id, rate_plan_id, amount, price_version)",
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
    .exactly(units.len(), "store::holds::insert_units")
}

/// `ACTIVE -> CONSUMED | EXPIRED | RELEASED`; the fence: a hold that is no longer ACTIVE is an error here,
/// since the caller decided under its lock.
pub async fn close(
    connection: &mut PgConnection,
    holds: &[(HoldId, HoldState)],
    at: Moment,
) -> Result<(), DbError> {
    if holds.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(holds.iter().map(|(id, _)| id));
    let states: Vec<String> = holds.iter().map(|(_, to)| to.as_str().to_owned()).collect();
    sqlx::query!(
        "-- store::holds::close
        UPDATE holds AS h
        SET state = u.state,
            closed_at = $4,
            deferred_until = NULL
        FROM unnest($1::int[], $2::uuid[], $3::text[]) AS u (hotel_id, hold_id, state)
        WHERE h.hotel_id = u.hotel_id
          AND h.hold_id = u.hold_id
          AND h.state = 'ACTIVE'",
        &hotels,
        &ids,
        &states,
        at.0
    )
    .execute(connection)
    .await?
    .exactly(holds.len(), "store::holds::close")
}

/// Sets or ends the deferral of ACTIVE holds.
pub async fn defer(connection: &mut PgConnection, holds: &[(HoldId, Option<Moment>)]) -> Result<(), DbError> {
    if holds.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(holds.iter().map(|(id, _)| id));
    let until: Vec<Option<_>> = holds.iter().map(|(_, until)| until.map(|m| m.0)).collect();
    sqlx::query!(
        "-- store::holds::defer
        UPDATE holds AS h
        SET deferred_until = u.until
        FROM unnest($1::int[], $2::uuid[], $3::timestamptz[]) AS u (hotel_id, hold_id, until)
        WHERE h.hotel_id = u.hotel_id
          AND h.hold_id = u.hold_id
          AND h.state = 'ACTIVE'",
        &hotels,
        &ids,
        &until as &[Option<chrono::DateTime<chrono::Utc>>]
    )
    .execute(connection)
    .await?
    .exactly(holds.len(), "store::holds::defer")
}

/// The counters did not carry these holds: the expiry passes them over until they are repaired.
pub async fn mark_drift(connection: &mut PgConnection, holds: &[HoldId], at: Moment) -> Result<(), DbError> {
    if holds.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(holds);
    sqlx::query!(
        "-- store::holds::mark_drift
        UPDATE holds AS h
        SET drift_at = $3
        FROM unnest($1::int[], $2::uuid[]) AS u (hotel_id, hold_id)
        WHERE h.hotel_id = u.hotel_id
          AND h.hold_id = u.hold_id
          AND h.state = 'ACTIVE'",
        &hotels,
        &ids,
        at.0
    )
    .execute(connection)
    .await?
    .exactly(holds.len(), "store::holds::mark_drift")
}

/// Candidates for the expiry: due by now, not deferred, not drifted; oldest first. Read without a lock.
pub async fn due(connection: &mut PgConnection, now: Moment, limit: i64) -> Result<Vec<HoldId>, DbError> {
    let rows = sqlx::query!(
        "-- store::holds::due
        SELECT hotel_id, hold_id
        FROM holds
        WHERE state = 'ACTIVE'
          AND drift_at IS NULL
          AND expires_at < $1
          AND (deferred_until IS NULL OR deferred_until < $1)
        ORDER BY expires_at
        LIMIT $2",
        now.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|r| HoldId::new(HotelId(r.hotel_id), r.hold_id)).collect())
}

/// The expiry's signal: the oldest end among ACTIVE holds that nothing defers.
pub async fn oldest_due(connection: &mut PgConnection, now: Moment) -> Result<Option<Moment>, DbError> {
    let oldest = sqlx::query_scalar!(
        "-- store::holds::oldest_due
        SELECT min(expires_at)
        FROM holds
        WHERE state = 'ACTIVE'
          AND drift_at IS NULL
          AND expires_at < $1
          AND (deferred_until IS NULL OR deferred_until < $1)",
        now.0
    )
    .fetch_one(connection)
    .await?;
    Ok(oldest.map(Moment))
}
