//! When what of a stay is paid: all at booking, a deposit and a balance, or at the property. Worked out with the
//! quote and frozen in it; what becomes of each charge stands with the reservation.

use chrono::{Days, NaiveTime};
use chrono_tz::Tz;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{
    cancellation::{MAX_DAYS_BEFORE, is_percentage},
    clock::Moment,
    local_time,
    money::{Currency, Money},
    policy::{DepositPart, DepositTerms, PaymentPolicy},
    quote::QuoteDocument,
    stay::Stay,
    tax::MAX_PERCENT_DECIMALS,
};

/// One charge as it was promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Due {
    pub kind: DueKind,
    pub amount: Money,
    /// `None`: at booking.
    pub at: Option<Moment>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DueKind {
    Deposit,
    Balance,
    /// All of it at booking.
    Prepayment,
    /// Taken by the hotel itself, at the desk.
    AtProperty,
    /// What a cancellation or a no-show costs beyond what was paid; in no quote.
    Penalty,
}

impl DueKind {
    pub const ALL: [Self; 5] =
        [Self::Deposit, Self::Balance, Self::Prepayment, Self::AtProperty, Self::Penalty];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deposit => "deposit",
            Self::Balance => "balance",
            Self::Prepayment => "prepayment",
            Self::AtProperty => "at_property",
            Self::Penalty => "penalty",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChargeState {
    /// Owed, on its day or now.
    Due,
    Paid,
    /// Owed, and could not be collected.
    Failed,
    /// No longer owed: the stay costs less, or another charge took its place.
    Waived,
}

impl ChargeState {
    pub const ALL: [Self; 4] = [Self::Due, Self::Paid, Self::Failed, Self::Waived];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Due => "DUE",
            Self::Paid => "PAID",
            Self::Failed => "FAILED",
            Self::Waived => "WAIVED",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    pub const fn is_owed(self) -> bool {
        matches!(self, Self::Due | Self::Failed)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TermsFault {
    #[error("a percentage is more than 0 and at most 100, with at most {MAX_PERCENT_DECIMALS} decimals")]
    Percentage,
    #[error("a deposit is more than zero, with the decimals of the hotel's currency at most")]
    Amount,
    #[error("balance_due_days_before is at most {MAX_DAYS_BEFORE}")]
    TooEarly,
}

impl DepositTerms {
    /// When the balance of an arrival is due.
    pub fn balance_due(&self, stay: Stay, zone: Tz) -> Moment {
        let days = Days::new(u64::from(self.balance_due_days_before));
        let date = stay.check_in().checked_sub_days(days).unwrap_or(chrono::NaiveDate::MIN);
        local_time::instant(date, NaiveTime::MIN, zone)
    }

    /// What is wrong with them as a configuration; empty when they can be used.
    pub fn faults(&self, currency: Currency) -> Vec<TermsFault> {
        let mut faults = Vec::new();
        match self.part {
            DepositPart::Percent(share) if !is_percentage(share) || share.is_zero() => {
                faults.push(TermsFault::Percentage);
            }
            DepositPart::Amount(amount)
                if amount <= Decimal::ZERO || Money::exact(amount, currency).is_err() =>
            {
                faults.push(TermsFault::Amount);
            }
            DepositPart::Percent(_) | DepositPart::Amount(_) => {}
        }
        if self.balance_due_days_before > MAX_DAYS_BEFORE {
            faults.push(TermsFault::TooEarly);
        }
        faults
    }

    /// Rounded once, half away from zero, and never more than the total; the balance is the rest.
    fn deposit(&self, total: Money, rooms: usize) -> Money {
        let raw = match self.part {
            DepositPart::Percent(share) => total.amount() * share / Decimal::ONE_HUNDRED,
            DepositPart::Amount(amount) => amount.saturating_mul(Decimal::from(rooms)),
        };
        Money::rounded(raw.min(total.amount()), total.currency())
    }
}

/// Of a stay booked now. Sums exactly to the total; charges of nothing are left out.
pub fn of(document: &QuoteDocument, zone: Tz, now: Moment) -> Vec<Due> {
    let (stay, total) = (document.stay, document.total);
    let at_once = || vec![Due { kind: DueKind::Prepayment, amount: total, at: None }];
    match document.payment() {
        PaymentPolicy::Prepay => at_once(),
        PaymentPolicy::AtProperty => {
            let arrival = local_time::instant(stay.check_in(), NaiveTime::MIN, zone);
            vec![Due { kind: DueKind::AtProperty, amount: total, at: Some(arrival) }]
        }
        PaymentPolicy::Deposit => {
            let terms = document.rooms.iter().find_map(|room| room.deposit).unwrap_or_default();
            let due = terms.balance_due(stay, zone);
            let deposit = terms.deposit(total, document.rooms.len());
            let balance = total.minus(deposit).filter(|balance| !balance.is_zero());
            match balance {
                Some(balance) if !now.is_past(due) => {
                    let deposit = Due { kind: DueKind::Deposit, amount: deposit, at: None };
                    let balance = Due { kind: DueKind::Balance, amount: balance, at: Some(due) };
                    [deposit, balance].into_iter().filter(|due| !due.amount.is_zero()).collect()
                }
                _ => at_once(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        hotel::RatePlan,
        pricing::{self, DailyRate, PricedRoom},
        sample::{currency, decimal, money, rate_plan, request, room_type, stay},
    };

    const ZONE: Tz = chrono_tz::Asia::Kolkata;

    fn at(text: &str) -> Moment {
        Moment(text.parse().expect("an instant"))
    }

    fn sold(plan: &RatePlan, amount: &str, code: &str, rooms: usize) -> QuoteDocument {
        let stay = stay("2026-11-14", "2026-11-15");
        let zero = Money::zero(currency(code));
        let rate =
            DailyRate { amount: money(amount, code), extra_adult: zero, extra_child: zero, price_version: 1 };
        let rates: BTreeMap<_, _> = stay.nights().map(|night| (night, rate)).collect();
        let (request, room_type) = (request(2, &[]), room_type());
        let room = PricedRoom { request: &request, room_type: &room_type, rate_plan: plan, rates: &rates };
        pricing::price(stay, &vec![room; rooms], &[], currency(code)).expect("a price")
    }

    fn plan(payment: PaymentPolicy, deposit: Option<DepositTerms>) -> RatePlan {
        RatePlan { payment, deposit, ..rate_plan() }
    }

    fn told(plan: &RatePlan, amount: &str, code: &str, rooms: usize, now: &str) -> Vec<(DueKind, String)> {
        let document = sold(plan, amount, code, rooms);
        let schedule = of(&document, ZONE, at(now));
        let sum = schedule.iter().try_fold(Money::zero(currency(code)), |sum, due| sum.plus(due.amount));
        assert_eq!(sum, Some(document.total), "the schedule sums to the total");
        let told = |due: &Due| (due.kind, due.amount.to_string());
        schedule.iter().map(told).collect()
    }

    fn terms(part: DepositPart, balance_due_days_before: u16) -> DepositTerms {
        DepositTerms { part, balance_due_days_before }
    }

    /// B104: the deposit is rounded by the rule, and the balance is the rest.
    #[test]
    fn b104_a_deposit_and_its_balance_lose_no_cent() {
        let half = Some(terms(DepositPart::Percent(decimal("50")), 7));
        let cases = [
            ("346.25", "USD", half, "173.13", "173.12"),
            ("16.61", "USD", half, "8.31", "8.30"),
            ("999", "JPY", None, "300", "699"),
            ("0.335", "KWD", None, "0.101", "0.234"),
        ];
        for (amount, code, deposit, first, rest) in cases {
            let plan = plan(PaymentPolicy::Deposit, deposit.or(Some(DepositTerms::default())));
            let told = told(&plan, amount, code, 1, "2026-01-10T06:00:00Z");
            let expected = [(DueKind::Deposit, first.to_owned()), (DueKind::Balance, rest.to_owned())];
            assert_eq!(told, expected, "{amount} {code}");
        }
    }

    /// B066: of the total itself, never more than it, and a part of nothing is left out.
    #[test]
    fn b066_a_deposit_is_of_the_total_and_never_more() {
        let early = "2026-01-10T06:00:00Z";
        let of = |part, amount, rooms| {
            told(&plan(PaymentPolicy::Deposit, Some(terms(part, 7))), amount, "INR", rooms, early)
        };
        let whole = |amount: &str| vec![(DueKind::Prepayment, amount.to_owned())];
        assert_eq!(of(DepositPart::Percent(decimal("100")), "14560.00", 1), whole("14560.00"));
        assert_eq!(of(DepositPart::Amount(decimal("20000")), "14560.00", 1), whole("14560.00"));
        assert_eq!(
            of(DepositPart::Percent(decimal("30")), "0.01", 1),
            [(DueKind::Balance, "0.01".to_owned())]
        );
        assert_eq!(
            of(DepositPart::Amount(decimal("1000")), "6500.00", 2),
            [(DueKind::Deposit, "2000.00".to_owned()), (DueKind::Balance, "11000.00".to_owned())]
        );
    }

    #[test]
    fn a_balance_whose_day_has_passed_is_due_at_booking() {
        let plan = plan(PaymentPolicy::Deposit, Some(DepositTerms::default()));
        // 2026-11-07 begins at 18:30 UTC of the day before, that instant included.
        let last = told(&plan, "6500.00", "INR", 1, "2026-11-06T18:30:00Z");
        assert_eq!(last.len(), 2);
        let late = told(&plan, "6500.00", "INR", 1, "2026-11-06T18:30:01Z");
        assert_eq!(late, [(DueKind::Prepayment, "6500.00".to_owned())]);
    }

    #[test]
    fn what_is_paid_at_the_property_is_due_with_the_arrival_and_nothing_before() {
        let document = sold(&plan(PaymentPolicy::AtProperty, None), "6500.00", "INR", 1);
        let schedule = of(&document, ZONE, at("2026-01-10T06:00:00Z"));
        let due =
            Due { kind: DueKind::AtProperty, amount: document.total, at: Some(at("2026-11-13T18:30:00Z")) };
        assert_eq!(schedule, [due]);
        let document = QuoteDocument { schedule, ..document };
        assert!(document.due_at_booking().is_zero());
    }

    #[test]
    fn terms_are_a_share_or_an_amount_of_the_hotels_currency() {
        let faults =
            |part, days| DepositTerms { part, balance_due_days_before: days }.faults(currency("JPY"));
        assert_eq!(DepositTerms::default().faults(currency("INR")), []);
        assert_eq!(faults(DepositPart::Percent(decimal("0")), 7), [TermsFault::Percentage]);
        assert_eq!(faults(DepositPart::Percent(decimal("100.5")), 7), [TermsFault::Percentage]);
        assert_eq!(
            faults(DepositPart::Amount(decimal("0.5")), 751),
            [TermsFault::Amount, TermsFault::TooEarly]
        );
        assert_eq!(faults(DepositPart::Amount(decimal("0")), 7), [TermsFault::Amount]);
        assert_eq!(faults(DepositPart::Amount(decimal("5000")), 750), []);
    }
}
