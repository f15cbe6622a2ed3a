//! Which rows are replayed, and in which order.

use std::{collections::BTreeMap, num::NonZeroUsize};

use chrono::NaiveDate;

use crate::{
    course::{Change, Course},
    ending::Ending,
    row::{Row, Wish},
};

#[derive(Debug)]
pub(crate) struct Workload {
    /// In date order, each with something to do.
    pub(crate) days: Vec<Day>,
    /// What became of the rows of the archive before any was replayed.
    pub(crate) census: Census,
}

/// What happened on one day. The bookings come first, then the changes: thousands were cancelled on the day of
/// their booking.
#[derive(Debug)]
pub(crate) struct Day {
    pub(crate) date: NaiveDate,
    /// Booked on it, in the table's order.
    pub(crate) rows: Vec<Row>,
    /// Changed on it, each with all of its changes of the day.
    pub(crate) changed: Vec<(Vec<Change>, Row)>,
    /// Cancelled or marked as no-shows on it.
    pub(crate) endings: Vec<(Ending, Row)>,
}

/// Of the rows of the archive; by default all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Choice {
    /// Those that became a stay only.
    pub(crate) without_cancelled: bool,
    /// Each as it was in the end.
    pub(crate) without_changes: bool,
    /// Those that were booked on this day or later.
    pub(crate) from: Option<NaiveDate>,
    /// The first so many by day of booking.
    pub(crate) most: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Census {
    pub(crate) in_archive: usize,
    /// Before the day that was asked for.
    pub(crate) left_out_earlier: usize,
    pub(crate) left_out_cancelled: usize,
    /// Beyond the number of rows that was asked for.
    pub(crate) not_chosen: usize,
    pub(crate) chosen: usize,
    /// Of the chosen ones: those that were cancelled, or whose guest did not come.
    pub(crate) endings: usize,
    /// Of the chosen ones, those that are made.
    pub(crate) changes: usize,
    /// And those beyond the number that is made of one row.
    pub(crate) changes_beyond: usize,
}

impl Workload {
    /// The rows by day of booking, and all that became of them, however late.
    pub(crate) fn choose(mut rows: Vec<Row>, choice: Choice) -> Self {
        let in_archive = rows.len();
        rows.retain(|row| choice.from.is_none_or(|from| row.created >= from));
        let late_enough = rows.len();
        rows.retain(|row| !choice.without_cancelled || row.ending.is_none());
        let kept = rows.len();
        rows.sort_by_key(|row| (row.created, row.number));
        rows.truncate(choice.most.map_or(kept, NonZeroUsize::get));
        if choice.without_changes {
            for row in &mut rows {
                (row.changes, row.course) = (0, Course::default());
            }
        }
        let (chosen, endings) = (rows.len(), rows.iter().filter(|row| row.ending.is_some()).count());
        let in_table: usize = rows.iter().map(|row| usize::from(row.changes)).sum();
        let changes = rows.iter().map(|row| row.course.changes.len()).sum();
        let days = by_day(rows);
        let census = Census {
            in_archive,
            left_out_earlier: in_archive - late_enough,
            left_out_cancelled: late_enough - kept,
            not_chosen: kept - chosen,
            chosen,
            endings,
            changes,
            changes_beyond: in_table - changes,
        };
        Self { days, census }
    }

    pub(crate) fn wishes(&self) -> impl Iterator<Item = &Wish> {
        self.days.iter().flat_map(|day| &day.rows).filter_map(|row| row.wish.as_ref().ok())
    }
}

fn by_day(rows: Vec<Row>) -> Vec<Day> {
    let mut days = BTreeMap::<NaiveDate, Day>::new();
    for row in rows {
        for changes in row.course.changes.chunk_by(|one, next| one.date == next.date) {
            if let Some(first) = changes.first() {
                on(&mut days, first.date).changed.push((changes.to_vec(), row.clone()));
            }
        }
        if let Some(ending) = row.ending {
            on(&mut days, ending.date()).endings.push((ending, row.clone()));
        }
        on(&mut days, row.created).rows.push(row);
    }
    days.into_values().collect()
}

fn on(days: &mut BTreeMap<NaiveDate, Day>, date: NaiveDate) -> &mut Day {
    days.entry(date).or_insert_with(|| Day::empty(date))
}

impl Census {
    /// Bookings, changes, cancellations, no-shows.
    pub(crate) const fn events(&self) -> usize {
        self.chosen + self.changes + self.endings
    }
}

impl Day {
    const fn empty(date: NaiveDate) -> Self {
        Self { date, rows: Vec::new(), changed: Vec::new(), endings: Vec::new() }
    }

