//! Money: a decimal with exactly the decimals of its currency. No binary float anywhere.

use std::{fmt, str::FromStr};

use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Serialize};

/// An ISO 4217 currency that has minor units defined (zero, two, three decimals).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(iso_currency::Currency);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be the code of a currency in use, such as EUR")]
pub struct NotACurrency;

impl Currency {
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// Decimals of the minor unit: 0 for JPY, 2 for INR, 3 for KWD.
    pub fn decimals(self) -> u32 {
        self.0.exponent().map_or(2, u32::from)
    }
}

impl FromStr for Currency {
    type Err = NotACurrency;

    fn from_str(text: &str) -> Result<Self, NotACurrency> {
        let currency = iso_currency::Currency::from_code(text).ok_or(NotACurrency)?;
        // Gold, test codes and the like have no minor unit; nothing is sold in them.
        currency.exponent().filter(|decimals| *decimals <= 3).map(|_| Self(currency)).ok_or(NotACurrency)
    }
}

impl TryFrom<String> for Currency {
    type Error = NotACurrency;

    fn try_from(text: String) -> Result<Self, NotACurrency> {
        text.parse()
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.code().to_owned()
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The largest amount we accept, in major units: sums of it stay far inside `NUMERIC(20, 3)`.
pub const MAX_AMOUNT: Decimal = Decimal::from_parts(0xA4C6_8000, 0x0003_8D7E, 0, false, 0);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAmount {
    #[error("must be a plain decimal number such as \"14560.00\"")]
    NotADecimal,
    #[error("has more decimals than its currency")]
    TooManyDecimals,
    #[error("is larger than any amount we handle")]
    TooLarge,
}

/// An amount of one currency, scaled to exactly that currency's decimals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Money {
    amount: Decimal,
    currency: Currency,
}

#[derive(Serialize, Deserialize)]
struct Parts {
    amount: Decimal,
    currency: Currency,
}

impl Money {
    /// Exactly this amount, or an error: nothing is rounded away from what somebody wrote.
    pub fn exact(amount: Decimal, currency: Currency) -> Result<Self, InvalidAmount> {
        if amount.abs() > MAX_AMOUNT {
            return Err(InvalidAmount::TooLarge);
        }
        if amount.normalize().scale() > currency.decimals() {
            return Err(InvalidAmount::TooManyDecimals);
        }
        Ok(Self::rounded(amount, currency))
    }

    /// What a client wrote: digits with at most the currency's decimals. No sign, no exponent, no spaces.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, InvalidAmount> {
        let plain = (1..=32).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && text.bytes().next().is_some_and(|b| b.is_ascii_digit())
            && text.bytes().next_back().is_some_and(|b| b.is_ascii_digit());
        if !plain {
            return Err(InvalidAmount::NotADecimal);
        }
        let amount = Decimal::from_str_exact(text).map_err(|_| InvalidAmount::NotADecimal)?;
        if amount.scale() > currency.decimals() {
            return Err(InvalidAmount::TooManyDecimals);
        }
        Self::exact(amount, currency)
    }

    /// Half away from zero, to the currency's decimals; the same rule as PostgreSQL's `round(numeric, int)`.
    pub fn rounded(amount: Decimal, currency: Currency) -> Self {
        let mut amount =
            amount.round_dp_with_strategy(currency.decimals(), RoundingStrategy::MidpointAwayFromZero);
        amount.rescale(currency.decimals());
        // Nothing is nothing: a decimal has a zero below zero, and would write it so.
        if amount.is_zero() {
            amount.set_sign_positive(true);
        }
        Self { amount, currency }
    }

    pub fn zero(currency: Currency) -> Self {
        Self::rounded(Decimal::ZERO, currency)
    }

    pub const fn amount(self) -> Decimal {
        self.amount
    }

    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// `None` where the sum is larger than any amount we handle, or the currencies differ.
    pub fn plus(self, other: Self) -> Option<Self> {
        if self.currency != other.currency {
            return None;
        }
        Self::exact(self.amount.checked_add(other.amount)?, self.currency).ok()
    }

    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self { amount: -other.amount, currency: other.currency })
    }

    /// `None` where the product is larger than any amount we handle.
    pub fn times(self, factor: u32) -> Option<Self> {
        Self::exact(self.amount.checked_mul(Decimal::from(factor))?, self.currency).ok()
    }

    pub fn is_zero(self) -> bool {
        self.amount.is_zero()
    }
}

