//! Who will sleep there. As typed: never trimmed, folded or normalized.

use std::fmt;

use keyrack_domain::guest::{self, GuestDetails, InvalidGuest};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::FieldError;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Guest {
    /// 1 to 255 code points.
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// Required on `POST /v1/bookings`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 254)]
    pub email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 32)]
    pub phone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub note: Option<String>,
}

impl Guest {
    /// For a booking, whose confirmation goes out by mail. `pointer` is its place in the body.
    pub fn with_email(self, pointer: &str) -> Result<guest::Guest, Vec<FieldError>> {
        told(pointer, guest::Guest::with_email(self.details()))
    }

    /// Without an email it will do: the channel writes to its guest.
    pub fn checked(self, pointer: &str) -> Result<guest::Guest, Vec<FieldError>> {
        told(pointer, guest::Guest::new(self.details()))
    }

    fn details(self) -> GuestDetails {
        let Self { name, email, phone, note } = self;
        GuestDetails { name, email, phone, note }
    }
}

fn told(pointer: &str, checked: Result<guest::Guest, InvalidGuest>) -> Result<guest::Guest, Vec<FieldError>> {
    checked.map_err(|InvalidGuest(faults)| {
        let told = faults.into_iter().map(|fault| FieldError {
            pointer: format!("{pointer}/{}", fault.field.as_str()),
            code: fault.fault.code().into(),
            detail: fault.fault.to_string(),
        });
        told.collect()
    })
}

impl From<guest::Guest> for Guest {
    fn from(guest: guest::Guest) -> Self {
        let GuestDetails { name, email, phone, note } = guest.into();
        Self { name, email, phone, note }
    }
}

/// Nothing of a guest belongs in a log.
impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guest(..)")
    }
}
