//! Which rows are replayed, and in which order.

use std::num::NonZeroUsize;

use chrono::NaiveDate;

use crate::row::{Row, Wish};

#[derive(Debug)]
pub(crate) struct Workload {
    /// In date order, each with at least one row.
    pub(crate) days: Vec<Day>,
    /// What became of the rows of the archive before any was replayed.
    pub(crate) census: Census,
}

/// The bookings made on one day, in the table's order.
#[derive(Debug)]
pub(crate) struct Day {
    pub(crate) date: NaiveDate,
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Census {
    pub(crate) in_archive: usize,
    pub(crate) left_out_cancelled: usize,
    /// Beyond the number of rows that was asked for.
    pub(crate) not_chosen: usize,
    pub(crate) chosen: usize,
}

impl Workload {
    /// The first `most` rows by day of booking; rows that were cancelled later only `with_cancelled`.
    pub(crate) fn choose(mut rows: Vec<Row>, with_cancelled: bool, most: Option<NonZeroUsize>) -> Self {
        let in_archive = rows.len();
        rows.retain(|row| with_cancelled || !row.cancelled);
        let left_out_cancelled = in_archive - rows.len();
        rows.sort_by_key(|row| (row.created, row.number));
        let kept = rows.len();
        rows.truncate(most.map_or(kept, NonZeroUsize::get));
        let chosen = rows.len();
        let mut days: Vec<Day> = Vec::new();
        for row in rows {
            match days.last_mut() {
                Some(day) if day.date == row.created => day.rows.push(row),
                _ => days.push(Day { date: row.created, rows: vec![row] }),
            }
        }
        let census = Census { in_archive, left_out_cancelled, not_chosen: kept - chosen, chosen };
        Self { days, census }
    }

    pub(crate) fn wishes(&self) -> impl Iterator<Item = (NaiveDate, &Wish)> {
        let rows = self.days.iter().flat_map(|day| &day.rows);
        rows.filter_map(|row| Some((row.created, row.wish.as_ref().ok()?)))
    }
}

impl Day {
    /// The last night that anybody wants of those who book on this day.
    pub(crate) fn last_night(&self) -> Option<NaiveDate> {
        self.rows.iter().filter_map(|row| row.wish.as_ref().ok()?.last_night()).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn rows() -> Vec<Row> {
        let row = |number, created: &str, cancelled| Row { number, cancelled, ..sample::row(created, 1) };
        vec![
            row(1, "2031-05-03", false),
            row(2, "2031-05-01", true),
            row(3, "2031-05-01", false),
            row(4, "2031-05-03", false),
        ]
    }

    fn order(workload: &Workload) -> Vec<(String, Vec<u32>)> {
        let numbers = |day: &Day| day.rows.iter().map(|row| row.number).collect();
        workload.days.iter().map(|day| (day.date.to_string(), numbers(day))).collect()
    }

    #[test]
    fn rows_come_day_by_day_and_what_is_left_out_is_counted() {
        let workload = Workload::choose(rows(), false, NonZeroUsize::new(2));
        assert_eq!(
            order(&workload),
            [("2031-05-01".to_owned(), vec![3]), ("2031-05-03".to_owned(), vec![1])]
        );
        let census = Census { in_archive: 4, left_out_cancelled: 1, not_chosen: 1, chosen: 2 };
        assert_eq!(workload.census, census);
    }

    #[test]
    fn all_means_also_what_was_cancelled_later() {
        let workload = Workload::choose(rows(), true, None);
        assert_eq!(
            order(&workload),
            [("2031-05-01".to_owned(), vec![2, 3]), ("2031-05-03".to_owned(), vec![1, 4])]
        );
        assert_eq!(workload.census, Census { in_archive: 4, chosen: 4, ..Census::default() });
    }
}
