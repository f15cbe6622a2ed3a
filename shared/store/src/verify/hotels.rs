//! Which hotels there are to verify, by the directory: the authority for where each lives.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    code::HotelCode,
    ids::{HotelId, ShardId},
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    pub hotel: HotelId,
    pub code: HotelCode,
    pub shard: ShardId,
}

/// A page of the directory's hotels, by their number, after `after`.
pub async fn listed(
    connection: &mut PgConnection,
    after: HotelId,
    limit: i64,
) -> Result<Vec<Listed>, DbError> {
    let rows = sqlx::query!(
        "-- store::verify::hotels::listed
        SELECT hotel_id, code, shard_id
        FROM directory.hotels
        WHERE hotel_id > $1
        ORDER BY hotel_id
        LIMIT $2",
        after.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    let listed = rows.into_iter().map(|row| {
        let code = row.code.parse().map_err(|e| DbError::unreadable("hotel code", &e))?;
        Ok(Listed { hotel: HotelId(row.hotel_id), code, shard: ShardId(row.shard_id) })
    });
    listed.collect()
}

/// Does this shard have the hotel?
pub async fn is_there(connection: &mut PgConnection, hotel: HotelId) -> Result<bool, DbError> {
    let there = sqlx::query_scalar!(
        r#"-- store::verify::hotels::is_there
        SELECT EXISTS (
            SELECT
            FROM hotels
            WHERE hotel_id = $1) AS "there!""#,
        hotel.0
    )
    .fetch_one(connection)
    .await?;
    Ok(there)
}
