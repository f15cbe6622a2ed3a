//! For tests: a booking of our own making.

use chrono::{Days, NaiveDate};
use keyrack_domain::money::Money;
use rust_decimal::Decimal;
use secrecy::SecretString;

use crate::{
    course::Course,
    reserved::Reserved,
    row::{Hotel, Plan, Row, Wish},
};

pub(crate) fn day(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

/// Two adults in a room A of the city hotel, from the day of booking on.
pub(crate) fn wish(check_in: &str, nights: u64) -> Wish {
    let check_in = day(check_in);
    Wish {
        hotel: Hotel::City,
        check_in,
        check_out: check_in + Days::new(nights),
        adults: 2,
        children_ages: Vec::new(),
        room_type: "A".parse().expect("a code"),
        plan: Plan::Flexible,
        adr: Decimal::from(90),
    }
}

pub(crate) fn row(created: &str, nights: u64) -> Row {
    Row {
        number: 1,
        created: day(created),
        ending: None,
        wish: Ok(wish(created, nights)),
        changes: 0,
        course: Course::default(),
    }
}

pub(crate) fn euros(amount: &str) -> Money {
    Money::parse(amount, "EUR".parse().expect("a currency")).expect("an amount")
}

/// For two nights from 15 July 2031.
pub(crate) fn reserved(total: &str) -> Reserved {
    Reserved {
        wish: wish("2031-07-15", 2),
        fees: euros("0.00"),
        payments: vec![euros(total)],
        reservation: "res_00000007018f0000000070008000000000000001".parse().expect("an id"),
        version: 1,
        token: SecretString::from("token"),
        total: euros(total),
    }
}

/// The row as it was booked, for 180 euros.
pub(crate) fn booked(row: &Row) -> Reserved {
    Reserved { wish: row.first_wish().expect("a wish"), ..reserved("180.00") }
}
