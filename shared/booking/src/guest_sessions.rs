//! A traveler without an account: `POST /v1/guest-sessions`. No key: a session that nobody uses harms nobody.

use std::time::Duration;

use keyrack_db::{DbError, Shards};
use keyrack_domain::{clock::Moment, ids::PrincipalId};
use keyrack_store::guest_sessions;
use secrecy::SecretString;

use crate::{
    Fault, entropy,
    token::{FreshToken, TokenKind},
};

/// Real time. Long enough to come back for a stay that was booked far ahead.
pub const LASTS: Duration = Duration::from_secs(400 * 24 * 3600);

#[derive(Debug)]
pub struct GuestSession {
    pub principal: PrincipalId,
    /// Shown now and never again.
    pub token: SecretString,
    pub expires_at: Moment,
}

pub async fn open(shards: &Shards, lasts: Duration) -> Result<GuestSession, Fault> {
    let principal = PrincipalId(entropy::principal());
    let token = FreshToken::new(TokenKind::GuestSession, entropy::secret());
    let hash = token.hash;
    let opening: Result<Moment, DbError> = shards
        .directory()
        .transaction("open_guest_session", move |connection| {
            Box::pin(async move { guest_sessions::insert(connection, hash, principal, lasts).await })
        })
        .await;
    let expires_at = opening?;
    Ok(GuestSession { principal, token: token.text, expires_at })
}
