//! `refunds`: money on its way back, and `payment_history`, which only grows.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, HotelId, RefundId},
    money::Money,
    refund::RefundState,
};
use rust_decimal::Decimal;
use uuid::Uuid;

use crate::read::money;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefundRow {
    pub id: RefundId,
    pub attempt: AttemptId,
    /// Of its attempt, from 1.
    pub number: i32,
    /// Rises only after a definite failure.
    pub try_number: i32,
    pub state: RefundState,
    pub amount: Money,
    pub reason: String,
    pub requested_at: Moment,
}

macro_rules! refund {
    ($row:expr) => {
        RefundRow {
            id: RefundId::new(HotelId($row.hotel_id), $row.refund_id),
            attempt: AttemptId::new(HotelId($row.hotel_id), $row.attempt_id),
            number: $row.number,
            try_number: $row.try_number,
            state: RefundState::from_name(&$row.state)
                .ok_or_else(|| DbError::unreadable("refund state", &$row.state))?,
            amount: money($row.amount, &$row.currency)?,
            reason: $row.reason,
            requested_at: Moment($row.requested_at),
        }
    };
}

pub async fn insert(connection: &mut PgConnection, refunds: &[RefundRow]) -> Result<(), DbError> {
    if refunds.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "-- store::refunds::insert
        INSERT INTO refunds (
            hotel_id, refund_id, attempt_id, number, try, state, amount, currency, reason, requested_at, retry_at)
        SELECT u.hotel_id, u.refund_id, u.attempt_id, u.number, u.try, 'REQUESTED', u.amount, u.currency, u.reason,
               u.requested_at, u.requested_at
        FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[], $5::int[], $6::numeric[], $7::text[], $8::text[],
                    $9::timestamptz[])
            AS u (hotel_id, refund_id, attempt_id, number, try, amount, currency, reason, requested_at)",
        &refunds.iter().map(|r| r.id.hotel().0).collect::<Vec<i32>>(),
        &refunds.iter().map(|r| r.id.uuid()).collect::<Vec<Uuid>>(),
        &refunds.iter().map(|r| r.attempt.uuid()).collect::<Vec<Uuid>>(),
        &refunds.iter().map(|r| r.number).collect::<Vec<i32>>(),
        &refunds.iter().map(|r| r.try_number).collect::<Vec<i32>>(),
        &refunds.iter().map(|r| r.amount.amount()).collect::<Vec<Decimal>>(),
        &refunds.iter().map(|r| r.amount.currency().code().to_owned()).collect::<Vec<String>>(),
        &refunds.iter().map(|r| r.reason.clone()).collect::<Vec<String>>(),
        &refunds.iter().map(|r| r.requested_at.0).collect::<Vec<chrono::DateTime<chrono::Utc>>>()
    )
    .execute(connection)
    .await?
    .exactly(refunds.len(), "store::refunds::insert")
}

/// Of each attempt in the order of their numbers.
pub async fn of_attempts(
    connection: &mut PgConnection,
    attempts: impl IntoIterator<Item = &AttemptId>,
) -> Result<Vec<RefundRow>, DbError> {
    let (hotels, ids): (Vec<i32>, Vec<Uuid>) =
        attempts.into_iter().map(|id| (id.hotel().0, id.uuid())).unzip();
    let rows = sqlx::query!(
        "-- store::refunds::of_attempts
        SELECT r.hotel_id, r.refund_id, r.attempt_id, r.number, r.try AS try_number, r.state, r.amount, r.currency,
               r.reason, r.requested_at
        FROM unnest($1::int[], $2::uuid[]) AS w (hotel_id, attempt_id)
        JOIN refunds r ON r.hotel_id = w.hotel_id AND r.attempt_id = w.attempt_id
        ORDER BY r.hotel_id, r.attempt_id, r.number",
        &hotels,
        &ids
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok(refund!(row))).collect()
}

