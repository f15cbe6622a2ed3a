//! What became of earlier calls with a key.

use keyrack_domain::ids::CredentialId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    booking::Booking, cancellation::Cancellation, hold::Hold, instant::Instant, inventory::InventoryNights,
    quote::Quote,
};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Operations {
    /// Oldest first. Empty: no call with this key left a record. A refused call leaves none.
    pub items: Vec<Operation>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Operation {
    #[schema(example = "POST /v1/holds")]
    pub endpoint: String,
    pub hotel: String,
    pub at: Instant,
    /// The HTTP status that a repeat would be answered with now: 409 once the key is too old for it.
    pub status: u16,
    /// Where what it made or changed is to be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// As it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
    /// As it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// As it stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub booking: Option<Booking>,
    /// As it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<InventoryNights>,
    /// As it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<Cancellation>,
    /// Which credential was made. Its token was shown once, and is not known to us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub credential_id: Option<CredentialId>,
}
