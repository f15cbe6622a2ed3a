//! Taxes and fees of a hotel, as it configures them.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{
    money::{Currency, MAX_AMOUNT, Money},
    quote::ChargeKind,
    rule_version::RuleVersion,
    text::{TextFault, check_line},
};

/// Decimals that a percentage may have.
pub const MAX_PERCENT_DECIMALS: u32 = 6;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaxKind {
    /// Of the room's nightly amount.
    Percent,
    /// Once per room and night.
    PerNight,
    /// Once per guest, child or adult, and night.
    PerPersonNight,
    /// Once per room and stay.
    PerStay,
}

impl TaxKind {
    pub const ALL: [Self; 4] = [Self::Percent, Self::PerNight, Self::PerPersonNight, Self::PerStay];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Percent => "percent",
            Self::PerNight => "per_night",
            Self::PerPersonNight => "per_person_night",
            Self::PerStay => "per_stay",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    pub const fn charge_kind(self) -> ChargeKind {
        match self {
            Self::Percent => ChargeKind::Tax,
            Self::PerNight | Self::PerPersonNight | Self::PerStay => ChargeKind::Fee,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tax {
    pub kind: TaxKind,
    pub label: String,
    /// A percentage (12 is 12 %), or an amount in the hotel's currency.
    pub value: Decimal,
    /// Already in the nightly amount: shown and not added.
    pub included: bool,
    /// Slab of the room's nightly amount: applies where `from_amount <= amount < to_amount`.
    pub from_amount: Option<Money>,
    pub to_amount: Option<Money>,
    #[serde(default, skip_serializing_if = "RuleVersion::is_first")]
    pub version: RuleVersion,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TaxFault {
    #[error("the label {0}")]
    Label(TextFault),
    #[error("a percentage is 0 to 100 with at most {MAX_PERCENT_DECIMALS} decimals")]
    Percentage,
    #[error("an amount is not negative and has at most the decimals of its currency")]
    Amount,
    #[error("a slab must end above its start, in the hotel's currency")]
    Slab,
}

impl Tax {
    /// Does it apply to a room that costs `nightly` that night?
    pub fn covers(&self, nightly: Money) -> bool {
        self.from_amount.is_none_or(|from| from.amount() <= nightly.amount())
            && self.to_amount.is_none_or(|to| nightly.amount() < to.amount())
    }

    /// What is wrong with it as a configuration; empty when it can be used.
    pub fn faults(&self, currency: Currency) -> Vec<TaxFault> {
        let mut faults = Vec::new();
        faults.extend(check_line(&self.label, 255).err().map(TaxFault::Label));
        let decimals = self.value.normalize().scale();
        let negative = self.value < Decimal::ZERO;
        if self.kind == TaxKind::Percent {
            if negative || self.value > Decimal::ONE_HUNDRED || decimals > MAX_PERCENT_DECIMALS {
                faults.push(TaxFault::Percentage);
            }
        } else if negative || self.value > MAX_AMOUNT || decimals > currency.decimals() {
            faults.push(TaxFault::Amount);
        }
        let foreign = [self.from_amount, self.to_amount].into_iter().flatten();
        let foreign =
            foreign.into_iter().any(|end| end.currency() != currency || end.amount() < Decimal::ZERO);
        let start = self.from_amount.map_or(Decimal::ZERO, Money::amount);
        if foreign || self.to_amount.is_some_and(|end| end.amount() <= start) {
            faults.push(TaxFault::Slab);
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{currency, decimal, money, tax};

    #[test]
    fn a_slab_includes_its_start_and_not_its_end() {
        let mut slab = tax(TaxKind::Percent, "12", false);
        slab.from_amount = Some(money("1000", "INR"));
        slab.to_amount = Some(money("7500", "INR"));
        let covered = ["999.99", "1000", "7499.99", "7500"].map(|amount| slab.covers(money(amount, "INR")));
        assert_eq!(covered, [false, true, true, false]);
    }

    #[test]
    fn what_cannot_be_charged_cannot_be_configured() {
        let cases = [
            (TaxKind::Percent, "12", "INR", None),
            (TaxKind::Percent, "5.250000", "JPY", None),
            (TaxKind::Percent, "5.2500001", "INR", Some(TaxFault::Percentage)),
            (TaxKind::Percent, "100.01", "INR", Some(TaxFault::Percentage)),
            (TaxKind::Percent, "-1", "INR", Some(TaxFault::Percentage)),
            (TaxKind::PerNight, "2.50", "EUR", None),
            (TaxKind::PerNight, "2.50", "JPY", Some(TaxFault::Amount)),
            (TaxKind::PerStay, "-0.01", "EUR", Some(TaxFault::Amount)),
            (TaxKind::PerPersonNight, "1000000000000001", "EUR", Some(TaxFault::Amount)),
        ];
        for (kind, value, code, fault) in cases {
            let faults = tax(kind, value, false).faults(currency(code));
            assert_eq!(faults.first().copied(), fault, "{kind:?} {value} {code}");
            assert_eq!(TaxKind::from_name(kind.as_str()), Some(kind));
        }
        let mut upside_down = tax(TaxKind::Percent, "12", false);
        upside_down.from_amount = Some(money("7500", "INR"));
        upside_down.to_amount = Some(money("7500", "INR"));
        assert_eq!(upside_down.faults(currency("INR")), [TaxFault::Slab]);
        assert_eq!(upside_down.value, decimal("12"));
    }
}
