//! A row of the table, read as what a guest wanted at the time.

use chrono::{Days, Month, NaiveDate};
use keyrack_domain::code::RoomTypeCode;
use rust_decimal::Decimal;
use serde::Deserialize;

use crate::{
    course::{Course, Dates},
    ending::Ending,
};

/// The table has no ages. Whoever travels as a child is told as 8, whoever as a baby as 1.
const CHILD_AGE: u8 = 8;
const BABY_AGE: u8 = 1;

/// The columns that we use, as they stand there.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    hotel: String,
    pub(crate) is_canceled: u8,
    /// Days between booking and arrival.
    lead_time: u16,
    arrival_date_year: i32,
    arrival_date_month: String,
    arrival_date_day_of_month: u32,
    stays_in_weekend_nights: u16,
    stays_in_week_nights: u16,
    adults: u16,
    /// `NA` in some rows.
    children: String,
    babies: u16,
    reserved_room_type: String,
    deposit_type: String,
    /// What a night cost on average, in euros.
    adr: String,
    /// Times, until the arrival or the cancellation.
    booking_changes: u16,
    pub(crate) reservation_status: String,
    pub(crate) reservation_status_date: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// Its place in the table, from 1.
    pub(crate) number: u32,
    /// The day on which the guest booked.
    pub(crate) created: NaiveDate,
    /// `None`: the guest came, and stayed.
    pub(crate) ending: Option<Ending>,
    /// The stay in the end.
    pub(crate) wish: Result<Wish, Unusable>,
    /// As the table says.
    pub(crate) changes: u16,
    /// How it came to that stay.
    pub(crate) course: Course,
}

/// What is asked of the product, whether it can be sold or not: to refuse it is the product's part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wish {
    pub(crate) hotel: Hotel,
    pub(crate) check_in: NaiveDate,
    pub(crate) check_out: NaiveDate,
    pub(crate) adults: u16,
    pub(crate) children_ages: Vec<u8>,
    pub(crate) room_type: RoomTypeCode,
    pub(crate) plan: Plan,
    pub(crate) adr: Decimal,
}

