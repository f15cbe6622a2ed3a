//! What an answer of Stripe says, read without good will.
//!
//! | status | means |
//! | --- | --- |
//! | 200 | the object as it stands |
//! | 402 | the card, or the bank behind it, said no |
//! | 400, 401, 403, 404 with Stripe's error object | the call was not accepted, and did nothing |
//! | 409 (the key is being worked on), 429, 5xx, everything else | nobody knows |

use reqwest::StatusCode;
use serde::{Deserialize, de::DeserializeOwned};

use super::intent::Intent;
pub(super) use crate::exchange::Failed;
use crate::outcome::{DeclineReason, Doubt};

/// Stripe's own words about our call.
#[derive(Debug)]
pub(super) enum Heard<T> {
    Done(T),
    Declined(Complaint),
    /// The key stands for a call with other parameters.
    KeyTaken,
    NotAccepted(Complaint),
}

#[derive(Deserialize)]
struct Envelope {
    error: Complaint,
}

#[derive(Deserialize, Debug)]
pub(super) struct Complaint {
    #[serde(rename = "type")]
    kind: String,
    code: Option<String>,
    decline_code: Option<String>,
    pub(super) param: Option<String>,
    /// Of a card that was declined: the intent exists, and says so.
    pub(super) payment_intent: Option<Box<Intent>>,
    #[serde(skip)]
    pub(super) missing: bool,
}

impl<T: DeserializeOwned> Heard<T> {
    pub(super) fn read(status: StatusCode, body: &[u8]) -> Result<Self, Failed> {
        match status.as_u16() {
            200 => match serde_json::from_slice(body) {
                Ok(object) => Ok(Self::Done(object)),
                Err(error) => Err(unreadable(error)),
            },
            code @ 400..=404 => {
                // Without the provider's own words a 4xx may be anybody's: a proxy's, another server's.
                let Ok(Envelope { mut error }) = serde_json::from_slice(body) else {
                    return Err(Failed::Unknown(Doubt::Status(code)));
                };
                error.missing = code == 404;
                Self::complained(code, error)
            }
            code => Err(Failed::Unknown(Doubt::Status(code))),
        }
    }

    fn complained(status: u16, error: Complaint) -> Result<Self, Failed> {
        match (status, error.kind.as_str()) {
            (402, _) => Ok(Self::Declined(error)),
            (_, "idempotency_error") => Ok(Self::KeyTaken),
            (_, "invalid_request_error") => Ok(Self::NotAccepted(error)),
            // Stripe's own trouble, under whatever status, and kinds that are not known yet.
            _ => Err(Failed::Unknown(Doubt::Status(status))),
        }
    }
}

impl Complaint {
    /// The issuer's word says more than Stripe's.
    pub(super) fn reason(&self) -> DeclineReason {
        let word = self.decline_code.as_deref().or(self.code.as_deref());
        DeclineReason::from_provider(word.unwrap_or_default())
    }

    pub(super) fn says(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }
}

pub(super) fn unreadable(error: impl Into<crate::outcome::BoxError>) -> Failed {
    Failed::Unknown(Doubt::Unreadable(error.into()))
}

/// Of an answer that cannot be about our call.
pub(super) fn not_asked_for() -> Failed {
    Failed::Unknown(Doubt::NotWhatWasAsked)
}
