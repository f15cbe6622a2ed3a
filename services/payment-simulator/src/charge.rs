//! What `GET /simulator/charges` shows: one line per reference.

use serde::{Deserialize, Serialize};

use crate::{
    input::{Amount, ReferenceName},
    method::Method,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Authorize,
    Capture,
    Void,
    Refund,
}

/// What became of the call. Only `Captured` took money; only `Refunded` gave any back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Received, and nothing has happened yet.
    Waiting,
    Authorized,
    /// The customer has been sent to the provider's page, and has not decided.
    ActionRequired,
    Declined,
    Captured,
    /// A capture that the method refuses, or a refund that came to nothing afterwards.
    Failed,
    Voided,
    Refunded,
    /// Not accepted: nothing happened, and the reference is free.
    Refused,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Charge {
    pub reference: ReferenceName,
    pub kind: Kind,
    pub state: State,
    /// Minor units. None for a void, and for an authorization that was voided before it was asked for.
    #[serde(flatten)]
    pub amount: Option<Amount>,
    pub method: Option<Method>,
    /// The reference that this call acts on: a capture's authorization, a refund's capture.
    pub of: Option<ReferenceName>,
    /// How often the provider was asked, repeats and refused calls included.
    pub calls: u32,
    /// What has gone back of this capture, in minor units.
    pub refunded: u64,
}