/// What the API has no words for, so that it cannot even be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unusable {
    NegativeRate,
    ChildrenNotGiven,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Hotel {
    City,
    Resort,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Plan {
    Flexible,
    NonRefundable,
}

/// The table has changed, or is another one.
#[derive(Debug, thiserror::Error)]
#[error("{field} cannot be {text:?}")]
pub(crate) struct NotABooking {
    field: &'static str,
    text: String,
}

impl Row {
    pub(crate) fn read(number: u32, line: &Line) -> Result<Self, NotABooking> {
        let check_in = arrival(line)?;
        let created = check_in.checked_sub_days(Days::new(u64::from(line.lead_time)));
        let created = created.ok_or_else(|| wrong("lead_time", &line.lead_time))?;
        let ending = Ending::read(line, created, check_in)?;
        let last_day = match ending {
            Some(Ending::Cancelled(date)) => date,
            Some(Ending::NoShow(_)) | None => check_in,
        };
        let changes = line.booking_changes;
        let wish = wish(line, check_in)?;
        let mut row = Self { number, created, ending, wish, changes, course: Course::default() };
        row.course = Course::of(&row, last_day, changes);
        Ok(row)
    }

    /// What is booked at first.
    pub(crate) fn first_wish(&self) -> Result<Wish, Unusable> {
        let wish = self.wish.as_ref().map_err(|unusable| *unusable)?;
        Ok(self.course.first.map_or_else(|| wish.clone(), |dates| wish.on(dates)))
    }

    /// Of all stays on the way.
    pub(crate) fn last_night(&self) -> Option<NaiveDate> {
        let on_the_way = self.course.stays().filter_map(|dates| dates.check_out.pred_opt());
        on_the_way.chain(self.wish.as_ref().ok()?.last_night()).max()
    }
}

fn wish(line: &Line, check_in: NaiveDate) -> Result<Result<Wish, Unusable>, NotABooking> {
    let nights = u64::from(line.stays_in_weekend_nights) + u64::from(line.stays_in_week_nights);
    let check_out = check_in.checked_add_days(Days::new(nights));
    let check_out = check_out.ok_or_else(|| wrong("stays_in_week_nights", &line.stays_in_week_nights))?;
    let hotel = match line.hotel.as_str() {
        "City Hotel" => Hotel::City,
        "Resort Hotel" => Hotel::Resort,
        other => return Err(wrong("hotel", other)),
    };
    let plan = match line.deposit_type.as_str() {
        "Non Refund" => Plan::NonRefundable,
        "No Deposit" | "Refundable" => Plan::Flexible,
        other => return Err(wrong("deposit_type", other)),
    };
    let room_type = line.reserved_room_type.parse();
    let room_type = room_type.map_err(|_| wrong("reserved_room_type", &line.reserved_room_type))?;
    let adr = Decimal::from_str_exact(&line.adr).map_err(|_| wrong("adr", &line.adr))?;
    if adr.is_sign_negative() && !adr.is_zero() {
        return Ok(Err(Unusable::NegativeRate));
    }
    if line.children == "NA" {
        return Ok(Err(Unusable::ChildrenNotGiven));
    }
    let children: u16 = line.children.parse().map_err(|_| wrong("children", &line.children))?;
    let children_ages = [(CHILD_AGE, children), (BABY_AGE, line.babies)];
    let children_ages =
        children_ages.into_iter().flat_map(|(age, count)| std::iter::repeat_n(age, usize::from(count)));
    let children_ages = children_ages.collect();
    Ok(Ok(Wish { hotel, check_in, check_out, adults: line.adults, children_ages, room_type, plan, adr }))
}

fn arrival(line: &Line) -> Result<NaiveDate, NotABooking> {
    let month: Option<Month> = line.arrival_date_month.parse().ok();
    let day = line.arrival_date_day_of_month;
    let date = month
        .and_then(|month| NaiveDate::from_ymd_opt(line.arrival_date_year, month.number_from_month(), day));
    let text = || format!("{day} {} {}", line.arrival_date_month, line.arrival_date_year);
    date.ok_or_else(|| wrong("arrival_date", &text()))
}

pub(crate) fn wrong(field: &'static str, text: &(impl ToString + ?Sized)) -> NotABooking {
    NotABooking { field, text: text.to_string() }
}

impl Wish {
    pub(crate) const fn dates(&self) -> Dates {
        Dates { check_in: self.check_in, check_out: self.check_out }
    }

    /// The same on other dates.
    pub(crate) fn on(&self, Dates { check_in, check_out }: Dates) -> Self {
        Self { check_in, check_out, ..self.clone() }
    }

    /// In date order; none at all where the guest left on the day of arrival.
    pub(crate) fn nights(&self) -> impl Iterator<Item = NaiveDate> + use<> {
        let check_out = self.check_out;
        self.check_in.iter_days().take_while(move |night| *night < check_out)
    }

    /// Those that go back with this ending.
    pub(crate) fn nights_freed_by(&self, ending: Ending) -> impl Iterator<Item = NaiveDate> + use<> {
        self.nights().filter(move |night| ending.frees(*night))
    }

    pub(crate) fn last_night(&self) -> Option<NaiveDate> {
        self.nights().last()
    }
}

impl Unusable {
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::NegativeRate => "NEGATIVE_RATE",
            Self::ChildrenNotGiven => "CHILDREN_NOT_GIVEN",
        }
    }
}

impl Hotel {
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::City => "PT-CITY",
            Self::Resort => "PT-RESORT",
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::City => "City hotel",
            Self::Resort => "Resort hotel",
        }
    }

    pub(crate) const fn town(self) -> &'static str {
        match self {
            Self::City => "Lisbon",
            Self::Resort => "Algarve",
        }
    }
}

impl Plan {
    pub(crate) const ALL: [Self; 2] = [Self::Flexible, Self::NonRefundable];

    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Flexible => "FLEX",
            Self::NonRefundable => "NONREF",
        }
    }
}
