//! The archive of the bookings: a CSV table in a ZIP file.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::row::{Line, NotABooking, Row};

const TABLE: &str = "hotel_bookings.csv";

/// Several times the table of today: an archive that unpacks to more is not the one we know.
const MAX_TABLE_BYTES: u64 = 100 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("there is no {0}; its data set is described in load-tests/README.md")]
    Absent(PathBuf),
    #[error("cannot read {path}")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path} is not a ZIP archive with {TABLE} in it")]
    NotTheArchive { path: PathBuf, source: zip::result::ZipError },
    #[error("the table cannot be read")]
    Table(#[from] csv::Error),
    #[error("row {row} of the table is not a booking")]
    Row { row: u32, source: NotABooking },
}

/// In the table's order.
pub(crate) fn read(path: &Path) -> Result<Vec<Row>, ArchiveError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ArchiveError::Absent(path.to_owned()));
        }
        Err(source) => return Err(ArchiveError::Unreadable { path: path.to_owned(), source }),
    };
    let not_the_archive = |source| ArchiveError::NotTheArchive { path: path.to_owned(), source };
    let mut archive = zip::ZipArchive::new(file).map_err(not_the_archive)?;
    let table = archive.by_name(TABLE).map_err(not_the_archive)?;
    read_table(table.take(MAX_TABLE_BYTES))
}