/// The amount alone, with the currency's decimals: `14560.00`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.amount.fmt(f)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.amount, self.currency)
    }
}

impl TryFrom<Parts> for Money {
    type Error = InvalidAmount;

    fn try_from(parts: Parts) -> Result<Self, InvalidAmount> {
        Self::exact(parts.amount, parts.currency)
    }
}

impl From<Money> for Parts {
    fn from(money: Money) -> Self {
        Self { amount: money.amount, currency: money.currency }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        code.parse().expect("a currency")
    }

    fn read(text: &str, code: &str) -> Result<String, InvalidAmount> {
        Money::parse(text, currency(code)).map(|money| money.to_string())
    }

    #[test]
    fn nothing_has_no_sign() {
        let inr: Currency = "INR".parse().expect("a currency");
        let nothing = Money::zero(inr);
        let some = Money::parse("12.50", inr).expect("money");
        for (one, other) in [(nothing, nothing), (some, some)] {
            assert_eq!(one.minus(other).expect("money").to_string(), "0.00");
        }
        assert_eq!(Money::rounded("-0.001".parse().expect("a decimal"), inr).to_string(), "0.00");
    }

    #[test]
    fn b099_b105_amounts_keep_their_currencys_decimals_exactly() {
        assert_eq!(read("14560.10", "INR").as_deref(), Ok("14560.10"));
        assert_eq!(read("14560", "INR").as_deref(), Ok("14560.00"));
        assert_eq!(read("26400", "JPY").as_deref(), Ok("26400"));
        assert_eq!(read("1.5", "KWD").as_deref(), Ok("1.500"));
        assert_eq!(read("90071992547409.93", "EUR").as_deref(), Ok("90071992547409.93"));
        assert_eq!(read("26400.50", "JPY"), Err(InvalidAmount::TooManyDecimals));
        assert_eq!(read("1.000", "INR"), Err(InvalidAmount::TooManyDecimals));
    }

    #[test]
    fn what_is_not_a_plain_decimal_is_refused() {
        for text in
            ["", " ", "-1", "+1", "1e3", "1,000", ".5", "5.", "1.2.3", "NaN", "0x10", "1_000", "\u{661}"]
        {
            assert_eq!(read(text, "INR"), Err(InvalidAmount::NotADecimal), "{text:?}");
        }
        assert_eq!(read("1000000000000001", "INR"), Err(InvalidAmount::TooLarge));
        assert_eq!(read("99999999999999999999999999999999", "INR"), Err(InvalidAmount::NotADecimal));
    }

    #[test]
    fn b103_rounding_is_half_away_from_zero() {
        let cases =
            [("0.025", "0.03"), ("1.005", "1.01"), ("2.675", "2.68"), ("0.125", "0.13"), ("-0.125", "-0.13")];
        for (raw, rounded) in cases {
            let raw = Decimal::from_str_exact(raw).expect("a decimal");
            assert_eq!(Money::rounded(raw, currency("EUR")).to_string(), rounded);
        }
    }

    #[test]
    fn b105_a_tenth_and_two_tenths_make_three() {
        let sum = Money::parse("0.1", currency("EUR"))
            .expect("money")
            .plus(Money::parse("0.2", currency("EUR")).expect("money"));
        assert_eq!(sum.map(|m| m.to_string()).as_deref(), Some("0.30"));
    }

    #[test]
    fn currencies_do_not_mix_and_only_those_in_use_exist() {
        assert_eq!(Money::zero(currency("EUR")).plus(Money::zero(currency("USD"))), None);
        for code in ["XAU", "XXX", "eur", "EURO", ""] {
            assert_eq!(code.parse::<Currency>(), Err(NotACurrency), "{code:?}");
        }
    }
}
