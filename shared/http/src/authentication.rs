//! Who is calling: `Authorization: Bearer <token>`.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use async_trait::async_trait;
use keyrack_api_types::code::Code;
use keyrack_domain::{
    ids::{HotelId, PrincipalId},
    principal::{Caller, Role},
    token::TokenHash,
};
use sha2::{Digest, Sha256};

use crate::{problem::Problem, request_id::RequestId};

/// Longer than any token that we issue.
const MAX_TOKEN: usize = 512;

/// Asked for every request that needs a caller; implemented over the directory.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// `None`: unknown, ended or withdrawn; the caller is not told which.
    async fn authenticate(&self, token: TokenHash) -> Result<Option<Known>, NotReachable>;
}

/// What a token stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    pub principal: PrincipalId,
    pub role: Role,
    /// The one hotel of a staff, PMS, channel or provider credential.
    pub hotel: Option<HotelId>,
}

/// Tokens cannot be looked up now: 503, never 401.
#[derive(Debug, thiserror::Error)]
#[error("tokens cannot be looked up")]
pub struct NotReachable(#[source] pub Box<dyn std::error::Error + Send + Sync>);

pub(crate) async fn caller(
    authenticator: &dyn Authenticator,
    headers: &HeaderMap,
    request_id: &RequestId,
) -> Result<Caller, Problem> {
    let token = bearer(headers).ok_or_else(unauthenticated)?;
    let known = authenticator.authenticate(hash(token)).await.map_err(|error| {
        Problem::new(Code::Unavailable, "Credentials cannot be checked at the moment.")
            .retry_after(std::time::Duration::from_secs(1))
            .caused_by(error)
    })?;
    let Known { principal, role, hotel } = known.ok_or_else(unauthenticated)?;
    Ok(Caller { principal, role, hotel, request_id: request_id.to_string() })
}

/// Of the token's text, as it stands in the header.
fn hash(token: &str) -> TokenHash {
    TokenHash(Sha256::digest(token.as_bytes()).into())
}

/// Two such headers are as good as none: it must not depend on who reads which.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION);
    let (Some(value), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim_matches(' ');
    let usable = scheme.eq_ignore_ascii_case("bearer")
        && (1..=MAX_TOKEN).contains(&token.len())
        && token.bytes().all(|b| b.is_ascii_graphic());
    usable.then_some(token)
}

fn unauthenticated() -> Problem {
    Problem::new(
        Code::Unauthenticated,
        "Send Authorization: Bearer with the token of a guest session or an API key that is valid.",
    )
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).expect("a header"));
        }
        headers
    }

    #[test]
    fn only_one_bearer_token_is_read() {
        assert_eq!(bearer(&headers(&["Bearer abc"])), Some("abc"));
        assert_eq!(bearer(&headers(&["bearer  abc "])), Some("abc"));
        let long = format!("Bearer {}", "x".repeat(513));
        for bad in [
            &[][..],
            &["abc"],
            &["Basic abc"],
            &["Bearer "],
            &["Bearer a b"],
            &["Bearer a", "Bearer a"],
            &[&long],
        ] {
            assert_eq!(bearer(&headers(bad)), None, "{bad:?}");
        }
    }
}
