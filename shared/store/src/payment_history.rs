//! `payment_history`: every movement of money that became known. It only grows.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{clock::Moment, ids::AttemptId, money::Money};
use rust_decimal::Decimal;
use uuid::Uuid;

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
        "-- store::payment_history::record
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
    .exactly(movements.len(), "store::payment_history::record")
}

/// Whether it is known that this very try of a refund has failed.
pub async fn has_failed(
    connection: &mut PgConnection,
    attempt: AttemptId,
    reference: &str,
) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar!(
        r#"-- store::payment_history::has_failed
        SELECT EXISTS (
            SELECT
            FROM payment_history
            WHERE hotel_id = $1
              AND attempt_id = $2
              AND kind = 'refund_failed'
              AND reference = $3) AS "failed!""#,
        attempt.hotel().0,
        attempt.uuid(),
        reference
    )
    .fetch_one(connection)
    .await?)
}

/// Whether it is known that this very try of a refund had left, and has come back.
pub async fn came_back(
    connection: &mut PgConnection,
    attempt: AttemptId,
    reference: &str,
) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar!(
        r#"-- store::payment_history::came_back
        SELECT count(DISTINCT kind) = 2 AS "both!"
        FROM payment_history
        WHERE hotel_id = $1
          AND attempt_id = $2
          AND kind IN ('refund_succeeded', 'refund_failed')
          AND reference = $3"#,
        attempt.hotel().0,
        attempt.uuid(),
        reference
    )
    .fetch_one(connection)
    .await?)
}
