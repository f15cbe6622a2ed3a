use keyrack_domain::{clock::Moment, ids::HotelId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

/// One outbox row on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    pub hotel: HotelId,
    /// Of two events that touch one night, the later has the larger.
    pub seq: i64,
    pub event_id: Uuid,
    /// Such as `hold.placed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Of the payload's meaning.
    pub version: i16,
    /// When it was committed, in the clock that decides.
    pub created_at: Moment,
    /// As it was stored: only who acts on it reads it.
    pub payload: Box<RawValue>,
}
