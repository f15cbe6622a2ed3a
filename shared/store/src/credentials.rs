//! `directory.credentials`: API keys.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    code::ChannelCode,
    ids::{CredentialId, HotelId, PrincipalId},
    principal::Role,
    token::TokenHash,
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCredential {
    pub id: CredentialId,
    pub principal: PrincipalId,
    pub role: Role,
    /// `None` for operators alone.
    pub hotel: Option<HotelId>,
    /// A channel credential may be bound to one channel.
    pub channel: Option<ChannelCode>,
    pub name: String,
}

/// The one channel that a credential is bound to, if it is.
pub async fn channel_of(
    connection: &mut PgConnection,
    principal: PrincipalId,
) -> Result<Option<ChannelCode>, DbError> {
    let row = sqlx::query!(
        "-- store::credentials::channel_of
        SELECT channel
        FROM directory.credentials
        WHERE principal_id = $1",
        principal.0
    )
    .fetch_optional(connection)
    .await?;
    let channel = row.and_then(|row| row.channel);
    channel.map(|code| code.parse().map_err(|e| DbError::unreadable("channel", &e))).transpose()
}

/// `false` when a credential of this id exists already; its token stays as it is.
pub async fn insert(
    connection: &mut PgConnection,
    credential: &NewCredential,
    token: TokenHash,
) -> Result<bool, DbError> {
    let done = sqlx::query!(
        "-- store::credentials::insert
        INSERT INTO directory.credentials (credential_id, principal_id, token_hash, role, hotel_id, channel, name)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (credential_id) DO NOTHING",
        credential.id.uuid(),
        credential.principal.0,
        token.0.as_slice(),
        credential.role.as_str(),
        credential.hotel.map(|hotel| hotel.0),
        credential.channel.as_ref().map(ChannelCode::as_str),
        credential.name
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}
