//! Instants: RFC 3339 in UTC with `Z`. Those that concern a hotel are given twice.

use std::fmt;

use chrono::{DateTime, FixedOffset};
use keyrack_domain::clock::Moment;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::ToSchema;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ToSchema)]
#[schema(value_type = String, format = DateTime)]
pub struct Instant(pub Moment);

impl From<Moment> for Instant {
    fn from(moment: Moment) -> Self {
        Self(moment)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(d)?;
        let read: Result<DateTime<FixedOffset>, _> = DateTime::parse_from_rfc3339(&text);
        let at =
            read.map_err(|_| de::Error::custom("must be an RFC 3339 instant such as 2026-01-10T06:00:00Z"))?;
        Ok(Self(Moment(at.to_utc())))
    }
}

/// An instant that concerns a hotel: in UTC, and as its wall shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct LocalInstant {
    pub at: Instant,
    /// With offset: `2026-11-12T18:00:00+05:30`.
    pub local: String,
}
