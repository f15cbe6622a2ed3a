//! `idempotency_keys`: answers of completed calls.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    clock::Moment,
    ids::{HotelId, PrincipalId},
    operation_key::{CONTRACT_VERSION, Endpoint, Fingerprint, OperationKey},
};
use uuid::Uuid;

/// One intention of one principal at one endpoint of one hotel.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyScope {
    pub hotel: HotelId,
    pub principal: PrincipalId,
    pub endpoint: Endpoint,
    pub key: OperationKey,
}

#[derive(Clone, Debug)]
pub struct KeyRecord {
    /// The try that wrote it.
    pub try_id: Uuid,
    pub fingerprint: Fingerprint,
    pub contract_version: i16,
    pub answer: serde_json::Value,
    pub created_at: Moment,
}

/// A record to write.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub scope: KeyScope,
    pub try_id: Uuid,
    pub fingerprint: Fingerprint,
    pub answer: serde_json::Value,
}

/// A record found by its principal, whatever hotel or endpoint it belongs to.
#[derive(Clone, Debug)]
pub struct FoundKey {
    pub hotel: HotelId,
    pub endpoint: String,
    pub answer: serde_json::Value,
    pub created_at: Moment,
}

pub(crate) fn fingerprint(bytes: &[u8]) -> Result<Fingerprint, DbError> {
    let bytes = bytes.try_into().map_err(|e| DbError::unreadable("fingerprint", &e))?;
    Ok(Fingerprint(bytes))
}

/// In the order of `scopes`; `None` where there is no record. The limit keeps it one index probe per key:
/// as a join, a plan made while the table was empty would scan it for ever.
pub async fn look_up(
    connection: &mut PgConnection,
    scopes: &[KeyScope],
) -> Result<Vec<Option<KeyRecord>>, DbError> {
    if scopes.is_empty() {
        return Ok(Vec::new());
    }
    let hotels: Vec<i32> = scopes.iter().map(|s| s.hotel.0).collect();
    let principals: Vec<Uuid> = scopes.iter().map(|s| s.principal.0).collect();
    let endpoints: Vec<String> = scopes.iter().map(|s| s.endpoint.0.to_owned()).collect();
    let keys: Vec<String> = scopes.iter().map(|s| s.key.as_str().to_owned()).collect();
    let rows = sqlx::query!(
        r#"-- store::keys::look_up
        SELECT w.place AS "place!", k.try_id, k.fingerprint, k.contract_version, k.answer, k.created_at
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[])
            WITH ORDINALITY AS w (hotel_id, principal_id, endpoint, key, place)
        CROSS JOIN LATERAL (
            SELECT i.try_id, i.fingerprint, i.contract_version, i.answer, i.created_at
            FROM idempotency_keys i
            WHERE i.hotel_id = w.hotel_id
              AND i.principal_id = w.principal_id
              AND i.endpoint = w.endpoint
              AND i.idempotency_key = w.key
            LIMIT 1
        ) AS k"#,
        &hotels,
        &principals,
        &endpoints,
        &keys
    )
    .fetch_all(connection)
    .await?;
    let mut found = vec![None; scopes.len()];
    for row in rows {
        let place = usize::try_from(row.place - 1).map_err(|e| DbError::unreadable("place", &e))?;
        found[place] = Some(KeyRecord {
            try_id: row.try_id,
            fingerprint: fingerprint(&row.fingerprint)?,
            contract_version: row.contract_version,
            answer: row.answer,
            created_at: Moment(row.created_at),
        });
    }
    Ok(found)
}

pub async fn insert(connection: &mut PgConnection, keys: Vec<NewKey>, now: Moment) -> Result<(), DbError> {
    if keys.is_empty() {
        return Ok(());
    }
    let count = keys.len();
    let hotels: Vec<i32> = keys.iter().map(|k| k.scope.hotel.0).collect();
    let principals: Vec<Uuid> = keys.iter().map(|k| k.scope.principal.0).collect();
    let endpoints: Vec<String> = keys.iter().map(|k| k.scope.endpoint.0.to_owned()).collect();
    let texts: Vec<String> = keys.iter().map(|k| k.scope.key.as_str().to_owned()).collect();
    let tries: Vec<Uuid> = keys.iter().map(|k| k.try_id).collect();
    let fingerprints: Vec<Vec<u8>> = keys.iter().map(|k| k.fingerprint.0.to_vec()).collect();
    let answers: Vec<serde_json::Value> = keys.into_iter().map(|k| k.answer).collect();
    sqlx::query!(
        "-- store::keys::insert
        INSERT INTO idempotency_keys (
            hotel_id, principal_id, endpoint, idempotency_key, try_id, fingerprint, contract_version, answer, created_at)
        SELECT u.hotel_id, u.principal_id, u.endpoint, u.key, u.try_id, u.fingerprint, $8, u.answer, $9
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::bytea[], $7::jsonb[])
            AS u (hotel_id, principal_id, endpoint, key, try_id, fingerprint, answer)",
        &hotels,
        &principals,
        &endpoints,
        &texts,
        &tries,
        &fingerprints,
        &answers,
        CONTRACT_VERSION,
        now.0
    )
    .execute(connection)
    .await?
    .exactly(count, "store::keys::insert")
}

/// Own records of that key on this shard, oldest first.
pub async fn of_principal(
    connection: &mut PgConnection,
    principal: PrincipalId,
    key: &OperationKey,
) -> Result<Vec<FoundKey>, DbError> {
    let rows = sqlx::query!(
        "-- store::keys::of_principal
        SELECT hotel_id, endpoint, answer, created_at
        FROM idempotency_keys
        WHERE principal_id = $1
          AND idempotency_key = $2
        ORDER BY created_at, hotel_id, endpoint
        LIMIT 100",
        principal.0,
        key.as_str()
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|r| FoundKey {
            hotel: HotelId(r.hotel_id),
            endpoint: r.endpoint,
            answer: r.answer,
            created_at: Moment(r.created_at),
        })
        .collect())
}

/// Removes records older than `before`, at most `limit` at once, and says how many.
pub async fn remove_older(connection: &mut PgConnection, before: Moment, limit: i64) -> Result<u64, DbError> {
    let done = sqlx::query!(
        "-- store::keys::remove_older
        DELETE FROM idempotency_keys
        WHERE (hotel_id, principal_id, endpoint, idempotency_key) IN (
            SELECT k.hotel_id, k.principal_id, k.endpoint, k.idempotency_key
            FROM idempotency_keys k
            WHERE k.created_at < $1
            ORDER BY k.created_at
            LIMIT $2
            FOR UPDATE SKIP LOCKED)",
        before.0,
        limit
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
