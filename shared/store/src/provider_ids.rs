//! `provider_ids`: what a provider calls our calls.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::ids::HotelId;

/// `false` when the reference has an id already, or the id a reference: the first of each stays.
pub async fn keep(
    connection: &mut PgConnection,
    hotel: HotelId,
    provider: &str,
    reference: &str,
    id: &str,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::provider_ids::keep
        INSERT INTO provider_ids (hotel_id, provider, reference, provider_id, kept_at)
        VALUES ($1, $2, $3, $4, keyrack_now())
        ON CONFLICT DO NOTHING",
        hotel.0,
        provider,
        reference,
        id
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

pub async fn find(
    connection: &mut PgConnection,
    hotel: HotelId,
    provider: &str,
    reference: &str,
) -> Result<Option<String>, DbError> {
    let id = sqlx::query_scalar!(
        "-- store::provider_ids::find
        SELECT provider_id
        FROM provider_ids
        WHERE hotel_id = $1
          AND provider = $2
          AND reference = $3",
        hotel.0,
        provider,
        reference
    )
    .fetch_optional(connection)
    .await?;
    Ok(id)
}

/// On this shard.
pub async fn reference_of(
    connection: &mut PgConnection,
    provider: &str,
    id: &str,
) -> Result<Option<String>, DbError> {
    let reference = sqlx::query_scalar!(
        "-- store::provider_ids::reference_of
        SELECT reference
        FROM provider_ids
        WHERE provider = $1
          AND provider_id = $2",
        provider,
        id
    )
    .fetch_optional(connection)
    .await?;
    Ok(reference)
}
