//! `processed_events`: what a handler has acted on, written in the transaction of its effect.

use std::{collections::HashSet, time::Duration};

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::HotelId;
use uuid::Uuid;

use crate::relay::interval;

/// Those that this handler has not acted on: it does now. A copy that is being worked on is waited for.
pub async fn claim(
    connection: &mut PgConnection,
    handler: &str,
    events: &[(HotelId, Uuid)],
) -> Result<HashSet<Uuid>, DbError> {
    let (hotels, ids): (Vec<i32>, Vec<Uuid>) = events.iter().map(|(hotel, id)| (hotel.0, *id)).unzip();
    let fresh = sqlx::query_scalar!(
        "-- store::processed_events::claim
        INSERT INTO processed_events (hotel_id, handler, event_id)
        SELECT u.hotel_id, $1, u.event_id
        FROM unnest($2::int[], $3::uuid[]) AS u (hotel_id, event_id)
        ORDER BY u.hotel_id, u.event_id
        ON CONFLICT (hotel_id, handler, event_id) DO NOTHING
        RETURNING event_id",
        handler,
        &hotels,
        &ids
    )
    .fetch_all(connection)
    .await?;
    Ok(fresh.into_iter().collect())
}

/// Removes what was acted on longer ago, a bounded number. In real time.
pub async fn remove_older(connection: &mut PgConnection, age: Duration, limit: i64) -> Result<u64, DbError> {
    let done = sqlx::query!(
        "-- store::processed_events::remove_older
        DELETE FROM processed_events
        WHERE (hotel_id, handler, event_id) IN (
            SELECT p.hotel_id, p.handler, p.event_id
            FROM processed_events p
            WHERE p.processed_at < clock_timestamp() - $1::interval
            ORDER BY p.processed_at
            LIMIT $2
            FOR UPDATE SKIP LOCKED)",
        interval(age)?,
        limit
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
