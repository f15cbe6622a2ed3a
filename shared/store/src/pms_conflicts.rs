//! `pms_conflicts`: nights that a hotel's system reported below what is held and confirmed. Written only under the
//! lock of their night.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{ConflictId, HotelId, PrincipalId, RoomTypeId},
    pms::ConflictState,
};
use uuid::Uuid;

use crate::nights::NightKey;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConflictRow {
    pub id: ConflictId,
    pub night: NightKey,
    pub state: ConflictState,
    pub reported: i32,
    /// When it was reported.
    pub held: i32,
    pub confirmed: i32,
    /// The batch that reported it.
    pub connector: PrincipalId,
    pub sequence: i64,
    pub created_at: Moment,
    pub ended_at: Option<Moment>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConflictMove {
    pub id: ConflictId,
    pub night: NightKey,
    pub from: ConflictState,
    pub to: ConflictState,
}

struct Raw {
    hotel_id: i32,
    conflict_id: Uuid,
    room_type_id: i32,
    stay_date: chrono::NaiveDate,
    state: String,
    reported: i32,
    held: i32,
    confirmed: i32,
    connector: Uuid,
    sequence: i64,
    created_at: chrono::DateTime<chrono::Utc>,
    ended_at: Option<chrono::DateTime<chrono::Utc>>,
}

impl TryFrom<Raw> for ConflictRow {
    type Error = DbError;

    fn try_from(r: Raw) -> Result<Self, DbError> {
        let hotel = HotelId(r.hotel_id);
        Ok(Self {
            id: ConflictId::new(hotel, r.conflict_id),
            night: NightKey { hotel, room_type: RoomTypeId(r.room_type_id), date: r.stay_date },
            state: ConflictState::from_name(&r.state)
                .ok_or_else(|| DbError::unreadable("conflict state", &r.state))?,
            reported: r.reported,
            held: r.held,
            confirmed: r.confirmed,
            connector: PrincipalId(r.connector),
            sequence: r.sequence,
            created_at: Moment(r.created_at),
            ended_at: r.ended_at.map(Moment),
        })
    }
}

/// Those that wait on these nights. Certain only under the nights' locks.
pub async fn waiting(
    connection: &mut PgConnection,
    nights: impl IntoIterator<Item = &NightKey>,
) -> Result<Vec<ConflictRow>, DbError> {
    let (mut hotels, mut room_types, mut dates) = (Vec::new(), Vec::new(), Vec::new());
    for night in nights {
        hotels.push(night.hotel.0);
        room_types.push(night.room_type.0);
        dates.push(night.date);
    }
    let rows = sqlx::query_as!(
        Raw,
        "-- store::pms_conflicts::waiting
        SELECT c.hotel_id, c.conflict_id, c.room_type_id, c.stay_date, c.state, c.reported, c.held, c.confirmed,
               c.connector, c.sequence, c.created_at, c.ended_at
        FROM unnest($1::int[], $2::int[], $3::date[]) AS w (hotel_id, room_type_id, stay_date)
        CROSS JOIN LATERAL (
            SELECT x.hotel_id, x.conflict_id, x.room_type_id, x.stay_date, x.state, x.reported, x.held, x.confirmed,
                   x.connector, x.sequence, x.created_at, x.ended_at
            FROM pms_conflicts x
            WHERE x.hotel_id = w.hotel_id
              AND x.room_type_id = w.room_type_id
              AND x.stay_date = w.stay_date
              AND x.state IN ('OPEN', 'WALKING')
            LIMIT 1
        ) AS c",
        &hotels,
        &room_types,
        &dates
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

pub async fn find(connection: &mut PgConnection, id: ConflictId) -> Result<Option<ConflictRow>, DbError> {
    let row = sqlx::query_as!(
        Raw,
        "-- store::pms_conflicts::find
        SELECT hotel_id, conflict_id, room_type_id, stay_date, state, reported, held, confirmed, connector, sequence,
               created_at, ended_at
        FROM pms_conflicts
        WHERE hotel_id = $1
          AND conflict_id = $2",
        id.hotel().0,
        id.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(TryInto::try_into).transpose()
}

/// Those of a hotel after `after`, in the order in which they came: of one state, or those that wait.
pub async fn of_hotel(
    connection: &mut PgConnection,
    hotel: HotelId,
    state: Option<ConflictState>,
    after: Option<ConflictId>,
    limit: i64,
) -> Result<Vec<ConflictRow>, DbError> {
    let rows = sqlx::query_as!(
        Raw,
        "-- store::pms_conflicts::of_hotel
        SELECT hotel_id, conflict_id, room_type_id, stay_date, state, reported, held, confirmed, connector, sequence,
               created_at, ended_at
        FROM pms_conflicts
        WHERE hotel_id = $1
          AND conflict_id > $2
          AND (state = $3 OR ($3::text IS NULL AND state IN ('OPEN', 'WALKING')))
        ORDER BY conflict_id
        LIMIT $4",
        hotel.0,
        after.map_or(Uuid::nil(), ConflictId::uuid),
        state.map(ConflictState::as_str),
        limit
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(TryInto::try_into).collect()
}

/// Each from its stated state and no other.
pub async fn shift(connection: &mut PgConnection, moves: &[ConflictMove], at: Moment) -> Result<(), DbError> {
    if moves.is_empty() {
        return Ok(());
    }
    let hotels: Vec<i32> = moves.iter().map(|m| m.id.hotel().0).collect();
    let ids: Vec<Uuid> = moves.iter().map(|m| m.id.uuid()).collect();
    let from: Vec<String> = moves.iter().map(|m| m.from.as_str().to_owned()).collect();
    let to: Vec<String> = moves.iter().map(|m| m.to.as_str().to_owned()).collect();
    let ended: Vec<bool> = moves.iter().map(|m| !m.to.waits()).collect();
    sqlx::query!(
        "-- store::pms_conflicts::shift
        UPDATE pms_conflicts AS c
        SET state = u.to_state,
            ended_at = CASE WHEN u.ended THEN $6::timestamptz END
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::bool[])
            AS u (hotel_id, conflict_id, from_state, to_state, ended)
        WHERE c.hotel_id = u.hotel_id
          AND c.conflict_id = u.conflict_id
          AND c.state = u.from_state",
        &hotels,
        &ids,
        &from,
        &to,
        &ended,
        at.0
    )
    .execute(connection)
    .await?
    .exactly(moves.len(), "store::pms_conflicts::shift")
}

pub async fn insert(connection: &mut PgConnection, rows: &[ConflictRow]) -> Result<(), DbError> {
    if rows.is_empty() {
        return Ok(());
    }
    let text = |state: ConflictState| state.as_str().to_owned();
    sqlx::query!(
        "-- store::pms_conflicts::insert
        INSERT INTO pms_conflicts (
            hotel_id, conflict_id, room_type_id, stay_date, state, reported, held, confirmed, connector, sequence,
            created_at)
        SELECT u.hotel_id, u.conflict_id, u.room_type_id, u.stay_date, u.state, u.reported, u.held, u.confirmed,
               u.connector, u.sequence, u.created_at
        FROM unnest($1::int[], $2::uuid[], $3::int[], $4::date[], $5::text[], $6::int[], $7::int[], $8::int[],
                    $9::uuid[], $10::bigint[], $11::timestamptz[])
            AS u (hotel_id, conflict_id, room_type_id, stay_date, state, reported, held, confirmed, connector,
                  sequence, created_at)",
        &rows.iter().map(|r| r.id.hotel().0).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.id.uuid()).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.night.room_type.0).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.night.date).collect::<Vec<_>>(),
        &rows.iter().map(|r| text(r.state)).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.reported).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.held).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.confirmed).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.connector.0).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.sequence).collect::<Vec<_>>(),
        &rows.iter().map(|r| r.created_at.0).collect::<Vec<_>>()
    )
    .execute(connection)
    .await?
    .exactly(rows.len(), "store::pms_conflicts::insert")
}
