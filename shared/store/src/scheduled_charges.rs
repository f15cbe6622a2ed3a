//! `scheduled_charges`: what a stay that is not prepaid costs, charge by charge. They change only under the lock
//! of their reservation.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, HotelId, PrincipalId, ReservationId},
    money::Money,
    schedule::{ChargeState, DueKind},
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::read::money;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChargeRow {
    pub reservation: ReservationId,
    /// Its place in the schedule, from 1.
    pub number: i16,
    pub kind: DueKind,
    pub amount: Money,
    pub due_at: Moment,
    pub state: ChargeState,
    /// That is paying it, or has paid it.
    pub attempt: Option<AttemptId>,
    pub tries: i16,
    /// From when on it is collected; `None` where nobody collects it.
    pub next_try_at: Option<Moment>,
    /// Of one that the desk has taken: what the desk has to give back.
    pub owed_back: Money,
}

impl ChargeRow {
    /// What the desk has taken by it.
    pub const fn is_taken_at_the_desk(&self) -> bool {
        matches!(self.state, ChargeState::Paid) && self.attempt.is_none()
    }

    /// Owed, and an attempt is under way.
    pub const fn is_in_flight(&self) -> bool {
        self.state.is_owed() && self.attempt.is_some()
    }
}

/// A charge as it is after a decision, and the state from which it comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChargeMove {
    pub from: ChargeState,
    pub to: ChargeRow,
}

struct Raw {
    hotel_id: i32,
    reservation_id: Uuid,
    number: i16,
    kind: String,
    amount: Decimal,
    currency: String,
    due_at: chrono::DateTime<chrono::Utc>,
    state: String,
    attempt_id: Option<Uuid>,
    tries: i16,
    next_try_at: Option<chrono::DateTime<chrono::Utc>>,
    owed_back: Decimal,
}

impl TryFrom<Raw> for ChargeRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let hotel = HotelId(r.hotel_id);
        Ok(Self {
            reservation: ReservationId::new(hotel, r.reservation_id),
            number: r.number,
            kind: DueKind::from_name(&r.kind)
                .ok_or_else(|| DbError::unreadable("kind of a charge", &r.kind))?,
            amount: money(r.amount, &r.currency)?,
            due_at: Moment(r.due_at),
            state: ChargeState::from_name(&r.state)
                .ok_or_else(|| DbError::unreadable("state of a charge", &r.state))?,
            attempt: r.attempt_id.map(|id| AttemptId::new(hotel, id)),
            tries: r.tries,
            next_try_at: r.next_try_at.map(Moment),
            owed_back: money(r.owed_back, &r.currency)?,
        })
    }
}

/// Of each of these reservations, first to last.
pub async fn read(
    connection: &mut PgConnection,
    reservations: &[ReservationId],
) -> Result<Vec<ChargeRow>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        "-- store::scheduled_charges::read
        SELECT c.hotel_id, c.reservation_id, c.number, c.kind, c.amount, c.currency, c.due_at, c.state, c.attempt_id,
               c.tries, c.next_try_at, c.owed_back
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, reservation_id)
        JOIN scheduled_charges c ON c.hotel_id = w.hotel_id AND c.reservation_id = w.reservation_id
        ORDER BY c.hotel_id, c.reservation_id, c.number",
        &reservations.iter().map(|id| id.hotel().0).collect::<Vec<i32>>(),
        &reservations.iter().map(|id| id.uuid()).collect::<Vec<Uuid>>()
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

struct Columns {
    hotels: Vec<i32>,
    reservations: Vec<Uuid>,
    numbers: Vec<i16>,
    kinds: Vec<String>,
    amounts: Vec<Decimal>,
    currencies: Vec<String>,
    dues: Vec<chrono::DateTime<chrono::Utc>>,
    states: Vec<String>,
    attempts: Vec<Option<Uuid>>,
    tries: Vec<i16>,
    next_tries: Vec<Option<chrono::DateTime<chrono::Utc>>>,
    owed_back: Vec<Decimal>,
}

impl Columns {
    fn of<'r>(rows: impl Iterator<Item = &'r ChargeRow> + Clone) -> Self {
        Self {
            hotels: rows.clone().map(|c| c.reservation.hotel().0).collect(),
            reservations: rows.clone().map(|c| c.reservation.uuid()).collect(),
            numbers: rows.clone().map(|c| c.number).collect(),
            kinds: rows.clone().map(|c| c.kind.as_str().to_owned()).collect(),
            amounts: rows.clone().map(|c| c.amount.amount()).collect(),
            currencies: rows.clone().map(|c| c.amount.currency().code().to_owned()).collect(),
            dues: rows.clone().map(|c| c.due_at.0).collect(),
            states: rows.clone().map(|c| c.state.as_str().to_owned()).collect(),
            attempts: rows.clone().map(|c| c.attempt.map(AttemptId::uuid)).collect(),
            tries: rows.clone().map(|c| c.tries).collect(),
            next_tries: rows.clone().map(|c| c.next_try_at.map(|at| at.0)).collect(),
            owed_back: rows.map(|c| c.owed_back.amount()).collect(),
        }
    }
}

