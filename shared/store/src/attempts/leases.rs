//! Whose case an attempt is, while nobody knows how it ended.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, HoldId, HotelId},
};
use uuid::Uuid;

/// A case that this resolver owns until its lease ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeasedCase {
    pub id: AttemptId,
    pub hold: Option<HoldId>,
    /// It was PENDING_PAYMENT until now.
    pub is_new: bool,
}

/// Attempts whose outcome nobody knows, taken by this resolver: PENDING_PAYMENT past their deadline, and
/// RECONCILING ones that nobody has leased. One resolver owns a case until its lease ends.
pub async fn lease_unknown(
    connection: &mut PgConnection,
    lease: Uuid,
    now: Moment,
    until: Moment,
    limit: i64,
) -> Result<Vec<LeasedCase>, DbError> {
    let rows = sqlx::query!(
        r#"-- store::attempts::lease_unknown
        UPDATE payment_attempts AS a
        SET state = 'RECONCILING',
            lease_id = $1,
            leased_until = $3
        FROM (
            SELECT p.hotel_id, p.attempt_id, p.state = 'PENDING_PAYMENT' AS is_new
            FROM payment_attempts p
            WHERE (p.state = 'PENDING_PAYMENT' AND p.deadline_at < $2)
               OR (p.state = 'RECONCILING' AND (p.leased_until IS NULL OR p.leased_until < $2))
            ORDER BY p.deadline_at
            LIMIT $4
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS due
        WHERE a.hotel_id = due.hotel_id
          AND a.attempt_id = due.attempt_id
        RETURNING a.hotel_id, a.attempt_id, a.hold_id, due.is_new AS "is_new!""#,
        lease,
        now.0,
        until.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    let case = |hotel, attempt, hold: Option<Uuid>, is_new| LeasedCase {
        id: AttemptId::new(hotel, attempt),
        hold: hold.map(|id| HoldId::new(hotel, id)),
        is_new,
    };
    Ok(rows.into_iter().map(|r| case(HotelId(r.hotel_id), r.attempt_id, r.hold_id, r.is_new)).collect())
}

/// Takes one case that nobody has leased; false where there is none, or somebody has it.
pub async fn lease_one(
    connection: &mut PgConnection,
    id: AttemptId,
    lease: Uuid,
    now: Moment,
    until: Moment,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::attempts::lease_one
        UPDATE payment_attempts
        SET lease_id = $3,
            leased_until = $5
        WHERE hotel_id = $1
          AND attempt_id = $2
          AND state = 'RECONCILING'
          AND (leased_until IS NULL OR leased_until < $4)",
        id.hotel().0,
        id.uuid(),
        lease,
        now.0,
        until.0
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Open attempts: how many there are.
pub async fn open_count(connection: &mut PgConnection) -> Result<i64, DbError> {
    Ok(sqlx::query_scalar!(
        r#"-- store::attempts::open_count
        SELECT count(*) AS "count!"
        FROM payment_attempts
        WHERE state = 'RECONCILING'"#
    )
    .fetch_one(connection)
    .await?)
}
