//! `outbox`: what a committed change tells the world. Inserted last in its transaction, so that a
//! later writer of a night always draws a larger `seq`.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{clock::Moment, event::Event, ids::HotelId};
use uuid::Uuid;

use crate::read::json;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewEvent {
    pub hotel: HotelId,
    pub event: Event,
}

/// Of one part counted no further: more waiting events than this are one and the same alarm.
const MOST_COUNTED: i64 = 10_000;

/// Events that wait to be published, up to a bound, and when the oldest of them was written.
pub async fn pending(connection: &mut PgConnection) -> Result<(i64, Option<Moment>), DbError> {
    let waiting = sqlx::query!(
        r#"-- store::outbox::pending
        SELECT sum(w.count)::bigint AS count, min(w.oldest) AS oldest
        FROM relay_parts p
        CROSS JOIN LATERAL (
            SELECT count(*) AS count, min(first.created_at) AS oldest
            FROM (
                SELECT o.created_at
                FROM outbox o
                WHERE o.hotel_id % 8 = p.part
                  AND o.published_at IS NULL
                ORDER BY o.seq
                LIMIT $1) AS first) AS w"#,
        MOST_COUNTED
    )
    .fetch_one(connection)
    .await?;
    Ok((waiting.count.unwrap_or(0), waiting.oldest.map(Moment)))
}

/// Appends the events in the order given: `nextval` is drawn above the sort.
pub async fn append(connection: &mut PgConnection, events: &[NewEvent]) -> Result<(), DbError> {
    if events.is_empty() {
        return Ok(());
    }
    let hotels: Vec<i32> = events.iter().map(|e| e.hotel.0).collect();
    let ids: Vec<Uuid> = events.iter().map(|_| Uuid::now_v7()).collect();
    let types: Vec<String> = events.iter().map(|e| e.event.type_name().to_owned()).collect();
    let versions: Vec<i16> = events.iter().map(|e| e.event.version()).collect();
    let payloads = events.iter().map(|e| json("event", &e.event)).collect::<Result<Vec<_>, _>>()?;
    sqlx::query!(
        "-- store::outbox::append
        INSERT INTO outbox (hotel_id, event_id, type, version, payload, created_at)
        SELECT u.hotel_id, u.event_id, u.type, u.version, u.payload, (SELECT keyrack_now())
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::smallint[], $5::jsonb[])
            WITH ORDINALITY AS u (hotel_id, event_id, type, version, payload, place)
        ORDER BY u.place",
        &hotels,
        &ids,
        &types,
        &versions,
        &payloads
    )
    .execute(connection)
    .await?
    .exactly(events.len(), "store::outbox::append")
}
