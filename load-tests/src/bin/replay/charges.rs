//! What the payment provider took and gave back, by its own book: the sandbox's simulator tells it.

use keyrack_domain::money::{Currency, Money};
use reqwest::{Method, StatusCode};
use rust_decimal::Decimal;
use serde::Deserialize;

use crate::{
    api::{Api, Call, CallError},
    tally::Tally,
    timings::Step,
};

/// A whole replay has some 300,000 charges.
const PER_PAGE: usize = 5_000;
const MAX_PAGES: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChargesError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("there are more than {} charges", PER_PAGE * MAX_PAGES)]
    TooMany,
    #[error("the page after {0} does not go on from there")]
    GoesBack(String),
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Charge>,
    next_cursor: Option<String>,
}

/// Authorizations and voids move no money.
#[derive(Deserialize)]
struct Charge {
    kind: String,
    state: String,
    #[serde(default)]
    amount: u64,
    #[serde(default)]
    currency: String,
    /// Of a capture.
    #[serde(default)]
    refunded: u64,
}

/// In minor units of one currency.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Book {
    pub(crate) captures: u64,
    captured: u64,
    pub(crate) refunds: u64,
    refunded: u64,
    /// The same once more, as the captures tell it.
    gone_back: u64,
}

impl Book {
    pub(crate) async fn read(api: &Api, currency: Currency) -> Result<Self, ChargesError> {
        let mut book = Self::default();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let after = cursor.as_deref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            let path = format!("/simulator/charges?limit={PER_PAGE}{after}");
            let call = Call::new(Step::SetUp, Method::GET, &path, None);
            let page: Page = api.send(call).await?.expect(StatusCode::OK)?;
            page.items.iter().for_each(|charge| book.add(charge, currency));
            match page.next_cursor {
                None => return Ok(book),
                Some(next) if cursor.as_ref().is_some_and(|last| next <= *last) => {
                    return Err(ChargesError::GoesBack(next));
                }
                next => cursor = next,
            }
        }
        Err(ChargesError::TooMany)
    }

    fn add(&mut self, charge: &Charge, currency: Currency) {
        if charge.currency != currency.code() {
            return;
        }
        match (charge.kind.as_str(), charge.state.as_str()) {
            ("capture", "CAPTURED") => {
                self.captures += 1;
                self.captured += charge.amount;
                self.gone_back += charge.refunded;
            }
            ("refund", "REFUNDED") => {
                self.refunds += 1;
                self.refunded += charge.amount;
            }
            _ => {}
        }
    }

    /// What came in since `before`, on a sandbox that had been used already.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            captures: self.captures.saturating_sub(before.captures),
            captured: self.captured.saturating_sub(before.captured),
            refunds: self.refunds.saturating_sub(before.refunds),
            refunded: self.refunded.saturating_sub(before.refunded),
            gone_back: self.gone_back.saturating_sub(before.gone_back),
        }
    }

    /// What our tally says must be in it.
    pub(crate) fn expected(tally: &Tally) -> Self {
        let accounts = || tally.accounts.values();
        let refunded = accounts().map(|account| minor_units(account.refunded)).sum();
        Self {
            captures: accounts().map(|account| account.sales).sum(),
            captured: accounts().map(|account| minor_units(account.sold)).sum(),
            refunds: accounts().map(|account| account.refunds).sum(),
            refunded,
            gone_back: refunded,
        }
    }

    pub(crate) fn kept(&self, currency: Currency) -> Money {
        money(self.captured.saturating_sub(self.refunded), currency)
    }

    pub(crate) fn in_words(&self, currency: Currency) -> String {
        let Self { captures, refunds, .. } = self;
        let [captured, refunded, gone_back] =
            [self.captured, self.refunded, self.gone_back].map(|units| money(units, currency));
        format!(
            "{captured} in {captures} captures, of which {gone_back} went back; {refunded} in {refunds} refunds"
        )
    }
}

fn money(minor_units: u64, currency: Currency) -> Money {
    let units = i64::try_from(minor_units).unwrap_or(i64::MAX);
    Money::rounded(Decimal::new(units, currency.decimals()), currency)
}

fn minor_units(money: Money) -> u64 {
    u64::try_from(money.amount().mantissa()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ending::Ending,
        reserved::Closed,
        row::Row,
        sample::{day, euros, reserved, row},
        told::Told,
    };

    const PAGE: &str = r#"{"items": [
        {"reference": "att_1-auth", "kind": "authorize", "state": "AUTHORIZED", "amount": 18000,
         "currency": "EUR", "method": "pm_ok", "of": null, "calls": 1, "refunded": 0},
        {"reference": "att_1-capture", "kind": "capture", "state": "CAPTURED", "amount": 18000,
         "currency": "EUR", "method": null, "of": "att_1-auth", "calls": 1, "refunded": 18000},
        {"reference": "att_1-refund-1-1", "kind": "refund", "state": "REFUNDED", "amount": 18000,
         "currency": "EUR", "method": null, "of": "att_1-capture", "calls": 2, "refunded": 0},
        {"reference": "att_2-capture", "kind": "capture", "state": "CAPTURED", "amount": 9000,
         "currency": "EUR", "method": null, "of": "att_2-auth", "calls": 1, "refunded": 0},
        {"reference": "att_3-capture", "kind": "capture", "state": "FAILED", "amount": 5000,
         "currency": "EUR", "method": null, "of": "att_3-auth", "calls": 1, "refunded": 0},
        {"reference": "att_4-void", "kind": "void", "state": "VOIDED", "method": null,
         "of": "att_4-auth", "calls": 1, "refunded": 0},
        {"reference": "att_5-capture", "kind": "capture", "state": "CAPTURED", "amount": 700,
         "currency": "JPY", "method": null, "of": "att_5-auth", "calls": 1, "refunded": 0}
    ], "next_cursor": null}"#;

    fn book() -> Book {
        let page: Page = serde_json::from_str(PAGE).expect("a page");
        let mut book = Book::default();
        page.items.iter().for_each(|charge| book.add(charge, euros("1").currency()));
        book
    }

    #[test]
    fn the_book_counts_what_moved_money_in_the_hotels_currency() {
        let euro = euros("1").currency();
        assert_eq!(
            book().in_words(euro),
            "270.00 in 2 captures, of which 180.00 went back; 180.00 in 1 refunds"
        );
        assert_eq!(book().kept(euro), euros("90.00"));
        assert_eq!(book().since(book()), Book::default());
    }

    #[test]
    fn the_book_must_be_what_the_guests_were_told() {
        let mut tally = Tally::default();
        let cancelled = Ending::Cancelled(day("2031-05-01"));
        for (number, total) in [(1, "180.00"), (2, "90.00")] {
            let row = Row { number, ending: Some(cancelled), ..row("2031-05-01", 1) };
            tally.note(&row, Ok(Told::Booked(Box::new(reserved(total)))));
        }
        assert_ne!(Book::expected(&tally), book());
        let closed = Closed::Cancelled { penalty: euros("0.00"), refund: euros("180.00") };
        tally.note_closed(&row("2031-05-01", 1), &reserved("180.00"), cancelled, Ok(closed));
        assert_eq!(Book::expected(&tally), book());
    }
}
