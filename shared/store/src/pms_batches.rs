//! `pms_cursors` and `pms_batches`: how far a hotel's system has been followed, and what its batches came to.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{HotelId, PrincipalId},
    operation_key::Fingerprint,
    pms::{BatchMode, BatchOutcome},
};
use serde_json::Value;
use uuid::Uuid;

use crate::keys;

/// A batch of a connector, which is the principal that delivers it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BatchKey {
    pub hotel: HotelId,
    pub connector: PrincipalId,
    pub sequence: i64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct BatchRow {
    pub key: BatchKey,
    pub mode: BatchMode,
    pub outcome: BatchOutcome,
    pub fingerprint: Fingerprint,
    /// What each line came to.
    pub verdicts: Value,
    pub try_id: Uuid,
    pub received_at: Moment,
}

/// What is known when a batch arrives. Certain only under the lock of its connector.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BatchFacts {
    /// The last sequence that was applied.
    pub cursor: Option<i64>,
    /// What this sequence came to, where it was taken before.
    pub known: Option<BatchRow>,
}

/// The cursor goes on from its stated place; `None` for a connector's first batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CursorMove {
    pub from: Option<i64>,
}

struct Raw {
    hotel_id: i32,
    connector: Uuid,
    sequence: i64,
    mode: String,
    outcome: String,
    fingerprint: Vec<u8>,
    verdicts: Value,
    try_id: Uuid,
    received_at: chrono::DateTime<chrono::Utc>,
}

impl TryFrom<Raw> for BatchRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        Ok(Self {
            key: BatchKey {
                hotel: HotelId(r.hotel_id),
                connector: PrincipalId(r.connector),
                sequence: r.sequence,
            },
            mode: BatchMode::from_name(&r.mode).ok_or_else(|| DbError::unreadable("batch mode", &r.mode))?,
            outcome: BatchOutcome::from_name(&r.outcome)
                .ok_or_else(|| DbError::unreadable("batch outcome", &r.outcome))?,
            fingerprint: keys::fingerprint(&r.fingerprint)?,
            verdicts: r.verdicts,
            try_id: r.try_id,
            received_at: Moment(r.received_at),
        })
    }
}

pub async fn read(connection: &mut PgConnection, key: BatchKey) -> Result<BatchFacts, DbError> {
    let cursor = cursor(connection, key.hotel, key.connector).await?;
    Ok(BatchFacts { cursor, known: find(connection, key.hotel, Some(key.connector), key.sequence).await? })
}

pub async fn cursor(
    connection: &mut PgConnection,
    hotel: HotelId,
    connector: PrincipalId,
) -> Result<Option<i64>, DbError> {
    let sequence = sqlx::query_scalar!(
        "-- store::pms_batches::cursor
        SELECT sequence
        FROM pms_cursors
        WHERE hotel_id = $1
          AND connector = $2",
        hotel.0,
        connector.0
    )
    .fetch_optional(connection)
    .await?;
    Ok(sequence)
}

/// A connector's batch of this sequence; of any connector, the one that came last.
pub async fn find(
    connection: &mut PgConnection,
    hotel: HotelId,
    connector: Option<PrincipalId>,
    sequence: i64,
) -> Result<Option<BatchRow>, DbError> {
    let row = sqlx::query_as!(
        Raw,
        "-- store::pms_batches::find
        SELECT hotel_id, connector, sequence, mode, outcome, fingerprint, verdicts, try_id, received_at
        FROM pms_batches
        WHERE hotel_id = $1
          AND sequence = $2
          AND ($3::uuid IS NULL OR connector = $3)
        ORDER BY received_at DESC, connector
        LIMIT 1",
        hotel.0,
        sequence,
        connector.map(|connector| connector.0)
    )
    .fetch_optional(connection)
    .await?;
    row.map(TryInto::try_into).transpose()
}

/// The cursor stands where it is said to stand, or nothing is written.
pub async fn move_cursor(
    connection: &mut PgConnection,
    to: BatchKey,
    CursorMove { from }: CursorMove,
    at: Moment,
) -> Result<(), DbError> {
    let done = match from {
        None => {
            sqlx::query!(
                "-- store::pms_batches::start_cursor
                INSERT INTO pms_cursors (hotel_id, connector, sequence, moved_at)
                VALUES ($1, $2, $3, $4)",
                to.hotel.0,
                to.connector.0,
                to.sequence,
                at.0
            )
            .execute(connection)
            .await?
        }
        Some(from) => {
            sqlx::query!(
                "-- store::pms_batches::move_cursor
                UPDATE pms_cursors
                SET sequence = $3,
                    moved_at = $4
                WHERE hotel_id = $1
                  AND connector = $2
                  AND sequence = $5
                  AND sequence < $3",
                to.hotel.0,
                to.connector.0,
                to.sequence,
                at.0,
                from
            )
            .execute(connection)
            .await?
        }
    };
    done.exactly(1, "store::pms_batches::move_cursor")
}

pub async fn insert(connection: &mut PgConnection, row: &BatchRow) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::pms_batches::insert
        INSERT INTO pms_batches (
            hotel_id, connector, sequence, mode, outcome, fingerprint, verdicts, try_id, received_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        row.key.hotel.0,
        row.key.connector.0,
        row.key.sequence,
        row.mode.as_str(),
        row.outcome.as_str(),
        row.fingerprint.0.as_slice(),
        row.verdicts,
        row.try_id,
        row.received_at.0
    )
    .execute(connection)
    .await?
    .exactly(1, "store::pms_batches::insert")
}

/// At most `limit` of those that came before an instant. Several at once take different rows.
pub async fn remove_older(connection: &mut PgConnection, before: Moment, limit: i64) -> Result<u64, DbError> {
    let done = sqlx::query!(
        "-- store::pms_batches::remove_older
        DELETE FROM pms_batches
        WHERE (hotel_id, connector, sequence) IN (
            SELECT b.hotel_id, b.connector, b.sequence
            FROM pms_batches b
            WHERE b.received_at < $1
            ORDER BY b.received_at
            LIMIT $2
            FOR UPDATE SKIP LOCKED)",
        before.0,
        limit
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
