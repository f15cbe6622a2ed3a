//! Attempts of which nobody knows how they ended, for operators.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, HoldId, HotelId},
    money::Money,
};
use uuid::Uuid;

use crate::read::money;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CaseRow {
    pub attempt: AttemptId,
    pub hold: Option<HoldId>,
    pub amount: Money,
    pub captured: Money,
    pub started_at: Moment,
}

/// RECONCILING ones, oldest first, after a place in that order.
pub async fn open(
    connection: &mut PgConnection,
    after: Option<AttemptId>,
    limit: i64,
) -> Result<Vec<CaseRow>, DbError> {
    let rows = sqlx::query!(
        "-- store::cases::open
        SELECT hotel_id, attempt_id, hold_id, amount, captured, currency, created_at
        FROM payment_attempts
        WHERE state = 'RECONCILING'
          AND (attempt_id, hotel_id) > ($1, $2)
        ORDER BY attempt_id, hotel_id
        LIMIT $3",
        after.map_or(Uuid::nil(), AttemptId::uuid),
        after.map_or(0, |id| id.hotel().0),
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let hotel = HotelId(row.hotel_id);
            Ok(CaseRow {
                attempt: AttemptId::new(hotel, row.attempt_id),
                hold: row.hold_id.map(|hold| HoldId::new(hotel, hold)),
                amount: money(row.amount, &row.currency)?,
                captured: money(row.captured, &row.currency)?,
                started_at: Moment(row.created_at),
            })
        })
        .collect()
}
