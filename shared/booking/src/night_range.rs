//! Which nights a change of the staff means.

use chrono::{Datelike, NaiveDate, Weekday};
use serde::Serialize;

use crate::FieldError;

/// At most so many changes in a call, and so many nights in all of them.
pub const MAX_CHANGES: usize = 500;
pub const MAX_NIGHTS: usize = 20_000;

/// Both ends are nights; weekdays narrow it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NightRange {
    first_night: NaiveDate,
    last_night: NaiveDate,
    /// Monday first, each once; `None` for every day.
    weekdays: Option<Vec<Weekday>>,
}

impl NightRange {
    /// Naming all seven days, or a day twice, is the same as naming none, or once.
    pub fn new(first_night: NaiveDate, last_night: NaiveDate, weekdays: Option<Vec<Weekday>>) -> Self {
        let weekdays = weekdays.map(|mut days| {
            days.sort_unstable_by_key(Weekday::num_days_from_monday);
            days.dedup();
            days
        });
        Self { first_night, last_night, weekdays: weekdays.filter(|days| days.len() < 7) }
    }

    /// In date order. Ask only what `faults` has let pass: the range may be endless else.
    pub fn nights(&self) -> impl Iterator<Item = NaiveDate> {
        let meant =
            |night: &NaiveDate| self.weekdays.as_ref().is_none_or(|days| days.contains(&night.weekday()));
        crate::runs::nights(self.first_night, self.last_night).filter(meant)
    }

    /// What is wrong with it, whatever the day: `pointer` is the change's place in the body.
    pub(crate) fn faults(&self, pointer: &str) -> Vec<FieldError> {
        let mut faults = Vec::new();
        if self.last_night < self.first_night {
            let rule = "must not be before first_night; both are nights";
            faults.push(FieldError::new(format!("{pointer}/last_night"), "INVALID_RANGE", rule));
        }
        if self.weekdays.as_ref().is_some_and(Vec::is_empty) {
            let rule = "must name at least one day, or be left out for every day";
            faults.push(FieldError::new(format!("{pointer}/weekdays"), "EMPTY", rule));
        }
        faults
    }

    /// What is wrong with it today, on the wall of the hotel.
    pub(crate) fn faults_today(&self, pointer: &str, today: NaiveDate, last: NaiveDate) -> Vec<FieldError> {
        let mut faults = Vec::new();
        if self.first_night < today {
            let rule = format!("is past: the hotel's today is {today}");
            faults.push(FieldError::new(format!("{pointer}/first_night"), "PAST_DATE", rule));
        }
        if self.last_night > last {
            let rule = format!("is beyond the horizon, which ends with {last}");
            faults.push(FieldError::new(format!("{pointer}/last_night"), "OUT_OF_HORIZON", rule));
        } else if faults.is_empty() && self.nights().next().is_none() {
            let rule = "none of these days lies in the range";
            faults.push(FieldError::new(format!("{pointer}/weekdays"), "NO_NIGHT", rule));
        }
        faults
    }
}

/// What is wrong with the changes of one call as a whole, and with each one's range.
pub(crate) fn faults<'r>(ranges: impl ExactSizeIterator<Item = &'r NightRange>) -> Vec<FieldError> {
    if ranges.len() == 0 || ranges.len() > MAX_CHANGES {
        let rule = format!("must have 1 to {MAX_CHANGES} entries");
        return vec![FieldError::new("/changes", "OUT_OF_RANGE", rule)];
    }
    ranges.enumerate().flat_map(|(n, range)| range.faults(&format!("/changes/{n}"))).collect()
}

