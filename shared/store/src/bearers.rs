//! Who a bearer token speaks for: `directory.guest_sessions` and `directory.credentials` in one look-up.

use keyrack_db::{DbError, PgConnection};
use keyrack_domain::{
    ids::{HotelId, PrincipalId},
    principal::Role,
    token::TokenHash,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bearer {
    pub principal: PrincipalId,
    pub role: Role,
    /// The one hotel of a staff, PMS, channel or provider credential.
    pub hotel: Option<HotelId>,
}

/// `None` for a token that nobody has, that has ended or was revoked. Sessions end in real time.
pub async fn find(connection: &mut PgConnection, token: TokenHash) -> Result<Option<Bearer>, DbError> {
    let row = sqlx::query!(
        r#"-- store::bearers::find
        SELECT principal_id AS "principal_id!", 'guest' AS "role!", NULL::integer AS hotel_id
        FROM directory.guest_sessions
        WHERE token_hash = $1
          AND expires_at >= now()
        UNION ALL
        SELECT principal_id, role, hotel_id
        FROM directory.credentials
        WHERE token_hash = $1
          AND revoked_at IS NULL"#,
        token.0.as_slice()
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let role = Role::from_name(&row.role).ok_or_else(|| DbError::unreadable("role", &row.role))?;
    Ok(Some(Bearer { principal: PrincipalId(row.principal_id), role, hotel: row.hotel_id.map(HotelId) }))
}