/// Takes refunds that are due to be sent, and puts their next turn off until `again_at`, so that other
/// senders pass them over. The reference is stable: a second send could not refund twice.
pub async fn take_due(
    connection: &mut PgConnection,
    now: Moment,
    again_at: Moment,
    limit: i64,
) -> Result<Vec<RefundRow>, DbError> {
    let rows = sqlx::query!(
        "-- store::refunds::take_due
        UPDATE refunds AS r
        SET retry_at = $2
        FROM (
            SELECT d.hotel_id, d.refund_id
            FROM refunds d
            WHERE d.state = 'REQUESTED'
              AND d.retry_at <= $1
            ORDER BY d.retry_at
            LIMIT $3
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS due
        WHERE r.hotel_id = due.hotel_id
          AND r.refund_id = due.refund_id
        RETURNING r.hotel_id, r.refund_id, r.attempt_id, r.number, r.try AS try_number, r.state, r.amount, r.currency,
                  r.reason, r.requested_at",
        now.0,
        again_at.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok(refund!(row))).collect()
}

/// `REQUESTED -> SUCCEEDED`; false when somebody else settled it before.
pub async fn succeed(connection: &mut PgConnection, id: RefundId, at: Moment) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::refunds::succeed
        UPDATE refunds
        SET state = 'SUCCEEDED',
            settled_at = $3
        WHERE hotel_id = $1
          AND refund_id = $2
          AND state = 'REQUESTED'",
        id.hotel().0,
        id.uuid(),
        at.0
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// After a definite failure: the next send carries a new reference. False when it was settled meanwhile.
pub async fn try_anew(
    connection: &mut PgConnection,
    id: RefundId,
    failed_try: i32,
    retry_at: Moment,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::refunds::try_anew
        UPDATE refunds
        SET try = try + 1,
            retry_at = $4
        WHERE hotel_id = $1
          AND refund_id = $2
          AND state = 'REQUESTED'
          AND try = $3",
        id.hotel().0,
        id.uuid(),
        failed_try,
        retry_at.0
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Asked as often as we do by ourselves. False when it was settled meanwhile.
pub async fn needs_attention(
    connection: &mut PgConnection,
    id: RefundId,
    failed_try: i32,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::refunds::needs_attention
        UPDATE refunds
        SET state = 'NEEDS_ATTENTION'
        WHERE hotel_id = $1
          AND refund_id = $2
          AND state = 'REQUESTED'
          AND try = $3",
        id.hotel().0,
        id.uuid(),
        failed_try
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// A movement of money that became known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Movement {
    pub attempt: AttemptId,
    pub kind: MovementKind,
    pub amount: Money,
    /// The provider's reference.
    pub reference: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovementKind {
    Captured,
    RefundRequested,
    RefundSucceeded,
    RefundFailed,
}

impl MovementKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Captured => "captured",
            Self::RefundRequested => "refund_requested",
            Self::RefundSucceeded => "refund_succeeded",
            Self::RefundFailed => "refund_failed",
        }
    }
}

/// In the order given.
pub async fn record(
    connection: &mut PgConnection,
    movements: &[Movement],
    at: Moment,
) -> Result<(), DbError> {
    if movements.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "-- store::refunds::record
        INSERT INTO payment_history (hotel_id, attempt_id, kind, amount, currency, reference, at)
        SELECT u.hotel_id, u.attempt_id, u.kind, u.amount, u.currency, u.reference, $7
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::numeric[], $5::text[], $6::text[])
            WITH ORDINALITY AS u (hotel_id, attempt_id, kind, amount, currency, reference, place)
        ORDER BY u.place",
        &movements.iter().map(|m| m.attempt.hotel().0).collect::<Vec<i32>>(),
        &movements.iter().map(|m| m.attempt.uuid()).collect::<Vec<Uuid>>(),
        &movements.iter().map(|m| m.kind.as_str().to_owned()).collect::<Vec<String>>(),
        &movements.iter().map(|m| m.amount.amount()).collect::<Vec<Decimal>>(),
        &movements.iter().map(|m| m.amount.currency().code().to_owned()).collect::<Vec<String>>(),
        &movements.iter().map(|m| m.reference.clone()).collect::<Vec<String>>(),
        at.0
    )
    .execute(connection)
    .await?
    .exactly(movements.len(), "store::refunds::record")
}