/// What is wrong with them today; when nothing is, they name at most [`MAX_NIGHTS`] nights.
pub(crate) fn faults_today<'r>(
    ranges: impl Iterator<Item = &'r NightRange> + Clone,
    today: NaiveDate,
    last: NaiveDate,
) -> Vec<FieldError> {
    let each = ranges.clone().enumerate();
    let mut faults: Vec<_> =
        each.flat_map(|(n, range)| range.faults_today(&format!("/changes/{n}"), today, last)).collect();
    // Within the horizon every range is short, so counting is bounded.
    if faults.is_empty() && ranges.map(|range| range.nights().count()).sum::<usize>() > MAX_NIGHTS {
        let rule = format!("name more than {MAX_NIGHTS} nights together; send several calls");
        faults.push(FieldError::new("/changes", "TOO_MANY_NIGHTS", rule));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First and last night, weekdays, and where which code is told.
    type Case = (&'static str, &'static str, Option<&'static [Weekday]>, &'static str, &'static str);

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    fn range(first: &str, last: &str, weekdays: Option<&[Weekday]>) -> NightRange {
        NightRange::new(day(first), day(last), weekdays.map(<[_]>::to_vec))
    }

    fn told(faults: &[FieldError]) -> Vec<(&str, &str)> {
        faults.iter().map(|fault| (fault.pointer.as_str(), fault.code)).collect()
    }

    #[test]
    fn both_ends_are_nights_and_weekdays_narrow_the_range() {
        let count = |weekdays| range("2026-11-14", "2026-11-27", weekdays).nights().count();
        assert_eq!(count(None), 14);
        assert_eq!(count(Some(&[Weekday::Fri, Weekday::Sat])), 4);
        assert_eq!(range("2026-11-14", "2026-11-14", None).nights().count(), 1);
    }

    #[test]
    fn spellings_that_mean_the_same_nights_are_equal() {
        let all = [
            Weekday::Sun,
            Weekday::Mon,
            Weekday::Tue,
            Weekday::Wed,
            Weekday::Thu,
            Weekday::Fri,
            Weekday::Sat,
        ];
        let ends = ("2026-11-14", "2026-11-27");
        assert_eq!(range(ends.0, ends.1, Some(&all)), range(ends.0, ends.1, None));
        let (spelt, short) = ([Weekday::Sat, Weekday::Fri, Weekday::Sat], [Weekday::Fri, Weekday::Sat]);
        assert_eq!(range(ends.0, ends.1, Some(&spelt)), range(ends.0, ends.1, Some(&short)));
    }

    #[test]
    fn a_range_that_names_nothing_or_what_cannot_be_sold_is_told_where() {
        let (today, last) = (day("2026-11-14"), day("2026-12-14"));
        let faults = |first, last_night, weekdays| {
            let range = range(first, last_night, weekdays);
            let mut faults = range.faults("/changes/3");
            if faults.is_empty() {
                faults = range.faults_today("/changes/3", today, last);
            }
            faults
        };
        assert_eq!(faults("2026-11-14", "2026-12-14", None), []);
        let cases: [Case; 6] = [
            ("2026-11-15", "2026-11-14", None, "/changes/3/last_night", "INVALID_RANGE"),
            ("2026-11-14", "2026-11-15", Some(&[]), "/changes/3/weekdays", "EMPTY"),
            ("2026-11-13", "2026-11-15", None, "/changes/3/first_night", "PAST_DATE"),
            ("2026-11-14", "2026-12-15", None, "/changes/3/last_night", "OUT_OF_HORIZON"),
            ("2026-11-14", "9999-12-31", None, "/changes/3/last_night", "OUT_OF_HORIZON"),
            ("2026-11-16", "2026-11-17", Some(&[Weekday::Sat]), "/changes/3/weekdays", "NO_NIGHT"),
        ];
        for (first, last_night, weekdays, pointer, code) in cases {
            assert_eq!(told(&faults(first, last_night, weekdays)), [(pointer, code)], "{first} {last_night}");
        }
    }

    #[test]
    fn a_call_is_bounded_in_changes_and_in_nights() {
        let today = day("2026-11-14");
        let year = range("2026-11-14", "2027-11-13", None);
        assert_eq!(told(&faults([].iter())), [("/changes", "OUT_OF_RANGE")]);
        assert_eq!(told(&faults(vec![year.clone(); 501].iter())), [("/changes", "OUT_OF_RANGE")]);
        let last = day("2027-11-13");
        assert_eq!(faults_today(vec![year.clone(); 54].iter(), today, last), []);
        let too_many = faults_today(vec![year; 55].iter(), today, last);
        assert_eq!(told(&too_many), [("/changes", "TOO_MANY_NIGHTS")]);
    }
}