    /// The last night that anybody wants of those who book on this day.
    pub(crate) fn last_night(&self) -> Option<NaiveDate> {
        self.rows.iter().filter_map(Row::last_night).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, day};

    fn rows() -> Vec<Row> {
        let row = |number, created: &str, ending| Row { number, ending, ..sample::row(created, 1) };
        vec![
            row(1, "2031-05-03", None),
            row(2, "2031-05-01", Some(Ending::Cancelled(day("2031-05-01")))),
            row(3, "2031-05-01", None),
            row(4, "2031-05-03", Some(Ending::NoShow(day("2031-05-04")))),
        ]
    }

    const ALL: Choice = Choice { without_cancelled: false, without_changes: false, from: None, most: None };

    /// The day, who books on it, and whose booking ends on it.
    fn order(workload: &Workload) -> Vec<(String, Vec<u32>, Vec<u32>)> {
        let booked = |day: &Day| day.rows.iter().map(|row| row.number).collect();
        let ended = |day: &Day| day.endings.iter().map(|(_, row)| row.number).collect();
        workload.days.iter().map(|day| (day.date.to_string(), booked(day), ended(day))).collect()
    }

    #[test]
    fn rows_come_day_by_day_and_what_is_left_out_is_counted() {
        let workload =
            Workload::choose(rows(), Choice { without_cancelled: true, most: NonZeroUsize::new(1), ..ALL });
        assert_eq!(order(&workload), [("2031-05-01".to_owned(), vec![3], vec![])]);
        let census =
            Census { in_archive: 4, left_out_cancelled: 2, not_chosen: 1, chosen: 1, ..Census::default() };
        assert_eq!(workload.census, census);
    }

    #[test]
    fn what_was_cancelled_is_booked_too_and_ends_on_its_day_even_where_nobody_books() {
        let workload = Workload::choose(rows(), ALL);
        let expected = [
            ("2031-05-01".to_owned(), vec![2, 3], vec![2]),
            ("2031-05-03".to_owned(), vec![1, 4], vec![]),
            ("2031-05-04".to_owned(), vec![], vec![4]),
        ];
        assert_eq!(order(&workload), expected);
        assert_eq!(workload.census, Census { in_archive: 4, chosen: 4, endings: 2, ..Census::default() });
    }

    #[test]
    fn what_was_booked_earlier_is_left_out_with_its_ending() {
        let workload = Workload::choose(rows(), Choice { from: Some(day("2031-05-02")), ..ALL });
        let expected =
            [("2031-05-03".to_owned(), vec![1, 4], vec![]), ("2031-05-04".to_owned(), vec![], vec![4])];
        assert_eq!(order(&workload), expected);
        assert_eq!((workload.census.left_out_earlier, workload.census.endings), (2, 1));
    }

    #[test]
    fn a_row_is_changed_on_its_days_and_what_is_beyond_the_most_is_counted() {
        let changed = || {
            let mut row = Row {
                number: 5,
                changes: 7,
                wish: Ok(sample::wish("2031-05-03", 2)),
                ..sample::row("2031-05-01", 2)
            };
            row.course = Course::of(&row, day("2031-05-03"), row.changes);
            vec![row]
        };
        let workload = Workload::choose(changed(), ALL);
        let on = |day: &Day| {
            (day.date.to_string(), day.changed.iter().map(|(changes, _)| changes.len()).collect())
        };
        let expected: [(String, Vec<usize>); 2] =
            [("2031-05-01".to_owned(), vec![2]), ("2031-05-02".to_owned(), vec![3])];
        assert_eq!(workload.days.iter().map(on).collect::<Vec<_>>(), expected);
        let Census { changes, changes_beyond, .. } = workload.census;
        assert_eq!((changes, changes_beyond, workload.census.events()), (5, 2, 6));

        let without = Workload::choose(changed(), Choice { without_changes: true, ..ALL });
        assert_eq!((without.days.len(), without.census.changes, without.census.changes_beyond), (1, 0, 0));
        assert_eq!(without.days[0].rows[0].first_wish(), without.days[0].rows[0].wish);
    }

    #[test]
    fn the_first_rows_bring_their_endings_along_and_no_others() {
        let workload = Workload::choose(rows(), Choice { most: NonZeroUsize::new(1), ..ALL });
        assert_eq!(order(&workload), [("2031-05-01".to_owned(), vec![2], vec![2])]);
        assert_eq!((workload.census.not_chosen, workload.census.events()), (3, 2));
    }
}
