//! An instant that decides something. It comes from one authority, the database's clock plus the
//! sandbox's offset, and is passed in; nothing in this crate asks what time it is.

use std::{fmt, time::Duration};

use chrono::{DateTime, NaiveDate, SecondsFormat, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub DateTime<Utc>);

impl Moment {
    /// Saturates at the end of the calendar: a deadline may not wrap round.
    pub fn plus(self, wait: Duration) -> Self {
        let wait = TimeDelta::from_std(wait).unwrap_or(TimeDelta::MAX);
        Self(self.0.checked_add_signed(wait).unwrap_or(DateTime::<Utc>::MAX_UTC))
    }

    /// Saturates at the beginning of the calendar.
    pub fn minus(self, age: Duration) -> Self {
        let age = TimeDelta::from_std(age).unwrap_or(TimeDelta::MAX);
        Self(self.0.checked_sub_signed(age).unwrap_or(DateTime::<Utc>::MIN_UTC))
    }

    /// A deadline includes its own instant: valid while `now <= deadline`.
    pub fn is_past(self, deadline: Self) -> bool {
        self > deadline
    }

    /// Time left until `later`, zero when it has gone by.
    pub fn until(self, later: Self) -> Duration {
        (later.0 - self.0).to_std().unwrap_or(Duration::ZERO)
    }

    /// The date on the wall of a hotel.
    pub fn date_in(self, zone: Tz) -> NaiveDate {
        self.0.with_timezone(&zone).date_naive()
    }
}

/// RFC 3339 in UTC with `Z`, microseconds only where there are any.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_includes_its_instant() {
        let start = Moment(DateTime::UNIX_EPOCH);
        let deadline = start.plus(Duration::from_secs(600));
        assert!(!deadline.is_past(deadline));
        assert!(deadline.plus(Duration::from_micros(1)).is_past(deadline));
    }

    #[test]
    fn adding_past_the_calendar_saturates() {
        assert_eq!(Moment(DateTime::UNIX_EPOCH).plus(Duration::MAX).0, DateTime::<Utc>::MAX_UTC);
    }
}
