//! Times on the wall of a hotel. Its zone decides today, cut-offs and deadlines; the server's never does.

use chrono::{MappedLocalTime, NaiveDate, NaiveTime, SecondsFormat, TimeZone};
use chrono_tz::{GapInfo, Tz};

use crate::clock::Moment;

/// The instant at which that hotel's clock shows this date and time.
///
/// A time that the clock jumps over is the first instant after the gap: a day whose midnight does
/// not exist begins where its first minute does. A time that comes twice is the later of the two:
/// what is read from it is a deadline, and the doubt is the guest's benefit.
pub fn instant(date: NaiveDate, time: NaiveTime, zone: Tz) -> Moment {
    let local = date.and_time(time);
    let found = match zone.from_local_datetime(&local) {
        MappedLocalTime::Single(at) | MappedLocalTime::Ambiguous(_, at) => Some(at),
        MappedLocalTime::None => GapInfo::new(&local, &zone).and_then(|gap| gap.end),
    };
    // Without an end of the gap the date lies outside all that is known of the zone.
    Moment(found.map_or_else(|| local.and_utc(), |at| at.to_utc()))
}

/// As the hotel's wall shows it, RFC 3339 with offset: `2026-11-12T18:00:00+05:30`.
pub fn with_offset(at: Moment, zone: Tz) -> String {
    at.0.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::AutoSi, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{day, stay};

    fn told(date: &str, time: &str, zone: Tz) -> (String, String) {
        let at = instant(day(date), time.parse().expect("a time"), zone);
        (at.to_string(), with_offset(at, zone))
    }

    #[test]
    fn a_local_time_has_exactly_one_instant_even_where_the_clock_jumps() {
        use chrono_tz::{Africa, America, Asia, Europe, Pacific};
        let cases = [
            (Asia::Kolkata, "2026-11-12", "18:00:00", "2026-11-12T12:30:00Z", "2026-11-12T18:00:00+05:30"),
            (Asia::Tokyo, "2026-11-12", "00:00:00", "2026-11-11T15:00:00Z", "2026-11-12T00:00:00+09:00"),
            // 01:00 to 02:00 does not exist.
            (Europe::London, "2026-03-29", "01:30:00", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00+01:00"),
            // 01:00 to 02:00 comes twice.
            (Europe::London, "2026-10-25", "01:30:00", "2026-10-25T01:30:00Z", "2026-10-25T01:30:00+00:00"),
            (Europe::London, "2026-10-25", "01:00:00", "2026-10-25T01:00:00Z", "2026-10-25T01:00:00+00:00"),
            // Midnight does not exist.
            (
                America::Santiago,
                "2026-09-06",
                "00:00:00",
                "2026-09-06T04:00:00Z",
                "2026-09-06T01:00:00-03:00",
            ),
            (Africa::Cairo, "2026-04-24", "00:00:00", "2026-04-23T22:00:00Z", "2026-04-24T01:00:00+03:00"),
            // The whole day does not exist.
            (Pacific::Apia, "2011-12-30", "18:00:00", "2011-12-30T10:00:00Z", "2011-12-31T00:00:00+14:00"),
        ];
        for (zone, date, time, utc, local) in cases {
            assert_eq!(told(date, time, zone), (utc.to_owned(), local.to_owned()), "{zone} {date} {time}");
        }
    }

    /// B091: nights are dates; no clock change adds or loses one, and no server zone is asked.
    #[test]
    fn b091_a_stay_over_a_clock_change_keeps_its_nights() {
        let cases = [
            ("2026-10-24", "2026-10-26", 2),
            ("2026-10-25", "2026-10-26", 1),
            ("2026-03-28", "2026-03-30", 2),
            ("2026-03-29", "2026-03-30", 1),
            ("2026-10-01", "2026-11-01", 31),
        ];
        for (check_in, check_out, nights) in cases {
            assert_eq!(stay(check_in, check_out).nights().count(), nights, "{check_in} to {check_out}");
        }
    }

    /// B095: today is the hotel's.
    #[test]
    fn b095_today_is_a_date_of_the_hotel() {
        let cases = [
            ("2026-11-15T08:00:00Z", chrono_tz::Pacific::Honolulu, "2026-11-14"),
            ("2026-11-14T12:00:00Z", chrono_tz::Pacific::Auckland, "2026-11-15"),
        ];
        for (now, zone, today) in cases {
            assert_eq!(Moment(now.parse().expect("an instant")).date_in(zone), day(today), "{zone}");
        }
    }
}