pub async fn insert(connection: &mut PgConnection, charges: &[ChargeRow]) -> Result<(), DbError> {
    if charges.is_empty() {
        return Ok(());
    }
    let c = Columns::of(charges.iter());
    sqlx::query!(
        "-- store::scheduled_charges::insert
        INSERT INTO scheduled_charges (
            hotel_id, reservation_id, number, kind, amount, currency, due_at, state, attempt_id, tries, next_try_at,
            owed_back)
        SELECT u.hotel_id, u.reservation_id, u.number, u.kind, u.amount, u.currency, u.due_at, u.state, u.attempt_id,
               u.tries, u.next_try_at, u.owed_back
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::text[], $5::numeric[], $6::text[], $7::timestamptz[],
                    $8::text[], $9::uuid[], $10::smallint[], $11::timestamptz[], $12::numeric[])
            AS u (hotel_id, reservation_id, number, kind, amount, currency, due_at, state, attempt_id, tries,
                  next_try_at, owed_back)",
        &c.hotels,
        &c.reservations,
        &c.numbers,
        &c.kinds,
        &c.amounts,
        &c.currencies,
        &c.dues,
        &c.states,
        &c.attempts as &[Option<Uuid>],
        &c.tries,
        &c.next_tries as &[Option<chrono::DateTime<chrono::Utc>>],
        &c.owed_back
    )
    .execute(connection)
    .await?
    .exactly(charges.len(), "store::scheduled_charges::insert")
}

/// Moves charges, each from its stated state and no other.
pub async fn shift(connection: &mut PgConnection, moves: &[ChargeMove]) -> Result<(), DbError> {
    if moves.is_empty() {
        return Ok(());
    }
    let c = Columns::of(moves.iter().map(|moved| &moved.to));
    sqlx::query!(
        "-- store::scheduled_charges::shift
        UPDATE scheduled_charges AS c
        SET state = u.to_state,
            amount = u.amount,
            due_at = u.due_at,
            attempt_id = u.attempt_id,
            tries = u.tries,
            next_try_at = u.next_try_at,
            owed_back = u.owed_back
        FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::text[], $5::text[], $6::numeric[], $7::timestamptz[],
                    $8::uuid[], $9::smallint[], $10::timestamptz[], $11::numeric[])
            AS u (hotel_id, reservation_id, number, from_state, to_state, amount, due_at, attempt_id, tries,
                  next_try_at, owed_back)
        WHERE c.hotel_id = u.hotel_id
          AND c.reservation_id = u.reservation_id
          AND c.number = u.number
          AND c.state = u.from_state",
        &c.hotels,
        &c.reservations,
        &c.numbers,
        &moves.iter().map(|moved| moved.from.as_str().to_owned()).collect::<Vec<String>>(),
        &c.states,
        &c.amounts,
        &c.dues,
        &c.attempts as &[Option<Uuid>],
        &c.tries,
        &c.next_tries as &[Option<chrono::DateTime<chrono::Utc>>],
        &c.owed_back
    )
    .execute(connection)
    .await?
    .exactly(moves.len(), "store::scheduled_charges::shift")
}

/// A charge whose time has come, and the try that would be its next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueCharge {
    pub reservation: ReservationId,
    pub number: i16,
    /// Whose method pays.
    pub principal: PrincipalId,
    pub next_try: i16,
}

/// Charges to collect, put off until `until`, so that another collector passes them over meanwhile.
pub async fn take_due(
    connection: &mut PgConnection,
    now: Moment,
    until: Moment,
    limit: i64,
) -> Result<Vec<DueCharge>, DbError> {
    let rows = sqlx::query!(
        "-- store::scheduled_charges::take_due
        UPDATE scheduled_charges AS c
        SET next_try_at = $2
        FROM (
            SELECT d.hotel_id, d.reservation_id, d.number
            FROM scheduled_charges d
            WHERE d.next_try_at <= $1
            ORDER BY d.next_try_at
            LIMIT $3
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS due
        JOIN reservations r ON r.hotel_id = due.hotel_id AND r.reservation_id = due.reservation_id
        WHERE c.hotel_id = due.hotel_id
          AND c.reservation_id = due.reservation_id
          AND c.number = due.number
        RETURNING c.hotel_id, c.reservation_id, c.number, c.tries, r.principal_id",
        now.0,
        until.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    let due = |hotel, reservation, number, principal, tries: i16| DueCharge {
        reservation: ReservationId::new(hotel, reservation),
        number,
        principal: PrincipalId(principal),
        next_try: tries + 1,
    };
    Ok(rows
        .into_iter()
        .map(|r| due(HotelId(r.hotel_id), r.reservation_id, r.number, r.principal_id, r.tries))
        .collect())
}

/// Whether this attempt is paying a charge that is owed still.
pub async fn is_owed_by(connection: &mut PgConnection, attempt: AttemptId) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar!(
        r#"-- store::scheduled_charges::is_owed_by
        SELECT EXISTS (
            SELECT
            FROM scheduled_charges c
            WHERE c.hotel_id = $1
              AND c.attempt_id = $2
              AND c.state = 'DUE') AS "owed!""#,
        attempt.hotel().0,
        attempt.uuid()
    )
    .fetch_one(connection)
    .await?)
}

/// Charges that nobody tries to collect any more.
pub async fn count_given_up(connection: &mut PgConnection) -> Result<i64, DbError> {
    Ok(sqlx::query_scalar!(
        r#"-- store::scheduled_charges::count_given_up
        SELECT count(*) AS "count!"
        FROM scheduled_charges
        WHERE state = 'FAILED'
          AND next_try_at IS NULL"#
    )
    .fetch_one(connection)
    .await?)
}
