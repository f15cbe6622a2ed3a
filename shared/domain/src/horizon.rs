//! How far ahead nights are sold. Counted from the hotel's own today.

use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};

/// Nights from today until so many days later, both included, can be quoted and edited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Horizon {
    days: u16,
}

impl Default for Horizon {
    fn default() -> Self {
        Self::days(750)
    }
}

impl Horizon {
    pub const fn days(days: u16) -> Self {
        Self { days }
    }

    /// The last night that can be sold.
    pub fn last_night(self, today: NaiveDate) -> NaiveDate {
        today.checked_add_days(Days::new(u64::from(self.days))).unwrap_or(NaiveDate::MAX)
    }

    /// The last night for which inventory is opened: one more than can be sold, so that at the
    /// hotel's midnight the new last night is there before any worker has run.
    pub fn opened_until(self, today: NaiveDate) -> NaiveDate {
        let last = self.last_night(today);
        last.succ_opt().unwrap_or(last)
    }

    /// Nights from today until the last one.
    pub fn nights(self) -> usize {
        usize::from(self.days) + 1
    }

    pub fn contains(self, today: NaiveDate, night: NaiveDate) -> bool {
        (today..=self.last_night(today)).contains(&night)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::day;

    /// B085: both ends are nights that can be sold.
    #[test]
    fn b085_the_horizon_includes_today_and_its_last_night_and_nothing_beyond() {
        let (horizon, today) = (Horizon::days(365), day("2026-01-10"));
        assert_eq!(horizon.last_night(today), day("2027-01-10"));
        assert_eq!(horizon.opened_until(today), day("2027-01-11"));
        assert_eq!(horizon.nights(), 366);
        let cases =
            [("2026-01-09", false), ("2026-01-10", true), ("2027-01-10", true), ("2027-01-11", false)];
        for (night, inside) in cases {
            assert_eq!(horizon.contains(today, day(night)), inside, "{night}");
        }
    }

    #[test]
    fn a_horizon_at_the_end_of_the_calendar_does_not_wrap() {
        assert_eq!(Horizon::default().last_night(NaiveDate::MAX), NaiveDate::MAX);
        assert_eq!(Horizon::default().opened_until(NaiveDate::MAX), NaiveDate::MAX);
    }
}
