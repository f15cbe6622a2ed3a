//! What became of earlier calls with a key.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{booking::Booking, hold::Hold, instant::Instant, inventory::InventoryNights};

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
    /// The HTTP status that a repeat would be answered with now.
    pub status: u16,
    /// As it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// As it stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub booking: Option<Booking>,
    /// As it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<InventoryNights>,
}
