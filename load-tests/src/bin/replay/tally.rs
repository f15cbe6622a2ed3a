//! What came of the rows, counted by our own hand: in the end the product's counters must agree.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Display,
    mem,
};

use chrono::NaiveDate;
use keyrack_domain::code::RoomTypeCode;

use crate::{
    accounts::{Account, Changes, Endings},
    api::CallError,
    ending::Ending,
    guest::Wrong,
    hotels::Hotels,
    priced::Changed,
    reserved::{Closed, Reserved},
    row::{Hotel, Row, Wish},
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
    /// Units booked, and not given back.
    pub(crate) confirmed: BTreeMap<(Hotel, RoomTypeCode), Nights>,
    /// Nights of which somebody was told today that they are sold out. Tomorrow they may be free again.
    sold_out: BTreeSet<(Hotel, RoomTypeCode, NaiveDate)>,
    /// Of all days, those that were not full when their day's bookings were made.
    pub(crate) not_full: usize,
    /// Nights that today's changes gave back. They count as booked until all of today's changes are made: when one
    /// is told that a night is sold out, others may have it and not have given it back yet.
    going: Vec<(Hotel, RoomTypeCode, NaiveDate)>,
    /// Bookings that stand and will be changed or end, by the number of the row.
    standing: HashMap<u32, Reserved>,
    pub(crate) changes: Changes,
    pub(crate) endings: Endings,
    pub(crate) accounts: BTreeMap<Hotel, Account>,
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
            Err(wrong) => {
                self.wrong += 1;
                return self.show(row.number, &wrong);
            }
        };
        match told.refusal() {
            Some(reason) => *self.refused.entry(reason).or_default() += 1,
            None => self.booked += 1,
        }
        let Ok(wish) = &row.wish else { return };
        match told {
            Told::Booked(reserved) => self.note_booked(row, *reserved),
            Told::SoldOut { room_type, night, .. } => {
                self.sold_out.insert((wish.hotel, room_type, night));
            }
            Told::Invalid(_) | Told::Unusable(_) => {}
        }
    }

    fn note_booked(&mut self, row: &Row, reserved: Reserved) {
        let (wish, total) = (&reserved.wish, reserved.total);
        self.occupy(wish, wish.nights());
        self.accounts.entry(wish.hotel).or_insert_with(|| Account::empty(total)).sell(total);
        if row.ending.is_some() || !row.course.changes.is_empty() {
            self.standing.insert(row.number, reserved);
        }
    }

    fn occupy(&mut self, wish: &Wish, taken: impl Iterator<Item = NaiveDate>) {
        let nights = self.confirmed.entry((wish.hotel, wish.room_type.clone())).or_default();
        taken.for_each(|night| *nights.entry(night).or_default() += 1);
    }

    fn free(&mut self, hotel: Hotel, room_type: &RoomTypeCode, night: NaiveDate) {
        if let Some(units) =
            self.confirmed.get_mut(&(hotel, room_type.clone())).and_then(|nights| nights.get_mut(&night))
        {
            *units = units.saturating_sub(1);
        }
    }

    /// When the bookings of a day are made, or its changes: nothing is held any more, and nothing counts as given
    /// back yet.
    pub(crate) fn check_sold_out(&mut self, hotels: &Hotels) {
        for (hotel, room_type, night) in mem::take(&mut self.sold_out) {
            let units = hotels.units(hotel, &room_type).unwrap_or(0);
            let nights = self.confirmed.get(&(hotel, room_type.clone()));
            let booked = nights.and_then(|nights| nights.get(&night)).copied().unwrap_or(0);
            if booked < units {
                self.not_full += 1;
                let what = format!("{} {room_type} {night}", hotel.code());
                self.show_text(format!("{what}: told to be sold out with {booked} of {units} booked"));
            }
        }
    }

    /// The booking that is to be changed `changes` times today. One that was refused is counted, and there is
    /// nothing to do.
    pub(crate) fn take_changing(&mut self, changes: usize, row: &Row) -> Option<Reserved> {
        let reserved = self.standing.remove(&row.number);
        if reserved.is_none() {
            self.changes.unbooked += changes;
        }
        reserved
    }

    /// The booking as it stands after one change; none after a wrong answer, since we do not know what stands.
    pub(crate) fn note_changed(
        &mut self,
        row: &Row,
        mut booked: Reserved,
        outcome: Result<Changed, Wrong>,
    ) -> Option<Reserved> {
        let changed = match outcome {
            Ok(changed) => changed,
            Err(wrong) => {
                self.changes.wrong += 1;
                self.show(row.number, &wrong);
                return None;
            }
        };
        self.changes.note(&changed);
        match changed {
            Changed::Dates(priced) => {
                let before = booked.wish.clone();
                let refunds = priced.carry_out(&mut booked);
                let after = &booked.wish;
                let is_in = |wish: &Wish, night| wish.nights().any(|other| other == night);
                self.occupy(after, after.nights().filter(|night| !is_in(&before, *night)));
                let gone = before.nights().filter(|night| !is_in(after, *night));
                self.going.extend(gone.map(|night| (before.hotel, before.room_type.clone(), night)));
                if let Some(account) = self.accounts.get_mut(&before.hotel) {
                    account.change(priced.charge, &refunds);
                }
            }
            Changed::SoldOut { night } => {
                self.sold_out.insert((booked.wish.hotel, booked.wish.room_type.clone(), night));
            }
            Changed::Guest => booked.version += 1,
        }
        Some(booked)
    }

    /// Until its next change, or its end.
    pub(crate) fn put_back(&mut self, row: &Row, booked: Reserved) {
        self.standing.insert(row.number, booked);
    }

    /// All changes of a day are made.
    pub(crate) fn end_changes(&mut self, hotels: &Hotels) {
        self.check_sold_out(hotels);
        for (hotel, room_type, night) in mem::take(&mut self.going) {
            self.free(hotel, &room_type, night);
        }
    }

    /// The booking that is to end, once. One that was refused is counted, and there is nothing to do.
    pub(crate) fn take_ending(&mut self, ending: Ending, row: &Row) -> Option<Reserved> {
        let reserved = self.standing.remove(&row.number);
        if reserved.is_none() {
            self.endings.note_unbooked(ending);
        }
        reserved
    }

    pub(crate) fn note_closed(
        &mut self,
        row: &Row,
        booked: &Reserved,
        ending: Ending,
        outcome: Result<Closed, Wrong>,
    ) {
        let closed = match outcome {
            Ok(closed) => closed,
            Err(wrong) => {
                self.endings.wrong += 1;
                return self.show(row.number, &wrong);
            }
        };
        self.endings.note(closed);
        let wish = &booked.wish;
        for night in wish.nights_freed_by(ending) {
            self.free(wish.hotel, &wish.room_type, night);
        }
        if let (Closed::Cancelled { refund, .. }, Some(account)) =
            (closed, self.accounts.get_mut(&wish.hotel))
        {
            booked.clone().give_back(refund).into_iter().for_each(|part| account.refund(part));
        }
    }

    fn show(&mut self, row: u32, wrong: &Wrong) {
        self.show_text(format!("row {row}: {}", with_sources(wrong)));
    }

    fn show_text(&mut self, text: impl Display) {
        if self.shown.len() < SHOWN {
            self.shown.push(text.to_string());
        }
    }

    /// `Err` when it makes no sense to go on.
    pub(crate) const fn is_bearable(&self) -> Result<(), Stopped> {
        if self.wrong_in_all() < MOST_WRONG { Ok(()) } else { Err(Stopped::TooManyWrong) }
    }

    pub(crate) const fn wrong_in_all(&self) -> usize {
        self.wrong + self.changes.wrong + self.endings.wrong + self.not_full
    }

    pub(crate) fn refused_in_all(&self) -> usize {
        self.refused.values().sum()
    }

    /// Rows.
    pub(crate) fn replayed(&self) -> usize {
        self.booked + self.refused_in_all() + self.wrong
    }

    /// Rows, and the changes and ends of bookings.
    pub(crate) fn events(&self) -> usize {
        self.replayed() + self.changes.in_all() + self.endings.in_all()
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
        clock::Hour,
        priced::Expected,
        row::Unusable,
        sample::{self, day, euros, row},
        workload::{Choice, Workload},
    };

    fn booked(row: &Row) -> Told {
        Told::Booked(Box::new(sample::booked(row)))
    }

    fn units(tally: &Tally) -> Vec<u32> {
        tally.confirmed.values().flat_map(Nights::values).copied().collect()
    }

    #[test]
    fn every_row_is_booked_or_refused_for_a_reason_or_wrong() {
        let mut tally = Tally::default();
        let three_nights = row("2031-05-01", 3);
        tally.note(&three_nights, Ok(booked(&three_nights)));
        let one_night = row("2031-05-02", 1);
        tally.note(&one_night, Ok(booked(&one_night)));
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
        assert_eq!(units(&tally), [1, 2, 1]);
    }

    #[test]
    fn sold_out_means_full_when_the_days_bookings_are_made_whatever_is_given_back_later() {
        let cancelled = Ending::Cancelled(day("2031-05-01"));
        let row = Row { ending: Some(cancelled), ..row("2031-05-01", 1) };
        let hotels = Hotels::of(&Workload::choose(vec![row.clone()], Choice::default())).expect("hotels");
        let sold_out = || Told::SoldOut {
            room_type: "A".parse().expect("a code"),
            night: day("2031-05-01"),
            available: 0,
        };
        let mut tally = Tally::default();
        tally.note(&row, Ok(booked(&row)));
        tally.note(&row, Ok(sold_out()));
        tally.check_sold_out(&hotels);
        let taken = tally.take_ending(cancelled, &row).expect("a booking");
        let closed = Closed::Cancelled { penalty: euros("0.00"), refund: euros("180.00") };
        tally.note_closed(&row, &taken, cancelled, Ok(closed));
        tally.check_sold_out(&hotels);
        assert_eq!((tally.not_full, tally.wrong_in_all()), (0, 0));

        tally.note(&row, Ok(sold_out()));
        tally.check_sold_out(&hotels);
        assert_eq!((tally.not_full, tally.wrong_in_all()), (1, 1));
        assert_eq!(tally.shown, ["PT-CITY A 2031-05-01: told to be sold out with 0 of 1 booked"]);
    }

    fn change(tally: &mut Tally, row: &Row, check_in: &str, nights: u64) -> Reserved {
        let hotels = Hotels::of(&Workload::choose(vec![row.clone()], Choice::default())).expect("hotels");
        let booked = tally.take_changing(1, row).expect("a booking");
        let to = booked.wish.on(sample::wish(check_in, nights).dates());
        let priced =
            Expected::of(&hotels, &booked, &to, Hour::Evening.of(day("2031-05-01"))).expect("a price");
        let booked = tally.note_changed(row, booked, Ok(Changed::Dates(priced))).expect("a booking");
        tally.put_back(row, booked.clone());
        booked
    }

    #[test]
    fn a_change_moves_nights_and_money_and_what_it_gives_back_counts_until_the_days_changes_are_made() {
        let cancelled = Ending::Cancelled(day("2031-05-08"));
        let row = Row { ending: Some(cancelled), ..row("2031-05-10", 2) };
        let hotels = Hotels::of(&Workload::choose(vec![row.clone()], Choice::default())).expect("hotels");
        let mut tally = Tally::default();
        tally.note(&row, Ok(booked(&row)));
        let booked = change(&mut tally, &row, "2031-05-11", 3);
        assert_eq!((booked.version, booked.total), (2, euros("270.00")));
        assert_eq!(units(&tally), [1, 1, 1, 1]);
        let sold_out = Changed::SoldOut { night: day("2031-05-10") };
        assert!(tally.note_changed(&row, booked, Ok(sold_out.clone())).is_some());
        tally.end_changes(&hotels);
        assert_eq!((tally.not_full, units(&tally)), (0, vec![0, 1, 1, 1]));

        let booked = change(&mut tally, &row, "2031-05-11", 1);
        assert!(tally.note_changed(&row, booked.clone(), Ok(sold_out)).is_some());
        tally.end_changes(&hotels);
        assert_eq!((tally.not_full, units(&tally)), (1, vec![0, 1, 0, 0]));
        let account = tally.accounts[&Hotel::City];
        assert_eq!((account.sales, account.refunds), (2, 2), "the last payment did not cover it");
        assert_eq!((account.sold, account.refunded), (euros("270.00"), euros("180.00")));

        assert!(
            tally.note_changed(&row, booked.clone(), Ok(Changed::Guest)).is_some_and(|now| now.version == 4)
        );
        let wrong = Wrong::Changed { step: "price", reservation: "res".to_owned(), why: "it is".to_owned() };
        assert!(tally.note_changed(&row, booked, Err(wrong)).is_none());
        let other = Row { number: 2, ..row };
        assert!(tally.take_changing(3, &other).is_none());
        let expected = Changes {
            with_payment: 1,
            with_refund: 1,
            without_money: 0,
            guests: 1,
            sold_out: 2,
            unbooked: 3,
            wrong: 1,
        };
        assert_eq!((tally.changes, tally.changes.in_all(), tally.wrong_in_all()), (expected, 9, 2));
    }

    #[test]
    fn what_ends_gives_nights_and_money_back_once_and_what_was_refused_has_nothing_to_give() {
        let (cancelled, no_show) = (Ending::Cancelled(day("2031-05-01")), Ending::NoShow(day("2031-05-02")));
        let row = |number, ending| Row { number, ending: Some(ending), ..row("2031-05-01", 2) };
        let (first, second, third) = (row(1, cancelled), row(2, no_show), row(3, cancelled));
        let mut tally = Tally::default();
        for booked_row in [&first, &second, &third] {
            tally.note(booked_row, Ok(booked(booked_row)));
        }
        assert_eq!(units(&tally), [3, 3]);
        let taken = [(&first, cancelled), (&second, no_show), (&third, cancelled)]
            .map(|(row, ending)| tally.take_ending(ending, row).expect("a booking"));
        let all = Closed::Cancelled { penalty: euros("0.00"), refund: euros("180.00") };
        let nothing = Closed::Cancelled { penalty: euros("180.00"), refund: euros("0.00") };
        tally.note_closed(&first, &taken[0], cancelled, Ok(all));
        assert_eq!(units(&tally), [2, 2]);
        tally.note_closed(&second, &taken[1], no_show, Ok(Closed::NoShow));
        assert_eq!(units(&tally), [2, 1], "the arrival's night has passed");
        tally.note_closed(&third, &taken[2], cancelled, Ok(nothing));
        assert_eq!(units(&tally), [1, 0]);
        assert!(tally.take_ending(cancelled, &first).is_none());
        assert!(tally.take_ending(no_show, &row(4, no_show)).is_none());

        let expected = Endings {
            cancelled_free: 1,
            cancelled_with_fee: 1,
            no_shows: 1,
            cancelled_unbooked: 1,
            no_shows_unbooked: 1,
            wrong: 0,
        };
        assert_eq!((tally.endings, tally.events()), (expected, 8));
        let account = tally.accounts[&Hotel::City];
        assert_eq!((account.sales, account.refunds), (3, 1));
        assert_eq!((account.sold, account.refunded), (euros("540.00"), euros("180.00")));
        assert_eq!(account.kept(), euros("360.00"));
    }
}
