//! A total that somebody else has worked out, spread over the nights of its rooms.

use rust_decimal::Decimal;

use crate::money::Money;

/// Shares that sum exactly to `total` and differ by at most one minor unit, the larger ones first. None
/// where there are no parts.
pub fn spread(total: Money, parts: usize) -> Vec<Money> {
    let Some(count) = i128::try_from(parts).ok().filter(|count| *count > 0) else { return Vec::new() };
    // An amount has exactly the decimals of its currency, so its digits count minor units.
    let minor = total.amount().mantissa();
    let (share, rest) = (minor.div_euclid(count), minor.rem_euclid(count));
    let money = |part: i128| {
        let minor = if part < rest { share + 1 } else { share };
        Money::rounded(Decimal::from_i128_with_scale(minor, total.currency().decimals()), total.currency())
    };
    (0..count).map(money).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(amount: &str, currency: &str, parts: usize) -> Vec<String> {
        let total = Money::parse(amount, currency.parse().expect("a currency")).expect("an amount");
        spread(total, parts).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_does_not_divide_goes_to_the_first_nights_unit_by_unit() {
        assert_eq!(shares("100.00", "INR", 3), ["33.34", "33.33", "33.33"]);
        assert_eq!(shares("1000", "JPY", 3), ["334", "333", "333"]);
        assert_eq!(shares("1.000", "KWD", 3), ["0.334", "0.333", "0.333"]);
        assert_eq!(shares("0.02", "EUR", 3), ["0.01", "0.01", "0.00"]);
        assert_eq!(shares("0.00", "EUR", 2), ["0.00", "0.00"]);
        assert_eq!(shares("14560.00", "INR", 1), ["14560.00"]);
        assert!(shares("1.00", "INR", 0).is_empty());
    }

    #[test]
    fn shares_sum_exactly_to_their_total_in_every_currency() {
        for (amount, currency) in
            [("14560.07", "INR"), ("26401", "JPY"), ("90.001", "KWD"), ("1000000000000000.00", "EUR")]
        {
            let total = Money::parse(amount, currency.parse().expect("a currency")).expect("an amount");
            for parts in 1..=900 {
                let shares = spread(total, parts);
                let zero = Money::zero(total.currency());
                let sum = shares.iter().try_fold(zero, |sum, share| sum.plus(*share));
                assert_eq!((shares.len(), sum), (parts, Some(total)), "{amount} {currency} in {parts}");
            }
        }
    }
}
