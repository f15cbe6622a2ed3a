//! Which rows are replayed, and in which order.

use std::{collections::BTreeMap, num::NonZeroUsize};

use chrono::NaiveDate;

use crate::{
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

/// What happened on one day. The bookings come first: thousands were cancelled on the day of their booking.
#[derive(Debug)]
pub(crate) struct Day {
    pub(crate) date: NaiveDate,
    /// Booked on it, in the table's order.
    pub(crate) rows: Vec<Row>,
    /// Cancelled or marked as no-shows on it.
    pub(crate) endings: Vec<(Ending, Row)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Census {
    pub(crate) in_archive: usize,
    pub(crate) left_out_cancelled: usize,
    /// Beyond the number of rows that was asked for.
    pub(crate) not_chosen: usize,
    pub(crate) chosen: usize,
    /// Of the chosen ones: those that were cancelled, or whose guest did not come.
    pub(crate) endings: usize,
}

impl Workload {
    /// The first `most` rows by day of booking, and all that became of them; rows that did not become a
    /// stay only `with_cancelled`.
    pub(crate) fn choose(mut rows: Vec<Row>, with_cancelled: bool, most: Option<NonZeroUsize>) -> Self {
        let in_archive = rows.len();
        rows.retain(|row| with_cancelled || row.ending.is_none());
        let left_out_cancelled = in_archive - rows.len();
        rows.sort_by_key(|row| (row.created, row.number));
        let kept = rows.len();
        rows.truncate(most.map_or(kept, NonZeroUsize::get));
        let chosen = rows.len();
        let mut days = BTreeMap::<NaiveDate, Day>::new();
        let mut endings = 0;
        for row in rows {
            if let Some(ending) = row.ending {
                endings += 1;
                let date = ending.date();
                days.entry(date).or_insert_with(|| Day::empty(date)).endings.push((ending, row.clone()));
            }
            let date = row.created;
            days.entry(date).or_insert_with(|| Day::empty(date)).rows.push(row);
        }
        let census = Census { in_archive, left_out_cancelled, not_chosen: kept - chosen, chosen, endings };
        Self { days: days.into_values().collect(), census }
    }

    pub(crate) fn wishes(&self) -> impl Iterator<Item = &Wish> {
        self.days.iter().flat_map(|day| &day.rows).filter_map(|row| row.wish.as_ref().ok())
    }
}

impl Census {
    /// Bookings, cancellations, no-shows.
    pub(crate) const fn events(&self) -> usize {
        self.chosen + self.endings
    }
}

impl Day {
    const fn empty(date: NaiveDate) -> Self {
        Self { date, rows: Vec::new(), endings: Vec::new() }
    }

    /// The last night that anybody wants of those who book on this day.
    pub(crate) fn last_night(&self) -> Option<NaiveDate> {
        self.rows.iter().filter_map(|row| row.wish.as_ref().ok()?.last_night()).max()
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

    /// The day, who books on it, and whose booking ends on it.
    fn order(workload: &Workload) -> Vec<(String, Vec<u32>, Vec<u32>)> {
        let booked = |day: &Day| day.rows.iter().map(|row| row.number).collect();
        let ended = |day: &Day| day.endings.iter().map(|(_, row)| row.number).collect();
        workload.days.iter().map(|day| (day.date.to_string(), booked(day), ended(day))).collect()
    }

    #[test]
    fn rows_come_day_by_day_and_what_is_left_out_is_counted() {
        let workload = Workload::choose(rows(), false, NonZeroUsize::new(2));
        let expected =
            [("2031-05-01".to_owned(), vec![3], vec![]), ("2031-05-03".to_owned(), vec![1], vec![])];
        assert_eq!(order(&workload), expected);
        let census = Census { in_archive: 4, left_out_cancelled: 2, not_chosen: 0, chosen: 2, endings: 0 };
        assert_eq!(workload.census, census);
    }

    #[test]
    fn what_was_cancelled_is_booked_too_and_ends_on_its_day_even_where_nobody_books() {
        let workload = Workload::choose(rows(), true, None);
        let expected = [
            ("2031-05-01".to_owned(), vec![2, 3], vec![2]),
            ("2031-05-03".to_owned(), vec![1, 4], vec![]),
            ("2031-05-04".to_owned(), vec![], vec![4]),
        ];
        assert_eq!(order(&workload), expected);
        assert_eq!(workload.census, Census { in_archive: 4, chosen: 4, endings: 2, ..Census::default() });
    }

    #[test]
    fn the_first_rows_bring_their_endings_along_and_no_others() {
        let workload = Workload::choose(rows(), true, NonZeroUsize::new(1));
        assert_eq!(order(&workload), [("2031-05-01".to_owned(), vec![2], vec![2])]);
        assert_eq!((workload.census.not_chosen, workload.census.events()), (3, 2));
    }
}
