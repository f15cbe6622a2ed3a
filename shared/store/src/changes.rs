//! `reservation_changes`: priced changes of stays, and how far they have come.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    change::ChangeState,
    clock::Moment,
    ids::{AttemptId, ChangeId, HoldId, HotelId, PrincipalId, QuoteId, ReservationId},
    money::Money,
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::read::{document, json, money};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangeRow {
    pub id: ChangeId,
    pub reservation: ReservationId,
    /// Who priced it.
    pub principal: PrincipalId,
    /// The stay as it will be.
    pub quote: QuoteId,
    /// Of the reservation that was priced.
    pub base_version: i32,
    pub state: ChangeState,
    /// New total less old total; below zero it goes back.
    pub difference: Money,
    pub penalty: Money,
    /// Of the penalty, what is due for nights that go from rooms that stay.
    pub fees: Money,
    /// Rooms that go, each with its penalty.
    pub removed: Vec<(i16, Money)>,
    /// What is paid before the stay changes.
    pub charge: Money,
    pub total: Money,
    pub created_at: Moment,
    pub expires_at: Moment,
    /// Of the last try to pay the charge.
    pub hold: Option<HoldId>,
    pub attempt: Option<AttemptId>,
    /// The version that it made.
    pub to_version: Option<i32>,
}

/// A guarded move of a change's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangeMove {
    pub id: ChangeId,
    pub from: ChangeState,
    pub to: ChangeState,
    pub hold: Option<HoldId>,
    pub attempt: Option<AttemptId>,
    pub to_version: Option<i32>,
}

impl ChangeRow {
    /// To `to`, with everything else as it is.
    pub const fn moved(&self, to: ChangeState) -> ChangeMove {
        ChangeMove {
            id: self.id,
            from: self.state,
            to,
            hold: self.hold,
            attempt: self.attempt,
            to_version: self.to_version,
        }
    }
}

struct Raw {
    hotel_id: i32,
    change_id: Uuid,
    reservation_id: Uuid,
    principal_id: Uuid,
    quote_id: Uuid,
    base_version: i32,
    state: String,
    difference: Decimal,
    penalty: Decimal,
    fees: Decimal,
    removed: serde_json::Value,
    charge: Decimal,
    total: Decimal,
    currency: String,
    created_at: chrono::DateTime<chrono::Utc>,
    expires_at: chrono::DateTime<chrono::Utc>,
    hold_id: Option<Uuid>,
    attempt_id: Option<Uuid>,
    to_version: Option<i32>,
}

impl TryFrom<Raw> for ChangeRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let hotel = HotelId(r.hotel_id);
        Ok(Self {
            id: ChangeId::new(hotel, r.change_id),
            reservation: ReservationId::new(hotel, r.reservation_id),
            principal: PrincipalId(r.principal_id),
            quote: QuoteId::new(hotel, r.quote_id),
            base_version: r.base_version,
            state: ChangeState::from_name(&r.state)
                .ok_or_else(|| DbError::unreadable("state of a change", &r.state))?,
            difference: money(r.difference, &r.currency)?,
            penalty: money(r.penalty, &r.currency)?,
            fees: money(r.fees, &r.currency)?,
            removed: document("removed rooms", r.removed)?,
            charge: money(r.charge, &r.currency)?,
            total: money(r.total, &r.currency)?,
            created_at: Moment(r.created_at),
            expires_at: Moment(r.expires_at),
            hold: r.hold_id.map(|id| HoldId::new(hotel, id)),
            attempt: r.attempt_id.map(|id| AttemptId::new(hotel, id)),
            to_version: r.to_version,
        })
    }
}

fn columns<'i>(ids: impl IntoIterator<Item = &'i ChangeId>) -> (Vec<i32>, Vec<Uuid>) {
    ids.into_iter().map(|id| (id.hotel().0, id.uuid())).unzip()
}

/// A priced change.
pub async fn insert(connection: &mut PgConnection, change: &ChangeRow) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::changes::insert
        INSERT INTO reservation_changes (
            hotel_id, change_id, reservation_id, principal_id, quote_id, base_version, state, difference, penalty,
            charge, total, currency, created_at, expires_at, fees, removed)
        VALUES ($1, $2, $3, $4, $5, $6, 'PRICED', $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        change.id.hotel().0,
        change.id.uuid(),
        change.reservation.uuid(),
        change.principal.0,
        change.quote.uuid(),
        change.base_version,
        change.difference.amount(),
        change.penalty.amount(),
        change.charge.amount(),
        change.total.amount(),
        change.total.currency().code(),
        change.created_at.0,
        change.expires_at.0,
        change.fees.amount(),
        json("removed rooms", &change.removed)?
    )
    .execute(connection)
    .await?
    .exactly(1, "store::changes::insert")
}

