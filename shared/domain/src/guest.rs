//! Who will sleep there, as they wrote it. Never in a log: `Debug` shows no detail.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::{TextFault, check_line, check_text};

/// Longest texts, in code points.
pub const MAX_NAME: usize = 255;
pub const MAX_EMAIL: usize = 254;
pub const MAX_PHONE: usize = 32;
pub const MAX_NOTE: usize = 2_000;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "GuestDetails", into = "GuestDetails")]
pub struct Guest(GuestDetails);

/// The details before they are checked.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GuestDetails {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuestField {
    Name,
    Email,
    Phone,
    Note,
}

impl GuestField {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Note => "note",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} {fault}", field.as_str())]
pub struct GuestFault {
    pub field: GuestField,
    pub fault: TextFault,
}

/// Guest details that cannot be kept; all that is wrong with them.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} guest details cannot be accepted", .0.len())]
pub struct InvalidGuest(pub Vec<GuestFault>);

impl Guest {
    pub fn new(details: GuestDetails) -> Result<Self, InvalidGuest> {
        let checks = [
            (GuestField::Name, check_text(&details.name, MAX_NAME)),
            (GuestField::Email, details.email.as_deref().map_or(Ok(()), check_email)),
            (
                GuestField::Phone,
                details.phone.as_deref().map_or(Ok(()), |phone| check_line(phone, MAX_PHONE)),
            ),
            (GuestField::Note, details.note.as_deref().map_or(Ok(()), |note| check_text(note, MAX_NOTE))),
        ];
        let faults = checks.into_iter().filter_map(|(field, check)| {
            let fault = check.err()?;
            Some(GuestFault { field, fault })
        });
        let faults: Vec<_> = faults.collect();
        if faults.is_empty() { Ok(Self(details)) } else { Err(InvalidGuest(faults)) }
    }

    /// For a booking, whose confirmation goes out by mail.
    pub fn with_email(details: GuestDetails) -> Result<Self, InvalidGuest> {
        if details.email.is_some() {
            return Self::new(details);
        }
        let mut faults = Self::new(details).err().map_or_else(Vec::new, |invalid| invalid.0);
        faults.push(GuestFault { field: GuestField::Email, fault: TextFault::Missing });
        Err(InvalidGuest(faults))
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn email(&self) -> Option<&str> {
        self.0.email.as_deref()
    }

    pub fn phone(&self) -> Option<&str> {
        self.0.phone.as_deref()
    }

    pub fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }
}

/// Only what no mail server could take is refused; the rest is found out by writing to it.
fn check_email(email: &str) -> Result<(), TextFault> {
    check_line(email, MAX_EMAIL)?;
    let mut parts = email.split('@');
    let whole = match (parts.next(), parts.next(), parts.next()) {
        (Some(local), Some(domain), None) => !local.is_empty() && !domain.is_empty(),
        _ => false,
    };
    if whole && !email.contains(char::is_whitespace) { Ok(()) } else { Err(TextFault::NotAnEmail) }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guest(..)")
    }
}

impl fmt::Debug for GuestDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GuestDetails(..)")
    }
}

impl TryFrom<GuestDetails> for Guest {
    type Error = InvalidGuest;

    fn try_from(details: GuestDetails) -> Result<Self, InvalidGuest> {
        Self::new(details)
    }
}

impl From<Guest> for GuestDetails {
    fn from(guest: Guest) -> Self {
        guest.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> GuestDetails {
        GuestDetails { name: name.to_owned(), ..GuestDetails::default() }
    }

    fn fault(details: GuestDetails) -> Option<(GuestField, TextFault)> {
        let invalid = Guest::new(details).err()?;
        assert_eq!(invalid.0.len(), 1);
        Some((invalid.0[0].field, invalid.0[0].fault))
    }

    #[test]
    fn b132_a_name_that_cannot_be_stored_or_read_is_refused_with_its_field() {
        let cases = [
            ("A\0B", TextFault::ControlCharacter),
            ("A\u{1b}[31mB", TextFault::ControlCharacter),
            ("", TextFault::Blank),
            ("   \u{3000}", TextFault::Blank),
            (&"x".repeat(10_000), TextFault::TooLong { max: 255 }),
            (&"é".repeat(256), TextFault::TooLong { max: 255 }),
        ];
        for (name, why) in cases {
            assert_eq!(fault(named(name)), Some((GuestField::Name, why)), "{name:?}");
        }
    }

    #[test]
    fn b135_b136_b137_names_come_back_exactly_as_typed() {
        let names = [
            "👩\u{200d}👩\u{200d}👧 Zoë Nguyễn-O'Neil",
            "محمد \u{200f}الأمين",
            "Jose\u{301}",
            "José",
            "Aaron O'Sullivan",
            "Michaël D'Hondt",
            "Nguyễn; DROP TABLE",
            "X",
            " spaces stay ",
            "<img src=x onerror=alert(1)>",
            "=HYPERLINK(\"http://x\",\"y\")",
            "\t+1",
            "\r-1",
            &"語".repeat(255),
        ];
        for name in names {
            let guest = Guest::new(named(name)).expect("a guest");
            let stored = serde_json::to_string(&guest).expect("json");
            let back: Guest = serde_json::from_str(&stored).expect("a guest");
            assert_eq!(back.name().as_bytes(), name.as_bytes());
        }
        assert!(serde_json::from_str::<Guest>(r#"{"name": "A\u0000B"}"#).is_err());
        assert!(serde_json::from_str::<Guest>(r#"{"name": "\ud800"}"#).is_err());
    }

    #[test]
    fn an_email_is_only_asked_to_be_plausible_and_a_booking_needs_one() {
        let with = |email: &str| GuestDetails { email: Some(email.to_owned()), ..named("X") };
        for good in ["a@b", "zoë+hotel@exämple.org", &format!("a@{}", "b".repeat(252))] {
            assert_eq!(fault(with(good)), None, "{good:?}");
        }
        for bad in ["a", "@", "a@", "@b", "a@b@c", "a @b", "a@b\u{a0}"] {
            assert_eq!(fault(with(bad)), Some((GuestField::Email, TextFault::NotAnEmail)), "{bad:?}");
        }
        assert!(fault(with("a@b\r\nBcc: c@d")).is_some());
        assert!(fault(with(&format!("a@{}", "b".repeat(253)))).is_some());
        let missing = Guest::with_email(named("")).expect_err("neither name nor email");
        let told: Vec<_> = missing.0.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["name must not be empty or only spaces", "email must be given"]);
    }

    #[test]
    fn nothing_of_a_guest_is_shown_by_debug() {
        let details = GuestDetails { email: Some("zoe@example.org".to_owned()), ..named("Zoë") };
        assert_eq!(format!("{details:?}"), "GuestDetails(..)");
        assert_eq!(format!("{:?}", Guest::new(details)), "Ok(Guest(..))");
    }
}
