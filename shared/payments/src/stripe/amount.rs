//! Money as Stripe counts it, which is not always in the currency's minor unit.
//!
//! The rules are those of its page on currencies: most currencies have two decimals whatever ISO 4217
//! says; sixteen have none; five have three, of which the last must be zero; ISK has two that must be
//! zero. HUF and TWD are charged with two (only payouts are whole). What its documents tell in two ways
//! (UGX) or do not tell (the dinars of Iraq and Libya) is not charged at all: a factor of a hundred is
//! no risk to take.

use keyrack_domain::money::{Currency, InvalidAmount, Money};
use rust_decimal::Decimal;

use crate::outcome::NotSent;

const WHOLE: [&str; 15] =
    ["BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"];
const THOUSANDTHS: [&str; 5] = ["BHD", "JOD", "KWD", "OMR", "TND"];
const NOT_CHARGED: [&str; 3] = ["UGX", "IQD", "LYD"];

/// How Stripe counts one currency.
struct Counting {
    decimals: u32,
    /// Every amount is a multiple of this.
    step: u64,
}

fn counting(currency: Currency) -> Option<Counting> {
    let code = currency.code();
    let (decimals, step) = match code {
        _ if WHOLE.contains(&code) => (0, 1),
        _ if THOUSANDTHS.contains(&code) => (3, 10),
        _ if NOT_CHARGED.contains(&code) => return None,
        "ISK" => (2, 100),
        _ => (2, 1),
    };
    Some(Counting { decimals, step })
}

/// More than zero, as it goes over the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Amount {
    pub(super) units: u64,
    pub(super) currency: Currency,
}

impl TryFrom<Money> for Amount {
    type Error = NotSent;

    fn try_from(money: Money) -> Result<Self, NotSent> {
        if money.amount() <= Decimal::ZERO {
            return Err(NotSent::NotPositive);
        }
        let currency = money.currency();
        let Counting { decimals, step } = counting(currency).ok_or(NotSent::NotChargeable)?;
        let mut scaled = money.amount().normalize();
        if scaled.scale() > decimals {
            return Err(NotSent::NotChargeable);
        }
        scaled.rescale(decimals);
        let units = u64::try_from(scaled.mantissa()).map_err(|_| NotSent::NotChargeable)?;
        if scaled.scale() != decimals || units % step != 0 {
            return Err(NotSent::NotChargeable);
        }
        Ok(Self { units, currency })
    }
}

impl Amount {
    /// As a currency is written in its calls.
    pub(super) fn code(self) -> String {
        self.currency.code().to_ascii_lowercase()
    }
}

/// What Stripe says, zero included. A fraction that the currency does not have is an error, and never
/// rounded away.
pub(super) fn read(units: u64, code: &str) -> Result<Money, Unreadable> {
    if code.bytes().any(|byte| !byte.is_ascii_lowercase()) {
        return Err(Unreadable::Currency);
    }
    let currency: Currency = code.to_ascii_uppercase().parse().map_err(|_| Unreadable::Currency)?;
    let Counting { decimals, .. } = counting(currency).ok_or(Unreadable::Currency)?;
    let amount = Decimal::try_from_i128_with_scale(i128::from(units), decimals)
        .map_err(|_| Unreadable::Amount(InvalidAmount::TooLarge))?;
    Money::exact(amount, currency).map_err(Unreadable::Amount)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("must be the code of a currency that we charge, in lower case")]
    Currency,
    #[error(transparent)]
    Amount(InvalidAmount),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(text: &str, code: &str) -> Money {
        Money::parse(text, code.parse().expect("a currency")).expect("money")
    }

    #[test]
    fn b099_b105_each_currency_is_counted_as_stripe_counts_it() {
        for (text, code, units) in [
            ("14560.00", "INR", 1_456_000),
            ("0.01", "EUR", 1),
            ("26400", "JPY", 26_400),
            ("26400", "KRW", 26_400),
            ("1.500", "KWD", 1_500),
            ("5.120", "BHD", 5_120),
            ("5", "ISK", 500),
            ("10.45", "HUF", 1_045),
            ("800.45", "TWD", 80_045),
            ("1500.00", "MGA", 1_500),
        ] {
            let amount = Amount::try_from(money(text, code)).expect("can be charged");
            assert_eq!(amount.units, units, "{text} {code}");
            assert_eq!(read(units, &amount.code()), Ok(money(text, code)), "{text} {code}");
        }
    }

    #[test]
    fn what_stripe_cannot_take_exactly_does_not_leave() {
        for (text, code) in
            [("1.501", "KWD"), ("0.001", "TND"), ("1500.50", "MGA"), ("5", "UGX"), ("1.000", "IQD")]
        {
            let refused = Amount::try_from(money(text, code));
            assert!(matches!(refused, Err(NotSent::NotChargeable)), "{text} {code}: {refused:?}");
        }
        let zero = Amount::try_from(money("0", "INR"));
        assert!(matches!(zero, Err(NotSent::NotPositive)), "{zero:?}");
    }

    #[test]
    fn what_stripe_says_is_not_rounded() {
        assert_eq!(read(0, "inr"), Ok(money("0.00", "INR")));
        assert_eq!(read(550, "isk"), Err(Unreadable::Amount(InvalidAmount::TooManyDecimals)));
        assert_eq!(read(u64::MAX, "eur"), Err(Unreadable::Amount(InvalidAmount::TooLarge)));
        for code in ["INR", "ugx", "xau", ""] {
            assert_eq!(read(1, code), Err(Unreadable::Currency), "{code}");
        }
    }
}
