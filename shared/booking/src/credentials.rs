//! API keys: `POST /v1/hotels/{h}/credentials`, and who a token speaks for.

use std::sync::Arc;

use keyrack_db::{DbError, Shards};
use keyrack_domain::{
    actor::Actor,
    code::{ChannelCode, HotelCode},
    ids::{CredentialId, HotelId, PrincipalId},
    operation_key::{Endpoint, OperationKey},
    principal::{Caller, Role},
    text::check_line,
    token::TokenHash,
};
pub use keyrack_store::bearers::Bearer;
use keyrack_store::{audit::NewAudit, bearers, credentials, credentials::NewCredential};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::{
    Answered, Fault, FieldError, KeyRefusal, entropy,
    hotel_directory::{HotelDirectory, NoHotel},
    key_claim::{self, Call, Done},
    token::{FreshToken, TokenKind},
};

pub const ENDPOINT: Endpoint = Endpoint("POST /v1/hotels/{hotel}/credentials");

#[derive(Clone, Debug, Serialize)]
pub struct CredentialInput {
    /// Staff, PMS, channel or provider.
    pub role: Role,
    pub name: String,
    /// A channel credential may be bound to one channel.
    pub channel: Option<ChannelCode>,
}

#[derive(Debug)]
pub struct CredentialView {
    pub id: CredentialId,
    pub role: Role,
    pub name: String,
    pub channel: Option<ChannelCode>,
    /// Shown once: absent in a repeat, since only its hash is kept.
    pub token: Option<SecretString>,
}

#[derive(Debug, thiserror::Error)]
pub enum CreateCredentialError {
    /// Also for everybody but operators.
    #[error("no such hotel")]
    HotelNotFound,
    #[error("the input is wrong")]
    Invalid(Vec<FieldError>),
    #[error(transparent)]
    Key(#[from] KeyRefusal),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<NoHotel> for CreateCredentialError {
    fn from(error: NoHotel) -> Self {
        match error {
            NoHotel::NotFound => Self::HotelNotFound,
            NoHotel::Fault(fault) => Self::Fault(fault),
        }
    }
}

/// What is recorded under the key: who the credential is, never its token.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Issued {
    id: CredentialId,
    principal: PrincipalId,
}

/// Which credential a recorded call has made.
pub fn made_by(recorded: &serde_json::Value) -> Result<CredentialId, serde_json::Error> {
    Ok(Issued::deserialize(recorded)?.id)
}

/// The key lives with the hotel and the credential in the directory: two databases. So the intention is
/// committed first, and the row second, by whichever call comes by: a repeat after a crash in
/// between makes the row and is the one that shows the token.
pub async fn create(
    hotels: &HotelDirectory,
    caller: &Caller,
    hotel: &HotelCode,
    input: CredentialInput,
    key: OperationKey,
) -> Result<Answered<CredentialView>, CreateCredentialError> {
    if caller.role != Role::Operator {
        return Err(CreateCredentialError::HotelNotFound);
    }
    let hotel = hotels.by_code(hotel).await?;
    let faults = faults(&input);
    if !faults.is_empty() {
        return Err(CreateCredentialError::Invalid(faults));
    }
    let call = Call::new(hotels, hotel.id, caller, ENDPOINT, key, &input)?;
    let audit = audit(hotel.id, caller, &input)?;
    let issued = Issued {
        id: CredentialId::new(hotel.id, entropy::id()),
        principal: PrincipalId(entropy::principal()),
    };
    let claimed = key_claim::once(hotels.database(&hotel)?, "create_credential", call, move |_| {
        let audit = NewAudit { subject: issued.id.to_string(), ..audit.clone() };
        Box::pin(async move { Ok(Done { answer: issued, audit: vec![audit], events: Vec::new() }) })
    });
    let claimed: Result<_, CreateCredentialError> = claimed.await;
    let Issued { id, principal } = claimed?.answer;
    let CredentialInput { role, name, channel } = input;
    let credential = NewCredential { id, principal, role, hotel: Some(hotel.id), channel, name };
    let token = insert(hotels.shards(), &credential).await?;
    let NewCredential { role, name, channel, .. } = credential;
    Ok(Answered { replayed: token.is_none(), answer: CredentialView { id, role, name, channel, token } })
}

/// An operator's key, made by whoever sets the installation up.
pub async fn create_operator(shards: &Shards, name: String) -> Result<(PrincipalId, SecretString), Fault> {
    let principal = PrincipalId(entropy::principal());
    // Of no hotel; the number stands in nothing but the id's text.
    let id = CredentialId::new(HotelId(0), entropy::id());
    let (role, hotel, channel) = (Role::Operator, None, None);
    let credential = NewCredential { id, principal, role, hotel, channel, name };
    let token = insert(shards, &credential).await?;
    let token = token.ok_or_else(|| Fault::internal("a new credential was there already"))?;
    Ok((principal, token))
}

/// `None`: the credential is there already, and nobody can say its token any more.
async fn insert(shards: &Shards, credential: &NewCredential) -> Result<Option<SecretString>, Fault> {
    let token = FreshToken::new(TokenKind::ApiKey, entropy::secret());
    let (credential, hash) = (Arc::new(credential.clone()), token.hash);
    let issuing: Result<bool, DbError> = shards
        .directory()
        .transaction("issue_credential", move |connection| {
            let credential = Arc::clone(&credential);
            Box::pin(async move { credentials::insert(connection, &credential, hash).await })
        })
        .await;
    let made = issuing?;
    Ok(made.then_some(token.text))
}

/// Who a token speaks for: a guest session's or an API key's. `None` for one that is unknown, has
/// ended or was revoked.
pub async fn authenticate(shards: &Shards, token: TokenHash) -> Result<Option<Bearer>, Fault> {
    let mut connection = shards.directory().connection().await?;
    Ok(bearers::find(&mut connection, token).await?)
}

fn faults(input: &CredentialInput) -> Vec<FieldError> {
    let mut faults = Vec::new();
    if !matches!(input.role, Role::Staff | Role::Pms | Role::Channel | Role::Provider) {
        let rule = "must be staff, pms, channel or provider";
        faults.push(FieldError::new("/role", "INVALID_VALUE", rule));
    }
    if let Err(fault) = check_line(&input.name, 255) {
        faults.push(FieldError::new("/name", fault.code(), fault.to_string()));
    }
    if input.channel.is_some() && input.role != Role::Channel {
        let rule = "belongs to credentials of role channel only";
        faults.push(FieldError::new("/channel", "NOT_ALLOWED", rule));
    }
    faults
}

fn audit(hotel: HotelId, caller: &Caller, input: &CredentialInput) -> Result<NewAudit, Fault> {
    Ok(NewAudit {
        hotel,
        actor: Actor::Caller(caller.clone()),
        action: "credential.created",
        subject: String::new(),
        before: None,
        after: Some(serde_json::to_value(input).map_err(Fault::internal)?),
    })
}
