//! API keys of a hotel.

use std::fmt;

use keyrack_domain::{code::ChannelCode, ids::CredentialId, principal::Role};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /v1/hotels/{hotel}/credentials`
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CredentialRequest {
    pub role: CredentialRole,
    /// What it is for, in your words.
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// Binds a channel's credential to one channel.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub channel: Option<ChannelCode>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CredentialRole {
    /// Works behind the desk of the hotel.
    Staff,
    /// The hotel's own system.
    Pms,
    /// Sells for the hotel under booking identifiers of its own.
    Channel,
    /// Takes its payments.
    Provider,
}

impl From<CredentialRole> for Role {
    fn from(role: CredentialRole) -> Self {
        match role {
            CredentialRole::Staff => Self::Staff,
            CredentialRole::Pms => Self::Pms,
            CredentialRole::Channel => Self::Channel,
            CredentialRole::Provider => Self::Provider,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Credential {
    #[schema(value_type = String)]
    pub id: CredentialId,
    pub role: CredentialRole,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// For `Authorization: Bearer`. Shown once: a repeat of the call has it no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A token belongs in no log.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential({}, {:?})", self.id, self.role)
    }
}
