//! `refunds`: money on its way back. A refund's state and try change under the lock of its attempt.

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

/// As it stands at the provider too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownRefund {
    pub row: RefundRow,
    pub provider_id: Option<String>,
    /// Made at the provider and not by us.
    pub by_hand: bool,
}

/// All of an attempt, by their numbers, under the attempt's lock.
pub async fn lock_of_attempt(
    connection: &mut PgConnection,
    attempt: AttemptId,
) -> Result<Vec<KnownRefund>, DbError> {
    let rows = sqlx::query!(
        "-- store::refunds::lock_of_attempt
        SELECT hotel_id, refund_id, attempt_id, number, try AS try_number, state, amount, currency, reason, requested_at,
               provider_id, by_hand
        FROM refunds
        WHERE hotel_id = $1
          AND attempt_id = $2
        ORDER BY refund_id
        FOR NO KEY UPDATE",
        attempt.hotel().0,
        attempt.uuid()
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let (provider_id, by_hand) = (row.provider_id.clone(), row.by_hand);
            Ok(KnownRefund { row: refund!(row), provider_id, by_hand })
        })
        .collect()
}

/// `REQUESTED` or `NEEDS_ATTENTION -> SUCCEEDED`; false when somebody else settled it before.
pub async fn succeed(
    connection: &mut PgConnection,
    id: RefundId,
    provider_id: Option<&str>,
    at: Moment,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::refunds::succeed
        UPDATE refunds
        SET state = 'SUCCEEDED',
            settled_at = $3,
            provider_id = coalesce(provider_id, $4)
        WHERE hotel_id = $1
          AND refund_id = $2
          AND state IN ('REQUESTED', 'NEEDS_ATTENTION')",
        id.hotel().0,
        id.uuid(),
        at.0,
        provider_id
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// The provider's id of a refund that had none. False where it has one.
pub async fn name(connection: &mut PgConnection, id: RefundId, provider_id: &str) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::refunds::name
        UPDATE refunds
        SET provider_id = $3
        WHERE hotel_id = $1
          AND refund_id = $2
          AND provider_id IS NULL",
        id.hotel().0,
        id.uuid(),
        provider_id
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// `SUCCEEDED ->` another state, with the try that comes next.
pub async fn undo(
    connection: &mut PgConnection,
    id: RefundId,
    to: RefundState,
    next_try: i32,
    retry_at: Moment,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::refunds::undo
        UPDATE refunds
        SET state = $3,
            try = $4,
            retry_at = $5,
            settled_at = NULL,
            provider_id = NULL
        WHERE hotel_id = $1
          AND refund_id = $2
          AND state = 'SUCCEEDED'",
        id.hotel().0,
        id.uuid(),
        to.as_str(),
        next_try,
        retry_at.0
    )
    .execute(connection)
    .await?
    .exactly(1, "store::refunds::undo")
}

/// `REQUESTED` or `NEEDS_ATTENTION -> NEEDS_ATTENTION`, with the try that would come next.
pub async fn park(connection: &mut PgConnection, id: RefundId, next_try: i32) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::refunds::park
        UPDATE refunds
        SET state = 'NEEDS_ATTENTION',
            try = $3
        WHERE hotel_id = $1
          AND refund_id = $2
          AND state IN ('REQUESTED', 'NEEDS_ATTENTION')",
        id.hotel().0,
        id.uuid(),
        next_try
    )
    .execute(connection)
    .await?
    .exactly(1, "store::refunds::park")
}

/// `NEEDS_ATTENTION -> REQUESTED`, to be sent at once.
pub async fn request_again(
    connection: &mut PgConnection,
    id: RefundId,
    next_try: i32,
    now: Moment,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::refunds::request_again
        UPDATE refunds
        SET state = 'REQUESTED',
            try = $3,
            retry_at = $4
        WHERE hotel_id = $1
          AND refund_id = $2
          AND state = 'NEEDS_ATTENTION'",
        id.hotel().0,
        id.uuid(),
        next_try,
        now.0
    )
    .execute(connection)
    .await?
    .exactly(1, "store::refunds::request_again")
}

/// A refund that was made at the provider, as it became known.
pub async fn insert_by_hand(
    connection: &mut PgConnection,
    refund: &RefundRow,
    provider_id: &str,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::refunds::insert_by_hand
        INSERT INTO refunds (
            hotel_id, refund_id, attempt_id, number, try, state, amount, currency, reason, requested_at, retry_at,
            settled_at, provider_id, by_hand)
        VALUES ($1, $2, $3, $4, $5, 'SUCCEEDED', $6, $7, $8, $9, $9, $9, $10, true)",
        refund.id.hotel().0,
        refund.id.uuid(),
        refund.attempt.uuid(),
        refund.number,
        refund.try_number,
        refund.amount.amount(),
        refund.amount.currency().code(),
        refund.reason,
        refund.requested_at.0,
        provider_id
    )
    .execute(connection)
    .await?
    .exactly(1, "store::refunds::insert_by_hand")
}

/// The attempt that a refund is of.
pub async fn attempt_of(connection: &mut PgConnection, id: RefundId) -> Result<Option<AttemptId>, DbError> {
    let attempt = sqlx::query_scalar!(
        "-- store::refunds::attempt_of
        SELECT attempt_id
        FROM refunds
        WHERE hotel_id = $1
          AND refund_id = $2",
        id.hotel().0,
        id.uuid()
    )
    .fetch_optional(connection)
    .await?;
    Ok(attempt.map(|attempt| AttemptId::new(id.hotel(), attempt)))
}

/// Those that an operator must look at, oldest first, after a place in that order.
pub async fn needing_attention(
    connection: &mut PgConnection,
    after: Option<RefundId>,
    limit: i64,
) -> Result<Vec<RefundRow>, DbError> {
    let rows = sqlx::query!(
        "-- store::refunds::needing_attention
        SELECT hotel_id, refund_id, attempt_id, number, try AS try_number, state, amount, currency, reason, requested_at
        FROM refunds
        WHERE state = 'NEEDS_ATTENTION'
          AND (refund_id, hotel_id) > ($1, $2)
        ORDER BY refund_id, hotel_id
        LIMIT $3",
        after.map_or(Uuid::nil(), RefundId::uuid),
        after.map_or(0, |id| id.hotel().0),
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok(refund!(row))).collect()
}

pub async fn count_needing_attention(connection: &mut PgConnection) -> Result<i64, DbError> {
    Ok(sqlx::query_scalar!(
        r#"-- store::refunds::count_needing_attention
        SELECT count(*) AS "count!"
        FROM refunds
        WHERE state = 'NEEDS_ATTENTION'"#
    )
    .fetch_one(connection)
    .await?)
}