/// Those that exist, in no order.
pub async fn read(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &ChangeId>,
) -> Result<Vec<ChangeRow>, DbError> {
    let (hotels, changes) = columns(ids);
    let rows = sqlx::query_as!(
        Raw,
        "-- store::changes::read
        SELECT c.hotel_id, c.change_id, c.reservation_id, c.principal_id, c.quote_id, c.base_version, c.state,
               c.difference, c.penalty, c.fees, c.removed, c.charge, c.total, c.currency, c.created_at, c.expires_at, c.hold_id,
               c.attempt_id, c.to_version
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, change_id)
        JOIN reservation_changes c ON c.hotel_id = w.hotel_id AND c.change_id = w.change_id",
        &hotels,
        &changes
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Waits for each change's lock in the order of their ids, after the locks of their reservations.
pub async fn lock(
    connection: &mut PgConnection,
    ids: impl IntoIterator<Item = &ChangeId>,
) -> Result<Vec<ChangeRow>, DbError> {
    let (hotels, changes) = columns(ids);
    let rows = sqlx::query_as!(
        Raw,
        "-- store::changes::lock
        SELECT l.hotel_id, l.change_id, l.reservation_id, l.principal_id, l.quote_id, l.base_version, l.state,
               l.difference, l.penalty, l.fees, l.removed, l.charge, l.total, l.currency, l.created_at, l.expires_at, l.hold_id,
               l.attempt_id, l.to_version
        FROM (
            SELECT u.hotel_id, u.change_id
            FROM unnest($1::int[], $2::uuid[]) AS u (hotel_id, change_id)
            ORDER BY u.hotel_id, u.change_id
        ) AS w
        CROSS JOIN LATERAL (
            SELECT c.hotel_id, c.change_id, c.reservation_id, c.principal_id, c.quote_id, c.base_version, c.state,
                   c.difference, c.penalty, c.fees, c.removed, c.charge, c.total, c.currency, c.created_at, c.expires_at, c.hold_id,
                   c.attempt_id, c.to_version
            FROM reservation_changes c
            WHERE c.hotel_id = w.hotel_id
              AND c.change_id = w.change_id
            FOR NO KEY UPDATE
        ) AS l",
        &hotels,
        &changes
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// The change of each reservation that is STARTED, where there is one.
pub async fn started(
    connection: &mut PgConnection,
    reservations: &[ReservationId],
) -> Result<Vec<(ReservationId, ChangeId)>, DbError> {
    let rows = sqlx::query!(
        "-- store::changes::started
        SELECT c.hotel_id, c.reservation_id, c.change_id
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, reservation_id)
        JOIN reservation_changes c
          ON c.hotel_id = w.hotel_id
         AND c.reservation_id = w.reservation_id
         AND c.state = 'STARTED'",
        &reservations.iter().map(|id| id.hotel().0).collect::<Vec<i32>>(),
        &reservations.iter().map(|id| id.uuid()).collect::<Vec<Uuid>>()
    )
    .fetch_all(connection)
    .await?;
    let pair =
        |hotel, reservation, change| (ReservationId::new(hotel, reservation), ChangeId::new(hotel, change));
    Ok(rows.into_iter().map(|r| pair(HotelId(r.hotel_id), r.reservation_id, r.change_id)).collect())
}

/// Moves changes, each from its stated state and no other.
pub async fn shift(connection: &mut PgConnection, moves: &[ChangeMove]) -> Result<(), DbError> {
    if moves.is_empty() {
        return Ok(());
    }
    let (hotels, ids) = columns(moves.iter().map(|m| &m.id));
    sqlx::query!(
        "-- store::changes::shift
        UPDATE reservation_changes AS c
        SET state = u.to_state,
            hold_id = u.hold_id,
            attempt_id = u.attempt_id,
            to_version = u.to_version
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::int[])
            AS u (hotel_id, change_id, from_state, to_state, hold_id, attempt_id, to_version)
        WHERE c.hotel_id = u.hotel_id
          AND c.change_id = u.change_id
          AND c.state = u.from_state",
        &hotels,
        &ids,
        &moves.iter().map(|m| m.from.as_str().to_owned()).collect::<Vec<String>>(),
        &moves.iter().map(|m| m.to.as_str().to_owned()).collect::<Vec<String>>(),
        &moves.iter().map(|m| m.hold.map(HoldId::uuid)).collect::<Vec<Option<Uuid>>>() as &[Option<Uuid>],
        &moves.iter().map(|m| m.attempt.map(AttemptId::uuid)).collect::<Vec<Option<Uuid>>>()
            as &[Option<Uuid>],
        &moves.iter().map(|m| m.to_version).collect::<Vec<Option<i32>>>() as &[Option<i32>]
    )
    .execute(connection)
    .await?
    .exactly(moves.len(), "store::changes::shift")
}
