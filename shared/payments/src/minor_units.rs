//! Money as providers count it: whole minor units. How many a major unit has is the currency's
//! business and never a factor of 100.

use keyrack_domain::money::{Currency, InvalidAmount, Money};
use rust_decimal::Decimal;

/// More than zero, in the currency's smallest unit: 26400 JPY is 26,400 yen, 1456000 INR is
/// 14,560.00 rupees, 1500 KWD is 1.500 dinars.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MinorUnits {
    amount: u64,
    currency: Currency,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("only an amount of more than zero is charged or given back")]
pub struct NotCharged;

impl MinorUnits {
    pub const fn amount(self) -> u64 {
        self.amount
    }

    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// What a provider says, zero included.
    pub fn read(amount: u64, currency: Currency) -> Result<Money, InvalidAmount> {
        let amount = Decimal::try_from_i128_with_scale(i128::from(amount), currency.decimals());
        Money::exact(amount.map_err(|_| InvalidAmount::TooLarge)?, currency)
    }
}

impl TryFrom<Money> for MinorUnits {
    type Error = NotCharged;

    fn try_from(money: Money) -> Result<Self, NotCharged> {
        // Money is scaled to exactly its currency's decimals, so the mantissa counts minor units;
        // the largest amount we handle has 10^18 of them.
        let amount = u64::try_from(money.amount().mantissa()).map_err(|_| NotCharged)?;
        if amount == 0 { Err(NotCharged) } else { Ok(Self { amount, currency: money.currency() }) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn money(text: &str, code: &str) -> Money {
        Money::parse(text, code.parse().expect("a currency")).expect("money")
    }

    #[test]
    fn b099_b105_each_currency_counts_in_its_own_minor_unit() {
        for (text, code, minor) in [
            ("26400", "JPY", 26_400),
            ("13200", "JPY", 13_200),
            ("14560.00", "INR", 1_456_000),
            ("14560.10", "INR", 1_456_010),
            ("1.500", "KWD", 1_500),
            ("0.01", "EUR", 1),
            ("90071992547409.93", "EUR", 9_007_199_254_740_993),
            ("1000000000000000", "KWD", 1_000_000_000_000_000_000),
        ] {
            let units = MinorUnits::try_from(money(text, code)).expect("more than zero");
            assert_eq!(units.amount(), minor, "{text} {code}");
            assert_eq!(MinorUnits::read(minor, units.currency()), Ok(money(text, code)), "{text} {code}");
        }
    }

    #[test]
    fn nothing_and_less_than_nothing_are_not_charged() {
        let zero = money("0", "INR");
        let less = zero.minus(money("1", "INR")).expect("money");
        assert_eq!(MinorUnits::try_from(zero), Err(NotCharged));
        assert_eq!(MinorUnits::try_from(less), Err(NotCharged));
    }

    #[test]
    fn an_amount_that_we_do_not_handle_is_not_read() {
        let dinar = "KWD".parse().expect("a currency");
        assert_eq!(MinorUnits::read(u64::MAX, dinar), Err(InvalidAmount::TooLarge));
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same_money(
            minor in 1_u64..=100_000_000_000_000_000,
            code in prop::sample::select(vec!["JPY", "INR", "EUR", "KWD", "TND", "KRW"]),
        ) {
            let currency: Currency = code.parse().expect("a currency");
            if let Ok(read) = MinorUnits::read(minor, currency) {
                prop_assert_eq!(MinorUnits::try_from(read).map(MinorUnits::amount), Ok(minor));
            } else {
                prop_assert_eq!(currency.decimals(), 0, "only without decimals is this too large");
            }
        }
    }
}
