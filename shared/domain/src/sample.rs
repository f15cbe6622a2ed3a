//! The worked example, for the tests of this crate: HTL-204, RT-DLX, FLEX, 6,500 INR and 12 % GST.

use chrono::{NaiveDate, NaiveTime};
use rust_decimal::Decimal;

use crate::{
    hotel::{RatePlan, RoomType},
    ids::{RatePlanId, RoomTypeId},
    money::{Currency, Money},
    occupancy::RoomRequest,
    policy::{CancellationPolicy, PaymentPolicy, Penalty, Rung},
    rule_version::RuleVersion,
    stay::Stay,
    tax::{Tax, TaxKind},
};

pub(crate) fn day(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

pub(crate) fn stay(check_in: &str, check_out: &str) -> Stay {
    Stay::new(day(check_in), day(check_out)).expect("a stay")
}

pub(crate) fn decimal(text: &str) -> Decimal {
    Decimal::from_str_exact(text).expect("a decimal")
}

pub(crate) fn currency(code: &str) -> Currency {
    code.parse().expect("a currency")
}

pub(crate) fn money(text: &str, code: &str) -> Money {
    Money::parse(text, currency(code)).expect("money")
}

pub(crate) fn room_type() -> RoomType {
    RoomType {
        id: RoomTypeId(1),
        code: "RT-DLX".parse().expect("a code"),
        name: "Deluxe".to_owned(),
        base_occupancy: 2,
        max_adults: 2,
        max_children: 2,
        max_occupancy: 3,
        units: 5,
    }
}

/// Free until two days before arrival at 18:00.
pub(crate) fn rate_plan() -> RatePlan {
    let until_time = NaiveTime::from_hms_opt(18, 0, 0).expect("a time");
    RatePlan {
        id: RatePlanId(1),
        code: "FLEX".parse().expect("a code"),
        name: "Flexible".to_owned(),
        cancellation: CancellationPolicy {
            rungs: vec![Rung { until_days_before: 2, until_time, penalty: Penalty::None }],
        },
        payment: PaymentPolicy::Prepay,
        deposit: None,
        version: RuleVersion::FIRST,
    }
}

pub(crate) fn request(adults: u16, children_ages: &[u8]) -> RoomRequest {
    RoomRequest {
        room_type: room_type().code,
        rate_plan: rate_plan().code,
        adults,
        children_ages: children_ages.to_vec(),
        note: None,
    }
}

pub(crate) fn tax(kind: TaxKind, value: &str, included: bool) -> Tax {
    let (label, version) = ("GST".to_owned(), RuleVersion::FIRST);
    Tax { kind, label, value: decimal(value), included, from_amount: None, to_amount: None, version }
}
