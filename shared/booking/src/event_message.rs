//! An outbox row as a message, and back: where an event waits it is a row.

use keyrack_messaging::Message;
use keyrack_store::relay::WaitingEvent;
use serde_json::value::RawValue;

use crate::Fault;

pub(crate) fn message(event: WaitingEvent) -> Result<Message, Fault> {
    Ok(Message {
        hotel: event.hotel,
        seq: event.seq,
        event_id: event.event_id,
        kind: event.kind,
        version: event.version,
        created_at: event.created_at,
        payload: RawValue::from_string(event.payload).map_err(Fault::internal)?,
    })
}

pub(crate) fn row(message: &Message) -> WaitingEvent {
    WaitingEvent {
        hotel: message.hotel,
        seq: message.seq,
        event_id: message.event_id,
        kind: message.kind.clone(),
        version: message.version,
        created_at: message.created_at,
        payload: message.payload.get().to_owned(),
    }
}
