//! `dead_letters`: events on which a handler could not act, and those that have to stay behind them.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{HotelId, LetterId, PrincipalId},
};
use uuid::Uuid;

use crate::relay::WaitingEvent;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LetterRow {
    pub id: LetterId,
    pub handler: String,
    pub event: WaitingEvent,
    /// What waits behind it. `None`: nothing does.
    pub key: Option<String>,
    pub error: String,
    pub died_at: Moment,
    /// `None`: it waits.
    pub resolution: Option<Resolution>,
}

/// How a letter ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolution {
    Replayed,
    Discarded,
}

impl Resolution {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Replayed => "REPLAYED",
            Self::Discarded => "DISCARDED",
        }
    }

    fn of_state(state: &str) -> Result<Option<Self>, DbError> {
        match state {
            "WAITING" => Ok(None),
            "REPLAYED" => Ok(Some(Self::Replayed)),
            "DISCARDED" => Ok(Some(Self::Discarded)),
            other => Err(DbError::unreadable("state of a dead letter", &other)),
        }
    }
}

/// What is to be put aside.
#[derive(Clone, Debug)]
pub struct NewLetter<'e> {
    pub handler: &'e str,
    pub event: &'e WaitingEvent,
    pub key: Option<&'e str>,
    pub error: &'e str,
}

struct Raw {
    hotel_id: i32,
    letter_id: Uuid,
    handler: String,
    event_id: Uuid,
    seq: i64,
    r#type: String,
    version: i16,
    payload: String,
    created_at: DateTime<Utc>,
    key: Option<String>,
    error: String,
    died_at: DateTime<Utc>,
    state: String,
}

impl TryFrom<Raw> for LetterRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let resolution = Resolution::of_state(&r.state)?;
        let event = WaitingEvent {
            hotel: HotelId(r.hotel_id),
            seq: r.seq,
            event_id: r.event_id,
            kind: r.r#type,
            version: r.version,
            created_at: Moment(r.created_at),
            payload: r.payload,
        };
        Ok(Self {
            id: LetterId::new(HotelId(r.hotel_id), r.letter_id),
            handler: r.handler,
            event,
            key: r.key,
            error: r.error,
            died_at: Moment(r.died_at),
            resolution,
        })
    }
}

pub async fn insert(connection: &mut PgConnection, new: &NewLetter<'_>) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::dead_letters::insert
        INSERT INTO dead_letters (hotel_id, letter_id, handler, event_id, seq, type, version, payload,
                                  created_at, key, error, died_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9, $10, left($11, 500), keyrack_now())",
        new.event.hotel.0,
        Uuid::now_v7(),
        new.handler,
        new.event.event_id,
        new.event.seq,
        new.event.kind,
        new.event.version,
        new.event.payload,
        new.event.created_at.0,
        new.key,
        new.error
    )
    .execute(connection)
    .await?
    .exactly(1, "store::dead_letters::insert")
}

/// Of these keys, those behind which an event has to wait. Whoever resolves a letter of one of them is waited for.
pub async fn blocked(
    connection: &mut PgConnection,
    handler: &str,
    keys: &[(HotelId, String)],
) -> Result<HashSet<(HotelId, String)>, DbError> {
    let (hotels, keys): (Vec<i32>, Vec<String>) = keys.iter().map(|(h, key)| (h.0, key.clone())).unzip();
    let rows = sqlx::query!(
        r#"-- store::dead_letters::blocked
        SELECT u.hotel_id AS "hotel_id!", u.key AS "key!"
        FROM unnest($2::int[], $3::text[]) AS u (hotel_id, key)
        WHERE EXISTS (
            SELECT FROM dead_letters d
            WHERE d.hotel_id = u.hotel_id
              AND d.handler = $1
              AND d.key = u.key
              AND d.state = 'WAITING')"#,
        handler,
        &hotels,
        &keys
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| (HotelId(row.hotel_id), row.key)).collect())
}

/// The letters that wait, of all hotels, in the order of their arrival.
pub async fn page(
    connection: &mut PgConnection,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<LetterRow>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        r#"-- store::dead_letters::page
        SELECT d.hotel_id, d.letter_id, d.handler, d.event_id, d.seq, d.type, d.version,
               d.payload::text AS "payload!", d.created_at, d.key, d.error, d.died_at, d.state
        FROM dead_letters d
        WHERE d.state = 'WAITING'
          AND ($1::uuid IS NULL OR d.letter_id > $1)
        ORDER BY d.letter_id
        LIMIT $2"#,
        after,
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(LetterRow::try_from).collect()
}

/// One, whatever has become of it.
pub async fn read(connection: &mut PgConnection, letter: LetterId) -> Result<Option<LetterRow>, DbError> {
    let row = sqlx::query_as!(
        Raw,
        r#"-- store::dead_letters::read
        SELECT d.hotel_id, d.letter_id, d.handler, d.event_id, d.seq, d.type, d.version,
               d.payload::text AS "payload!", d.created_at, d.key, d.error, d.died_at, d.state
        FROM dead_letters d
        WHERE d.hotel_id = $1
          AND d.letter_id = $2"#,
        letter.hotel().0,
        letter.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(LetterRow::try_from).transpose()
}

/// The same, locked.
pub async fn lock(connection: &mut PgConnection, letter: LetterId) -> Result<Option<LetterRow>, DbError> {
    let row = sqlx::query_as!(
        Raw,
        r#"-- store::dead_letters::lock
        SELECT d.hotel_id, d.letter_id, d.handler, d.event_id, d.seq, d.type, d.version,
               d.payload::text AS "payload!", d.created_at, d.key, d.error, d.died_at, d.state
        FROM dead_letters d
        WHERE d.hotel_id = $1
          AND d.letter_id = $2
        FOR UPDATE"#,
        letter.hotel().0,
        letter.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(LetterRow::try_from).transpose()
}

/// The first that waits in this line.
pub async fn first_of_key(
    connection: &mut PgConnection,
    hotel: HotelId,
    handler: &str,
    key: &str,
) -> Result<Option<LetterId>, DbError> {
    let first = sqlx::query_scalar!(
        "-- store::dead_letters::first_of_key
        SELECT d.letter_id
        FROM dead_letters d
        WHERE d.hotel_id = $1
          AND d.handler = $2
          AND d.key = $3
          AND d.state = 'WAITING'
        ORDER BY d.seq
        LIMIT 1",
        hotel.0,
        handler,
        key
    )
    .fetch_optional(connection)
    .await?;
    Ok(first.map(|first| LetterId::new(hotel, first)))
}

/// Of one that is locked.
pub async fn resolve(
    connection: &mut PgConnection,
    letter: LetterId,
    resolution: Resolution,
    by: PrincipalId,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::dead_letters::resolve
        UPDATE dead_letters
        SET state = $3, resolved_at = keyrack_now(), resolved_by = $4
        WHERE hotel_id = $1
          AND letter_id = $2
          AND state = 'WAITING'",
        letter.hotel().0,
        letter.uuid(),
        resolution.as_str(),
        by.0
    )
    .execute(connection)
    .await?
    .exactly(1, "store::dead_letters::resolve")
}

/// How many wait, up to a bound.
pub async fn waiting(connection: &mut PgConnection, most: i64) -> Result<i64, DbError> {
    let count = sqlx::query_scalar!(
        r#"-- store::dead_letters::waiting
        SELECT count(*) AS "count!"
        FROM (
            SELECT FROM dead_letters d
            WHERE d.state = 'WAITING'
            LIMIT $1) AS w"#,
        most
    )
    .fetch_one(connection)
    .await?;
    Ok(count)
}
