//! A year of nights that are alike is one line, in an answer that is kept and in the audit.

use chrono::NaiveDate;

/// Nights in a row, both ends included, that have the same value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run<K, V> {
    pub(crate) key: K,
    pub(crate) first_night: NaiveDate,
    pub(crate) last_night: NaiveDate,
    pub(crate) value: V,
}

/// In the order given, which is by key and date.
pub(crate) fn runs<K: PartialEq, V: PartialEq>(
    nights: impl IntoIterator<Item = (K, NaiveDate, V)>,
) -> Vec<Run<K, V>> {
    let mut runs: Vec<Run<K, V>> = Vec::new();
    for (key, night, value) in nights {
        match runs.last_mut() {
            Some(run) if run.key == key && run.value == value && run.last_night.succ_opt() == Some(night) => {
                run.last_night = night;
            }
            _ => runs.push(Run { key, first_night: night, last_night: night, value }),
        }
    }
    runs
}

/// Every night from `first` to `last`, both included.
pub(crate) fn nights(first: NaiveDate, last: NaiveDate) -> impl Iterator<Item = NaiveDate> {
    first.iter_days().take_while(move |night| *night <= last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    #[test]
    fn a_run_ends_where_the_value_the_key_or_the_row_of_dates_does() {
        let nights = [
            ("a", day("2026-02-27"), 1),
            ("a", day("2026-02-28"), 1),
            ("a", day("2026-03-01"), 1),
            ("a", day("2026-03-02"), 2),
            ("a", day("2026-03-04"), 2),
            ("b", day("2026-03-05"), 2),
        ];
        let told: Vec<_> = runs(nights)
            .into_iter()
            .map(|r| (r.key, r.first_night.to_string(), r.last_night.to_string(), r.value))
            .collect();
        let expected = [
            ("a", "2026-02-27", "2026-03-01", 1),
            ("a", "2026-03-02", "2026-03-02", 2),
            ("a", "2026-03-04", "2026-03-04", 2),
            ("b", "2026-03-05", "2026-03-05", 2),
        ];
        assert_eq!(told, expected.map(|(k, f, l, v)| (k, f.to_owned(), l.to_owned(), v)));
    }
}
