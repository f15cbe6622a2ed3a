//! Tokens are looked up in the directory.

use async_trait::async_trait;
use keyrack_booking::{Desk, credentials};
use keyrack_domain::token::TokenHash;
use keyrack_http::{Authenticator, Known, NotReachable};

#[derive(Clone, Debug)]
pub(crate) struct DirectoryAuthenticator(pub(crate) Desk);

#[async_trait]
impl Authenticator for DirectoryAuthenticator {
    async fn authenticate(&self, token: TokenHash) -> Result<Option<Known>, NotReachable> {
        let found = credentials::authenticate(self.0.shards(), token).await;
        let found = found.map_err(|fault| NotReachable(Box::new(fault)))?;
        Ok(found.map(|bearer| Known { principal: bearer.principal, role: bearer.role, hotel: bearer.hotel }))
    }
}
