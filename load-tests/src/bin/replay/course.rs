//! How a row's stay came to be what the table says. The table tells how often a booking was changed, and the
//! stay in the end; what was changed, and when, is ours to choose, by a rule that needs the row alone.
//!
//! From the last change back, every other one is of the dates and those between are of the guest's details. The
//! last one of the dates makes the recorded stay, and each of them is one day away from the stay before.

use chrono::{Days, NaiveDate};

use crate::{
    ending::Ending,
    row::{Row, Wish},
    rules,
};

/// Of one row. Few have more: those beyond are counted, and not made.
pub(crate) const MOST_CHANGES: u16 = 5;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dates {
    pub(crate) check_in: NaiveDate,
    pub(crate) check_out: NaiveDate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// To these.
    Dates(Dates),
    Guest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    /// Its place among those of its row, from 1.
    pub(crate) place: u16,
    pub(crate) date: NaiveDate,
    pub(crate) what: What,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Course {
    /// As it is booked, where that is not the stay in the table.
    pub(crate) first: Option<Dates>,
    /// In the order in which they are made.
    pub(crate) changes: Vec<Change>,
}

/// What a stay was before a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Before {
    ArrivedLater,
    LeftEarlier,
    LeftLater,
    /// As many nights, a day later.
    DayLater,
}

impl Course {
    /// Of a row that was changed `times`, all of them that are made.
    pub(crate) fn of(row: &Row, last_day: NaiveDate, times: u16) -> Self {
        let times = times.min(MOST_CHANGES);
        let sellable = row.wish.as_ref().ok().filter(|wish| rules::broken(wish, row.created).is_empty());
        // The last one first.
        let mut stays: Vec<Dates> = sellable.map(Wish::dates).into_iter().collect();
        let mut changes = Vec::new();
        for back in 0..times {
            let is_of_dates = back.is_multiple_of(2);
            let before = sellable.filter(|_| is_of_dates).and_then(|wish| before(row, wish, &stays));
            let what = match (before, stays.last().copied()) {
                (Some(before), Some(dates)) => {
                    stays.push(before);
                    What::Dates(dates)
                }
                _ => What::Guest,
            };
            let place = times - back;
            changes.push(Change { place, date: date(row.created, last_day, place, times), what });
        }
        changes.reverse();
        let first = if stays.len() > 1 { stays.pop() } else { None };
        Self { first, changes }
    }

    /// Every stay on the way to the recorded one, that included where it is reached by a change.
    pub(crate) fn stays(&self) -> impl Iterator<Item = Dates> + '_ {
        let later = self.changes.iter().filter_map(|change| match change.what {
            What::Dates(dates) => Some(dates),
            What::Guest => None,
        });
        self.first.into_iter().chain(later)
    }
}

/// Evenly between the booking and the last day, which is left free where there is another.
fn date(created: NaiveDate, last_day: NaiveDate, place: u16, times: u16) -> NaiveDate {
    let span = u64::try_from((last_day - created).num_days()).unwrap_or(0);
    let days = span * u64::from(place) / (u64::from(times) + 1);
    created.checked_add_days(Days::new(days)).unwrap_or(created)
}

/// Another stay than all later ones, that could be sold when the row was booked. The row's number chooses where
/// the search starts. The arrival of who does not come stays where it is: it tells when that is marked.
fn before(row: &Row, wish: &Wish, later: &[Dates]) -> Option<Dates> {
    let dates = later.last()?;
    let start = usize::try_from(row.number).ok()? + later.len();
    let in_turn = Before::ALL.into_iter().cycle().skip(start % Before::ALL.len()).take(Before::ALL.len());
    let keeps_arrival = matches!(row.ending, Some(Ending::NoShow(_)));
    in_turn.filter_map(|before| before.of(*dates)).find(|before| {
        !later.contains(before)
            && (!keeps_arrival || before.check_in == dates.check_in)
            && rules::broken(&wish.on(*before), row.created).is_empty()
    })
}

impl Before {
    const ALL: [Self; 4] = [Self::ArrivedLater, Self::LeftLater, Self::LeftEarlier, Self::DayLater];

