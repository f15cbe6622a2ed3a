//! One thing that happened, as it is told.

use keyrack_domain::{
    clock::Moment,
    ids::{HotelId, QuoteId},
    money::Money,
};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    pub at: Moment,
    pub happened: Happened,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Happened {
    Quote {
        quote: QuoteId,
        expires_at: Moment,
    },
    /// One commit, and everything of this booking that it committed.
    Transaction {
        /// `None`: it was committed before this was kept; its events and movements are not known.
        transaction: Option<String>,
        entries: Vec<Entry>,
        events: Vec<Event>,
        movements: Vec<Movement>,
    },
    /// `at` is when it was asked. Without an outcome it is under way, or its process died over it.
    ProviderCall {
        call: String,
        reference: String,
        answered_at: Option<Moment>,
        outcome: Option<String>,
        detail: Option<String>,
    },
    Notice {
        provider: String,
        event: String,
        told: String,
        reference: String,
        amount: Option<Money>,
        outcome: String,
        finding: Option<String>,
        transaction: Option<String>,
    },
    /// A call that was answered from its recorded key.
    Replay {
        action: String,
        subject: String,
        actor: String,
        request_id: Option<String>,
        state: Option<String>,
        picked_up: Option<String>,
    },
}

/// Of the audit.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Entry {
    pub action: String,
    pub subject: String,
    pub actor: String,
    pub request_id: Option<String>,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// Of the outbox.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Event {
    #[serde(rename = "type")]
    pub name: String,
    pub payload: Value,
}

/// Money that became known to have moved, or was promised to.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Movement {
    pub kind: String,
    pub reference: String,
    pub amount: Money,
}

/// As the store writes it.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Raw {
    Quote {
        quote: Uuid,
        expires_at: Moment,
    },
    Transaction {
        transaction_id: Option<String>,
        entries: Vec<Entry>,
        events: Vec<Event>,
        movements: Vec<Movement>,
    },
    ProviderCall {
        call: String,
        reference: String,
        answered_at: Option<Moment>,
        outcome: Option<String>,
        detail: Option<String>,
    },
    Notice {
        provider: String,
        event_id: String,
        told: String,
        reference: String,
        amount: Option<Money>,
        outcome: String,
        finding: Option<String>,
        transaction_id: Option<String>,
    },
    Replay {
        action: String,
        subject: String,
        actor: String,
        request_id: Option<String>,
        state: Option<String>,
        picked_up: Option<String>,
    },
}

pub(super) fn read(hotel: HotelId, item: Value) -> Result<Happened, serde_json::Error> {
    Ok(match serde_json::from_value(item)? {
        Raw::Quote { quote, expires_at } => Happened::Quote { quote: QuoteId::new(hotel, quote), expires_at },
        Raw::Transaction { transaction_id, mut entries, mut events, movements } => {
            for entry in &mut entries {
                entry.before.iter_mut().chain(&mut entry.after).for_each(without_guest);
            }
            for event in &mut events {
                without_guest(&mut event.payload);
            }
            Happened::Transaction { transaction: transaction_id, entries, events, movements }
        }
        Raw::ProviderCall { call, reference, answered_at, outcome, detail } => {
            Happened::ProviderCall { call, reference, answered_at, outcome, detail }
        }
        Raw::Notice {
            provider,
            event_id: event,
            told,
            reference,
            amount,
            outcome,
            finding,
            transaction_id,
        } => {
            let transaction = transaction_id;
            Happened::Notice { provider, event, told, reference, amount, outcome, finding, transaction }
        }
        Raw::Replay { action, subject, actor, request_id, state, picked_up } => {
            Happened::Replay { action, subject, actor, request_id, state, picked_up }
        }
    })
}

/// Takes out what may speak of a guest: a reason that is not one of our words was written by staff.
fn without_guest(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| match (name.as_str(), value.as_str()) {
                ("guest" | "note" | "email" | "phone" | "method_token", _) => false,
                ("reason", Some(text)) => is_word(text),
                _ => true,
            });
            fields.values_mut().for_each(without_guest);
        }
        Value::Array(items) => items.iter_mut().for_each(without_guest),
        _ => {}
    }
}

fn is_word(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(word)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_may_speak_of_a_guest_is_not_told() {
        let mut told = json!({
            "guest": {"name": "Asha Rao"}, "reason": "Asha Rao complained", "amount": "1.00",
            "rooms": [{"note": "for Asha Rao", "room": 1, "reason": "no_room"}],
        });
        without_guest(&mut told);
        assert_eq!(told, json!({"amount": "1.00", "rooms": [{"room": 1, "reason": "no_room"}]}));
    }
}
