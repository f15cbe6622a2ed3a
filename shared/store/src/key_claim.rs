//! `idempotency_keys` for calls outside the ledger: claimed by the row itself, in the transaction of
//! their effect, and given their answer before it ends.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::operation_key::{CONTRACT_VERSION, Fingerprint};
use uuid::Uuid;

use crate::keys::KeyScope;

/// `false`: the key has been used; what became of it is read in the next statement. A copy of the
/// call that is still running is waited for, within the lock time-out.
///
/// The row carries `null` in place of an answer until [`answer`]; nobody else can see it so long.
pub async fn claim(
    connection: &mut PgConnection,
    scope: &KeyScope,
    fingerprint: Fingerprint,
    try_id: Uuid,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::key_claim::claim
        INSERT INTO idempotency_keys (
            hotel_id, principal_id, endpoint, idempotency_key, try_id, fingerprint, contract_version, answer, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, 'null', keyrack_now())
        ON CONFLICT (hotel_id, principal_id, endpoint, idempotency_key) DO NOTHING",
        scope.hotel.0,
        scope.principal.0,
        scope.endpoint.0,
        scope.key.as_str(),
        try_id,
        fingerprint.0.as_slice(),
        CONTRACT_VERSION
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Writes the answer of a key that this transaction has claimed.
pub async fn answer(
    connection: &mut PgConnection,
    scope: &KeyScope,
    answer: &serde_json::Value,
) -> Result<(), DbError> {
    sqlx::query!(
        "-- store::key_claim::answer
        UPDATE idempotency_keys
        SET answer = $5
        WHERE hotel_id = $1
          AND principal_id = $2
          AND endpoint = $3
          AND idempotency_key = $4
          AND answer = 'null'",
        scope.hotel.0,
        scope.principal.0,
        scope.endpoint.0,
        scope.key.as_str(),
        answer
    )
    .execute(connection)
    .await?
    .exactly(1, "store::key_claim::answer")
}
