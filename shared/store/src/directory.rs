//! `directory.hotels`: on which shard each hotel lives.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    code::HotelCode,
    ids::{HotelId, ShardId},
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub hotel: HotelId,
    pub shard: ShardId,
}

/// Enters a hotel on the shard given, or answers with the entry that its code has already.
pub async fn enter(
    connection: &mut PgConnection,
    code: &HotelCode,
    shard: ShardId,
) -> Result<Entry, DbError> {
    sqlx::query!(
        "-- store::directory::enter
        INSERT INTO directory.hotels (code, shard_id)
        VALUES ($1, $2)
        ON CONFLICT (code) DO NOTHING",
        code.as_str(),
        shard.0
    )
    .execute(&mut *connection)
    .await?;
    // A statement of its own: only a new snapshot shows an entry that won meanwhile.
    let entry = by_code(connection, code).await?;
    entry.ok_or(DbError::RowCount { statement: "store::directory::enter", expected: 1, got: 0 })
}

pub async fn by_code(connection: &mut PgConnection, code: &HotelCode) -> Result<Option<Entry>, DbError> {
    let row = sqlx::query!(
        "-- store::directory::by_code
        SELECT hotel_id, shard_id
        FROM directory.hotels
        WHERE code = $1",
        code.as_str()
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| Entry { hotel: HotelId(row.hotel_id), shard: ShardId(row.shard_id) }))
}

pub async fn by_id(connection: &mut PgConnection, hotel: HotelId) -> Result<Option<Entry>, DbError> {
    let row = sqlx::query!(
        "-- store::directory::by_id
        SELECT hotel_id, shard_id
        FROM directory.hotels
        WHERE hotel_id = $1",
        hotel.0
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| Entry { hotel: HotelId(row.hotel_id), shard: ShardId(row.shard_id) }))
}

/// How many hotels each shard has; a shard without any is absent.
pub async fn hotels_by_shard(connection: &mut PgConnection) -> Result<Vec<(ShardId, i64)>, DbError> {
    let rows = sqlx::query!(
        r#"-- store::directory::hotels_by_shard
        SELECT shard_id, count(*) AS "hotels!"
        FROM directory.hotels
        GROUP BY shard_id
        ORDER BY shard_id"#
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| (ShardId(row.shard_id), row.hotels)).collect())
}
