//! A local date as the API writes it: `YYYY-MM-DD`, and nothing else.

use std::{fmt, str::FromStr};

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::ToSchema;

/// Stricter than a `NaiveDate`, which also reads `2026-2-3`, spaces and years of six digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, ToSchema)]
#[schema(value_type = String, format = Date)]
pub struct Date(pub NaiveDate);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a date of the form YYYY-MM-DD")]
pub struct NotADate;

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let shape = text.len() == 10
            && text
                .bytes()
                .enumerate()
                .all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() });
        if !shape {
            return Err(NotADate);
        }
        text.parse().map(Self).map_err(|_| NotADate)
    }
}

impl From<NaiveDate> for Date {
    fn from(date: NaiveDate) -> Self {
        Self(date)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'_, str>::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b108_only_a_date_of_the_calendar_written_in_full_is_read() {
        assert!("2026-11-14".parse::<Date>().is_ok());
        for text in [
            "",
            "262142-12-30",
            "+262142-12-30",
            "2026-02-30",
            "2026-2-3",
            "2026-11-14T00:00Z",
            " 2026-11-14",
            "2026- 1-14",
            "-026-11-14",
            "２026-11-14",
        ] {
            assert_eq!(text.parse::<Date>(), Err(NotADate), "{text:?}");
        }
    }
}