/// Every row becomes a [`Row`]: one that we cannot make sense of ends the reading, it is not left out.
fn read_table(table: impl Read) -> Result<Vec<Row>, ArchiveError> {
    let mut table = csv::Reader::from_reader(table);
    let mut rows = Vec::new();
    for (line, number) in table.deserialize::<Line>().zip(1..) {
        let row = Row::read(number, &line?).map_err(|source| ArchiveError::Row { row: number, source })?;
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ending::Ending, row::Unusable, sample::day};

    const HEADER: &str = "booking_changes,hotel,is_canceled,lead_time,arrival_date_year,arrival_date_month,\
        arrival_date_day_of_month,stays_in_weekend_nights,stays_in_week_nights,adults,children,babies,\
        meal,reserved_room_type,deposit_type,adr,reservation_status,reservation_status_date\n";

    fn table(rows: &[&str]) -> Result<Vec<Row>, ArchiveError> {
        changed(0, rows)
    }

    fn changed(times: u16, rows: &[&str]) -> Result<Vec<Row>, ArchiveError> {
        let lines: Vec<String> = rows.iter().map(|row| format!("{times},{row}")).collect();
        read_table(format!("{HEADER}{}\n", lines.join("\n")).as_bytes())
    }

    fn one(row: &str) -> Row {
        let mut rows = table(&[row]).expect("a booking");
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    }

    #[test]
    fn a_row_becomes_a_wish_made_lead_time_days_before_its_arrival() {
        let row = one("City Hotel,0,40,2031,March,2,2,3,2,1,1,BB,D,Non Refund,95.5,Check-Out,2031-03-07");
        assert_eq!((row.number, row.created.to_string().as_str(), row.ending), (1, "2031-01-21", None));
        let wish = row.wish.expect("a wish");
        assert_eq!(wish.check_in.to_string(), "2031-03-02");
        assert_eq!(wish.check_out.to_string(), "2031-03-07");
        assert_eq!((wish.adults, wish.children_ages.as_slice()), (2, [8, 1].as_slice()));
        assert_eq!((wish.room_type.as_str(), wish.plan.code()), ("D", "NONREF"));
        assert_eq!(wish.hotel.code(), "PT-CITY");
        assert_eq!(wish.adr.to_string(), "95.5");
    }

    #[test]
    fn a_row_without_a_night_is_a_wish_that_the_product_must_refuse() {
        let row = one("Resort Hotel,1,0,2031,July,1,0,0,0,0,0,HB,A,No Deposit,0,Canceled,2031-07-01");
        let wish = row.wish.expect("a wish");
        assert_eq!(wish.check_in, wish.check_out);
        assert_eq!((row.created, wish.adults), (wish.check_in, 0));
        assert_eq!(row.ending, Some(Ending::Cancelled(wish.check_in)));
    }

    #[test]
    fn who_did_not_come_is_marked_on_the_day_after_the_arrival_and_gives_the_later_nights_back() {
        let ended = |ending: &str| {
            one(&format!("City Hotel,1,40,2031,March,2,2,1,2,0,0,BB,D,No Deposit,95,{ending}"))
        };
        let freed = |row: &Row| {
            let (wish, ending) = (row.wish.as_ref().expect("a wish"), row.ending.expect("an ending"));
            wish.nights_freed_by(ending).map(|night| night.to_string()).collect::<Vec<_>>()
        };
        let no_show = ended("No-Show,2031-03-02");
        assert_eq!(no_show.ending, Some(Ending::NoShow(day("2031-03-03"))));
        assert_eq!(freed(&no_show), ["2031-03-03", "2031-03-04"]);
        let cancelled = ended("Canceled,2031-02-11");
        assert_eq!(cancelled.ending, Some(Ending::Cancelled(day("2031-02-11"))));
        assert_eq!(freed(&cancelled), ["2031-03-02", "2031-03-03", "2031-03-04"]);
    }

    #[test]
    fn a_row_that_was_changed_is_booked_as_another_stay_and_changed_to_its_own() {
        let row = "City Hotel,0,40,2031,March,2,2,3,2,1,1,BB,D,Non Refund,95.5,Check-Out,2031-03-07";
        let row = changed(1, &[row]).expect("a booking").remove(0);
        let (first, wish) = (row.first_wish().expect("a wish"), row.wish.clone().expect("a wish"));
        assert_eq!(row.course.stays().collect::<Vec<_>>(), [first.dates(), wish.dates()]);
        assert_eq!(first, wish.on(first.dates()));
        assert_eq!((row.changes, row.course.changes.len()), (1, 1));
        assert_eq!(row.course.changes[0].date, day("2031-02-10"), "halfway");
        assert_eq!(row.last_night(), Some(day("2031-03-06")));
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused_by_the_reader_and_keeps_its_place() {
        let rows = table(&[
            "City Hotel,0,3,2031,May,5,0,1,2,NA,0,BB,A,No Deposit,80,Check-Out,2031-05-06",
            "City Hotel,0,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,-0.01,Check-Out,2031-05-06",
        ])
        .expect("rows");
        assert_eq!(rows[0].wish, Err(Unusable::ChildrenNotGiven));
        assert_eq!(rows[1].wish, Err(Unusable::NegativeRate));
        assert_eq!((rows[1].number, rows[1].created.to_string().as_str()), (2, "2031-05-02"));
    }

    #[test]
    fn a_row_that_makes_no_sense_ends_the_reading_and_is_named() {
        for (field, row) in [
            ("hotel", "Space Hotel,0,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,80,Check-Out,2031-05-06"),
            ("arrival_date", "City Hotel,0,3,2031,May,32,0,1,2,0,0,BB,A,No Deposit,80,Check-Out,2031-05-06"),
            ("arrival_date", "City Hotel,0,3,2031,Mai,5,0,1,2,0,0,BB,A,No Deposit,80,Check-Out,2031-05-06"),
            ("is_canceled", "City Hotel,2,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,80,Check-Out,2031-05-06"),
            ("is_canceled", "City Hotel,1,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,80,Check-Out,2031-05-06"),
            ("reservation_status", "City Hotel,1,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,80,Gone,2031-05-06"),
            (
                "reservation_status_date",
                "City Hotel,1,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,80,Canceled,2031-05-06",
            ),
            (
                "reservation_status_date",
                "City Hotel,1,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,80,Canceled,2031-05-01",
            ),
            ("children", "City Hotel,0,3,2031,May,5,0,1,2,some,0,BB,A,No Deposit,80,Check-Out,2031-05-06"),
            (
                "reserved_room_type",
                "City Hotel,0,3,2031,May,5,0,1,2,0,0,BB,?,No Deposit,80,Check-Out,2031-05-06",
            ),
            ("deposit_type", "City Hotel,0,3,2031,May,5,0,1,2,0,0,BB,A,Perhaps,80,Check-Out,2031-05-06"),
            ("adr", "City Hotel,0,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,free,Check-Out,2031-05-06"),
        ] {
            match table(&["City Hotel,0,3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,80,Check-Out,2031-05-06", row])
            {
                Err(ArchiveError::Row { row: 2, source }) => {
                    assert!(source.to_string().starts_with(field), "{source}");
                }
                other => panic!("{row}: {other:?}"),
            }
        }
        assert!(matches!(
            table(&["City Hotel,0,-3,2031,May,5,0,1,2,0,0,BB,A,No Deposit,80,Check-Out,2031-05-06"]),
            Err(ArchiveError::Table(_))
        ));
    }

    #[test]
    fn the_real_archive_has_as_many_rows_as_its_description_says() {
        let path = Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../shared/data/hotel-bookings/hotel_bookings.csv.zip"
        ));
        let rows = match read(path) {
            Err(ArchiveError::Absent(_)) => {
                eprintln!("SKIPPED: the data set of real bookings is not there");
                return;
            }
            read => read.expect("the archive"),
        };
        assert_eq!(rows.len(), 119_390);
        let wishes = || rows.iter().filter_map(|row| row.wish.as_ref().ok());
        assert_eq!(wishes().filter(|wish| wish.check_in == wish.check_out).count(), 715);
        let unusable = |why| rows.iter().filter(|row| row.wish == Err(why)).count();
        assert_eq!((unusable(Unusable::NegativeRate), unusable(Unusable::ChildrenNotGiven)), (1, 4));
        let ended =
            |which: fn(&Ending) -> bool| rows.iter().filter_map(|row| row.ending).filter(which).count();
        assert_eq!(ended(|ending| matches!(ending, Ending::Cancelled(_))), 43_017);
        assert_eq!(ended(|ending| matches!(ending, Ending::NoShow(_))), 1_207);
        assert_eq!(rows.iter().filter(|row| row.changes > 0).count(), 18_076);
    }
}
