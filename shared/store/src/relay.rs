//! `relay_parts` and the outbox as the relay sees it: what waits, and that it is published. Whoever publishes has
//! the lease of a part, in real time; a lapsed lease costs a repeat, never an event.

use std::time::Duration;

use chrono::{DateTime, Utc};
use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{clock::Moment, ids::HotelId};
use sqlx::postgres::types::PgInterval;
use uuid::Uuid;

/// An event that waits to be published.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingEvent {
    pub hotel: HotelId,
    pub seq: i64,
    pub event_id: Uuid,
    pub kind: String,
    pub version: i16,
    pub created_at: Moment,
    /// JSON, as it was stored.
    pub payload: String,
}

struct Raw {
    hotel_id: i32,
    seq: i64,
    event_id: Uuid,
    r#type: String,
    version: i16,
    created_at: DateTime<Utc>,
    payload: String,
}

impl From<Raw> for WaitingEvent {
    fn from(r: Raw) -> Self {
        Self {
            hotel: HotelId(r.hotel_id),
            seq: r.seq,
            event_id: r.event_id,
            kind: r.r#type,
            version: r.version,
            created_at: Moment(r.created_at),
            payload: r.payload,
        }
    }
}

pub(crate) fn interval(of: Duration) -> Result<PgInterval, DbError> {
    PgInterval::try_from(of).map_err(|error| DbError::unreadable("interval", &error))
}

/// The part whose oldest event has waited longest, where nobody has it.
pub async fn lease_part(
    connection: &mut PgConnection,
    lease: Uuid,
    lasts: Duration,
) -> Result<Option<i16>, DbError> {
    let part = sqlx::query_scalar!(
        "-- store::relay::lease_part
        UPDATE relay_parts r
        SET lease = $1, leased_until = clock_timestamp() + $2
        WHERE r.part = (
            SELECT p.part
            FROM relay_parts p
            CROSS JOIN LATERAL (
                SELECT o.seq
                FROM outbox o
                WHERE o.hotel_id % 8 = p.part
                  AND o.published_at IS NULL
                ORDER BY o.seq
                LIMIT 1) AS oldest
            WHERE p.leased_until IS NULL OR p.leased_until < clock_timestamp()
            ORDER BY oldest.seq
            LIMIT 1
            FOR NO KEY UPDATE OF p SKIP LOCKED)
        RETURNING r.part",
        lease,
        interval(lasts)?
    )
    .fetch_optional(connection)
    .await?;
    Ok(part)
}

/// In the order of `seq`, which is that of the changes of a night and of an aggregate.
pub async fn waiting(
    connection: &mut PgConnection,
    part: i16,
    limit: i64,
) -> Result<Vec<WaitingEvent>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        r#"-- store::relay::waiting
        SELECT o.hotel_id, o.seq, o.event_id, o.type, o.version, o.created_at, o.payload::text AS "payload!"
        FROM outbox o
        WHERE o.hotel_id % 8 = $1
          AND o.published_at IS NULL
        ORDER BY o.seq
        LIMIT $2"#,
        i32::from(part),
        limit
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(WaitingEvent::from).collect())
}

/// How many of them nobody had marked before: fewer where a lease had lapsed and another published them too.
pub async fn mark_published(
    connection: &mut PgConnection,
    events: &[(HotelId, i64)],
) -> Result<u64, DbError> {
    let (hotels, seqs): (Vec<i32>, Vec<i64>) = events.iter().map(|(hotel, seq)| (hotel.0, *seq)).unzip();
    let done = sqlx::query!(
        "-- store::relay::mark_published
        UPDATE outbox o
        SET published_at = (SELECT keyrack_now())
        FROM unnest($1::int[], $2::bigint[]) AS u (hotel_id, seq)
        WHERE o.hotel_id = u.hotel_id
          AND o.seq = u.seq
          AND o.published_at IS NULL",
        &hotels,
        &seqs
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// The part is anybody's after the wait. False where it was another's already.
pub async fn give_back(
    connection: &mut PgConnection,
    part: i16,
    lease: Uuid,
    wait: Option<Duration>,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::relay::give_back
        UPDATE relay_parts
        SET lease = CASE WHEN $3::interval IS NULL THEN NULL ELSE lease END,
            leased_until = clock_timestamp() + $3::interval
        WHERE part = $1
          AND lease = $2",
        part,
        lease,
        wait.map(interval).transpose()?
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}
