//! What came of the rows, counted by our own hand: in the end the product's counters must agree.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use chrono::NaiveDate;
use keyrack_domain::code::RoomTypeCode;

use crate::{
    api::CallError,
    guest::Wrong,
    row::{Hotel, Row},
    told::{By, Told},
};

/// Wrong answers that are kept to be shown; all of them are counted.
const SHOWN: usize = 10;

/// With so many the product is broken, and more of them would tell nothing new.
const MOST_WRONG: usize = 50;

pub(crate) type Nights = BTreeMap<NaiveDate, u32>;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) booked: usize,
    pub(crate) refused: BTreeMap<(By, Cow<'static, str>), usize>,
    pub(crate) wrong: usize,
    pub(crate) shown: Vec<String>,
    /// Units booked.
    pub(crate) confirmed: BTreeMap<(Hotel, RoomTypeCode), Nights>,
    /// Nights of which somebody was told that they are sold out.
    pub(crate) sold_out: BTreeSet<(Hotel, RoomTypeCode, NaiveDate)>,
    /// Why it ended before the last row.
    pub(crate) stopped: Option<Stopped>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Stopped {
    #[error("the time was up (--max-minutes)")]
    OutOfTime,
    #[error("it was interrupted")]
    Interrupted,
    #[error("{MOST_WRONG} answers were wrong")]
    TooManyWrong,
    #[error("the hotels could not be kept up to date")]
    Call(#[from] CallError),
}

impl Tally {
    pub(crate) fn note(&mut self, row: &Row, outcome: Result<Told, Wrong>) {
        let told = match outcome {
            Ok(told) => told,
            Err(wrong) => return self.note_wrong(row.number, &wrong),
        };
        match told.refusal() {
            Some(reason) => *self.refused.entry(reason).or_default() += 1,
            None => self.booked += 1,
        }
        let Ok(wish) = &row.wish else { return };
        match told {
            Told::Booked => {
                let nights = self.confirmed.entry((wish.hotel, wish.room_type.clone())).or_default();
                wish.nights().for_each(|night| *nights.entry(night).or_default() += 1);
            }
            Told::SoldOut { room_type, night, .. } => {
                self.sold_out.insert((wish.hotel, room_type, night));
            }
            Told::Invalid(_) | Told::Unusable(_) => {}
        }
    }

    fn note_wrong(&mut self, row: u32, wrong: &Wrong) {
        self.wrong += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(format!("row {row}: {}", with_sources(wrong)));
        }
    }

    /// `Err` when it makes no sense to go on.
    pub(crate) const fn is_bearable(&self) -> Result<(), Stopped> {
        if self.wrong < MOST_WRONG { Ok(()) } else { Err(Stopped::TooManyWrong) }
    }

    pub(crate) fn refused_in_all(&self) -> usize {
        self.refused.values().sum()
    }

    pub(crate) fn replayed(&self) -> usize {
        self.booked + self.refused_in_all() + self.wrong
    }
}

/// The error and all that is behind it, on one line.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        row::Unusable,
        sample::{day, row},
    };

    #[test]
    fn every_row_is_booked_or_refused_for_a_reason_or_wrong() {
        let mut tally = Tally::default();
        let three_nights = row("2031-05-01", 3);
        tally.note(&three_nights, Ok(Told::Booked));
        tally.note(&row("2031-05-02", 1), Ok(Told::Booked));
        let sold_out =
            Told::SoldOut { room_type: "A".parse().expect("a code"), night: day("2031-05-02"), available: 0 };
        tally.note(&three_nights, Ok(sold_out));
        tally.note(&three_nights, Ok(Told::Invalid(vec!["OCCUPANCY".into()])));
        let unusable = Row { wish: Err(Unusable::NegativeRate), ..row("2031-05-01", 1) };
        tally.note(&unusable, Ok(Told::Unusable(Unusable::NegativeRate)));
        let why = "of a reason".to_owned();
        tally.note(
            &three_nights,
            Err(Wrong::Judged { wish: "a room".to_owned(), created: day("2031-05-01"), why }),
        );

        assert_eq!((tally.booked, tally.refused_in_all(), tally.wrong, tally.replayed()), (2, 3, 1, 6));
        assert_eq!(tally.refused[&(By::Hold, "ROOM_NIGHT_UNAVAILABLE".into())], 1);
        assert_eq!(tally.shown, ["row 1: a room on 2031-05-01: of a reason"]);
        let nights = tally.confirmed.values().next().expect("a room type");
        let units: Vec<u32> = nights.values().copied().collect();
        assert_eq!(units, [1, 2, 1]);
        assert_eq!(tally.sold_out.len(), 1);
    }
}
