//! `directory.unmatched_notices`: authentic notices about what is not there, or not yet. In real time.

use std::time::Duration;

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{AttemptId, HotelId, NoticeId},
    notice::ProviderName,
};
use uuid::Uuid;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnmatchedRow {
    /// Of hotel 0: it is of none that we know.
    pub id: NoticeId,
    pub provider: ProviderName,
    pub event: String,
    pub kind: String,
    pub reference: String,
    /// `None`: its reference is none of ours.
    pub attempt: Option<AttemptId>,
    /// As it was read.
    pub notice: serde_json::Value,
    pub received_at: Moment,
}

/// What is to be kept.
#[derive(Clone, Copy, Debug)]
pub struct NewUnmatched<'n> {
    pub id: NoticeId,
    pub provider: &'n ProviderName,
    pub event: &'n str,
    pub kind: &'n str,
    pub reference: &'n str,
    pub attempt: Option<AttemptId>,
    pub notice: &'n serde_json::Value,
}

struct Raw {
    notice_id: Uuid,
    provider: String,
    event_id: String,
    kind: String,
    reference: String,
    attempt: Option<String>,
    notice: serde_json::Value,
    received_at: chrono::DateTime<chrono::Utc>,
}

impl TryFrom<Raw> for UnmatchedRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let attempt = r.attempt.map(|text| text.parse().map_err(|e| DbError::unreadable("attempt id", &e)));
        Ok(Self {
            id: NoticeId::new(HotelId(0), r.notice_id),
            provider: r.provider.parse().map_err(|e| DbError::unreadable("provider", &e))?,
            event: r.event_id,
            kind: r.kind,
            reference: r.reference,
            attempt: attempt.transpose()?,
            notice: r.notice,
            received_at: Moment(r.received_at),
        })
    }
}

/// False where the same event is kept already.
pub async fn keep(connection: &mut PgConnection, new: NewUnmatched<'_>) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::unmatched_notices::keep
        INSERT INTO directory.unmatched_notices (notice_id, provider, event_id, kind, reference, attempt, notice)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (provider, event_id) DO NOTHING",
        new.id.uuid(),
        new.provider.as_str(),
        new.event,
        new.kind,
        new.reference,
        new.attempt.map(|attempt| attempt.to_string()),
        new.notice
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Removes the oldest above `most`, and says how many.
pub async fn bound(connection: &mut PgConnection, most: i64) -> Result<u64, DbError> {
    let done = sqlx::query!(
        "-- store::unmatched_notices::bound
        DELETE FROM directory.unmatched_notices
        WHERE notice_id IN (
            SELECT notice_id
            FROM directory.unmatched_notices
            ORDER BY notice_id DESC
            OFFSET $1
            LIMIT 1000)",
        most
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// Takes some that may be looked at again, those first that waited longest: a notice rests for a tenth of its
/// age, and never longer than `at_most`. Others pass them over until then. What names no attempt can match only
/// where it names a payment by the provider's id, which may be found later.
pub async fn take(
    connection: &mut PgConnection,
    at_most: Duration,
    limit: i64,
) -> Result<Vec<UnmatchedRow>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        r#"-- store::unmatched_notices::take
        UPDATE directory.unmatched_notices AS u
        SET looked_at = now()
        FROM (
            SELECT d.notice_id
            FROM directory.unmatched_notices d
            WHERE (d.attempt IS NOT NULL OR d.notice -> 'fact' ? 'refunded_by_hand_of')
              AND d.looked_at + least((now() - d.received_at) / 10, make_interval(secs => $1)) <= now()
            ORDER BY d.looked_at
            LIMIT $2
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS due
        WHERE u.notice_id = due.notice_id
        RETURNING u.notice_id, u.provider, u.event_id, u.kind, u.reference, u.attempt, u.notice, u.received_at"#,
        at_most.as_secs_f64(),
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// It has been applied. True when nobody else had removed it.
pub async fn remove(connection: &mut PgConnection, id: NoticeId) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::unmatched_notices::remove
        DELETE FROM directory.unmatched_notices
        WHERE notice_id = $1",
        id.uuid()
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Oldest first, after a place in that order.
pub async fn list(
    connection: &mut PgConnection,
    after: Option<NoticeId>,
    limit: i64,
) -> Result<Vec<UnmatchedRow>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        "-- store::unmatched_notices::list
        SELECT notice_id, provider, event_id, kind, reference, attempt, notice, received_at
        FROM directory.unmatched_notices
        WHERE notice_id > $1
        ORDER BY notice_id
        LIMIT $2",
        after.map_or(Uuid::nil(), NoticeId::uuid),
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// How many there are, and for how many seconds the oldest has been there.
pub async fn waiting(connection: &mut PgConnection) -> Result<(i64, f64), DbError> {
    let row = sqlx::query!(
        r#"-- store::unmatched_notices::waiting
        SELECT count(*) AS "count!",
               coalesce(extract(epoch FROM now() - min(received_at)), 0)::float8 AS "age!"
        FROM directory.unmatched_notices"#
    )
    .fetch_one(connection)
    .await?;
    Ok((row.count, row.age))
}
