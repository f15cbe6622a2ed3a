//! A stay is nights `[check_in, check_out)`, local dates of the hotel. Nights are dates, never
//! hours, so no clock change can add or lose one; the checkout date is never a night.

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

/// The longest stay that can be asked for.
pub const MAX_NIGHTS: u16 = 90;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "Dates", into = "Dates")]
pub struct Stay {
    check_in: NaiveDate,
    check_out: NaiveDate,
}

#[derive(Serialize, Deserialize)]
struct Dates {
    check_in: NaiveDate,
    check_out: NaiveDate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidStay {
    #[error("check_out must be after check_in")]
    NoNight,
    #[error("a stay has at most {MAX_NIGHTS} nights")]
    TooLong,
    #[error("dates must lie in the years 1900 to 2999")]
    OutOfCalendar,
}

impl Stay {
    pub fn new(check_in: NaiveDate, check_out: NaiveDate) -> Result<Self, InvalidStay> {
        if !(1900..3000).contains(&check_in.year()) || !(1900..3000).contains(&check_out.year()) {
            return Err(InvalidStay::OutOfCalendar);
        }
        match (check_out - check_in).num_days() {
            ..=0 => Err(InvalidStay::NoNight),
            n if n > i64::from(MAX_NIGHTS) => Err(InvalidStay::TooLong),
            _ => Ok(Self { check_in, check_out }),
        }
    }

    pub const fn check_in(self) -> NaiveDate {
        self.check_in
    }

    /// The morning the guest leaves. Not a night.
    pub const fn check_out(self) -> NaiveDate {
        self.check_out
    }

    pub fn last_night(self) -> NaiveDate {
        self.check_out.pred_opt().unwrap_or(self.check_in)
    }

    /// In date order.
    pub fn nights(self) -> impl Iterator<Item = NaiveDate> + Clone {
        self.check_in.iter_days().take(usize::from(self.len()))
    }

    #[expect(clippy::len_without_is_empty, reason = "a stay without a night cannot be made")]
    pub fn len(self) -> u16 {
        u16::try_from((self.check_out - self.check_in).num_days()).unwrap_or(MAX_NIGHTS)
    }
}

impl TryFrom<Dates> for Stay {
    type Error = InvalidStay;

    fn try_from(dates: Dates) -> Result<Self, InvalidStay> {
        Self::new(dates.check_in, dates.check_out)
    }
}

impl From<Stay> for Dates {
    fn from(stay: Stay) -> Self {
        Self { check_in: stay.check_in, check_out: stay.check_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    #[test]
    fn the_checkout_date_is_never_a_night() {
        let stay = Stay::new(day("2026-11-14"), day("2026-11-16")).expect("two nights");
        assert_eq!(stay.nights().collect::<Vec<_>>(), [day("2026-11-14"), day("2026-11-15")]);
        assert_eq!(stay.len(), 2);
        assert_eq!(stay.last_night(), day("2026-11-15"));
    }

    /// B081, B108: no zero-night, reversed, endless or uncalendared stay exists.
    #[test]
    fn b081_b108_a_stay_without_nights_or_end_is_refused() {
        let cases = [
            ("2026-11-14", "2026-11-14", InvalidStay::NoNight),
            ("2026-11-15", "2026-11-14", InvalidStay::NoNight),
            ("2026-11-15", "2027-12-20", InvalidStay::TooLong),
            ("9999-12-30", "9999-12-31", InvalidStay::OutOfCalendar),
            ("0000-01-01", "0000-01-02", InvalidStay::OutOfCalendar),
            ("+262142-12-30", "+262142-12-31", InvalidStay::OutOfCalendar),
            ("2026-11-15", "+262142-12-31", InvalidStay::OutOfCalendar),
        ];
        for (check_in, check_out, why) in cases {
            assert_eq!(Stay::new(day(check_in), day(check_out)), Err(why), "{check_in} {check_out}");
        }
    }
}