    fn of(self, Dates { check_in, check_out }: Dates) -> Option<Dates> {
        Some(match self {
            Self::ArrivedLater => Dates { check_in: check_in.succ_opt()?, check_out },
            Self::LeftEarlier => Dates { check_in, check_out: check_out.pred_opt()? },
            Self::LeftLater => Dates { check_in, check_out: check_out.succ_opt()? },
            Self::DayLater => Dates { check_in: check_in.succ_opt()?, check_out: check_out.succ_opt()? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, day};

    fn course(number: u32, nights: u64, ending: Option<Ending>, times: u16) -> (Dates, Course) {
        let row = Row {
            number,
            ending,
            wish: Ok(sample::wish("2031-05-13", nights)),
            ..sample::row("2031-05-01", nights)
        };
        let last_day = match ending {
            Some(Ending::Cancelled(date)) => date,
            _ => day("2031-05-13"),
        };
        let recorded = row.wish.as_ref().map(Wish::dates).expect("a wish");
        (recorded, Course::of(&row, last_day, times))
    }

    fn all() -> impl Iterator<Item = (u32, u64, Option<Ending>, u16)> {
        let endings = [
            None,
            Some(Ending::Cancelled(day("2031-05-13"))),
            Some(Ending::Cancelled(day("2031-05-01"))),
            Some(Ending::NoShow(day("2031-05-14"))),
        ];
        let rows = (1..=8).flat_map(|number| [1, 2, 3, 90].map(|nights| (number, nights)));
        let ended = rows.flat_map(move |(number, nights)| endings.map(|ending| (number, nights, ending)));
        ended.flat_map(|(number, nights, ending)| (1..=7).map(move |times| (number, nights, ending, times)))
    }

    #[test]
    fn every_course_ends_with_the_recorded_stay_and_never_stands_still() {
        for (number, nights, ending, times) in all() {
            let (recorded, course) = course(number, nights, ending, times);
            assert_eq!(course.changes.len(), usize::from(times.min(MOST_CHANGES)));
            let stays: Vec<Dates> = course.stays().collect();
            assert!(stays.len() >= 2 && stays.last() == Some(&recorded), "{number} {nights} {times}");
            for (place, stay) in stays.iter().enumerate() {
                assert!(!stays[..place].contains(stay), "a refused change must leave another to be made");
                assert!((1..=90).contains(&(stay.check_out - stay.check_in).num_days()));
                let keeps_arrival = matches!(ending, Some(Ending::NoShow(_)));
                assert!(!keeps_arrival || stay.check_in == recorded.check_in);
            }
            assert!(matches!(course.changes.last().map(|last| last.what), Some(What::Dates(_))));
        }
    }

    #[test]
    fn changes_come_in_order_from_the_day_of_booking_on_and_before_the_end() {
        for (number, nights, ending, times) in all() {
            let (_, course) = course(number, nights, ending, times);
            let (created, is_at_once) =
                (day("2031-05-01"), ending.map(Ending::date) == Some(day("2031-05-01")));
            let last = if is_at_once { created } else { day("2031-05-12") };
            let dates: Vec<_> = course.changes.iter().map(|change| change.date).collect();
            assert!(dates.is_sorted() && dates.iter().all(|date| (created..=last).contains(date)));
            let places: Vec<_> = course.changes.iter().map(|change| change.place).collect();
            assert!(places.iter().copied().eq(1..=times.min(MOST_CHANGES)));
        }
    }

    #[test]
    fn rows_take_turns_in_what_their_stay_was_before() {
        let first = |number, nights| course(number, nights, None, 1).1.first.expect("another stay");
        let dates =
            |check_in: &str, check_out: &str| Dates { check_in: day(check_in), check_out: day(check_out) };
        assert_eq!(first(3, 2), dates("2031-05-14", "2031-05-15"));
        assert_eq!(first(4, 2), dates("2031-05-13", "2031-05-16"));
        assert_eq!(first(5, 2), dates("2031-05-13", "2031-05-14"));
        assert_eq!(first(6, 2), dates("2031-05-14", "2031-05-16"));
        assert_eq!(first(3, 1), dates("2031-05-13", "2031-05-15"), "a single night cannot be one less");
        assert_eq!(first(4, 90), dates("2031-05-13", "2031-08-10"), "nor ninety one more");
    }

    #[test]
    fn between_two_changes_of_the_dates_the_guest_changes() {
        let is_guest = |times| -> Vec<bool> {
            let (_, course) = course(3, 4, None, times);
            course.changes.iter().map(|change| change.what == What::Guest).collect()
        };
        assert_eq!(is_guest(1), [false]);
        assert_eq!(is_guest(2), [true, false]);
        assert_eq!(is_guest(5), [false, true, false, true, false]);
    }

    #[test]
    fn what_cannot_be_sold_keeps_its_dates_and_its_changes_are_counted_all_the_same() {
        let (_, course) = course(3, 0, None, 3);
        assert_eq!((course.first, course.stays().count(), course.changes.len()), (None, 0, 3));
    }
}
