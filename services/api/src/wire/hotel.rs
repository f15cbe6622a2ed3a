use keyrack_api_types::{
    hotel::{CancellationRule, Deposit, Hotel, RatePlan, RoomType, Tax},
    policy::minutes,
};
use keyrack_booking::hotel_view::HotelView;
use keyrack_domain::{code::HotelCode, hotel, policy, tax};
use rust_decimal::{Decimal, prelude::ToPrimitive};

pub(crate) fn hotel(view: HotelView) -> Hotel {
    let HotelView { code, name, zone, currency, city, place, taxes, room_types, rate_plans, .. } = view;
    // Six decimals of a degree: a binary number carries them.
    let degrees = |decimal: Decimal| decimal.to_f64();
    Hotel {
        code: code.into(),
        name,
        time_zone: zone.name().to_owned(),
        currency: currency.to_string(),
        city,
        latitude: place.and_then(|(latitude, _)| degrees(latitude)),
        longitude: place.and_then(|(_, longitude)| degrees(longitude)),
        taxes: taxes.into_iter().map(tax).collect(),
        room_types: room_types.into_iter().map(room_type).collect(),
        rate_plans: rate_plans.into_iter().map(rate_plan).collect(),
    }
}

pub(crate) fn tax(tax: tax::Tax) -> Tax {
    let tax::Tax { kind, label, value, included, from_amount, to_amount, version: _ } = tax;
    Tax {
        kind: kind.into(),
        label,
        value: value.to_string(),
        included,
        from_amount: from_amount.map(|amount| amount.to_string()),
        to_amount: to_amount.map(|amount| amount.to_string()),
    }
}

fn room_type(room_type: hotel::RoomType) -> RoomType {
    let hotel::RoomType { id: _, code, name, base_occupancy, max_adults, max_children, max_occupancy, units } =
        room_type;
    RoomType { code: code.into(), name, base_occupancy, max_adults, max_children, max_occupancy, units }
}

fn rate_plan(plan: hotel::RatePlan) -> RatePlan {
    let hotel::RatePlan { id: _, code, name, cancellation, payment, deposit, version: _ } = plan;
    let rule = |rung: policy::Rung| CancellationRule {
        until_days_before: rung.until_days_before,
        until_time: minutes(rung.until_time),
        penalty: rung.penalty.into(),
    };
    let cancellation = cancellation.rungs.into_iter().map(rule).collect();
    let deposit = deposit.map(terms);
    RatePlan { code: code.into(), name, cancellation, payment: payment.into(), deposit }
}

fn terms(terms: policy::DepositTerms) -> Deposit {
    let (percent, amount) = match terms.part {
        policy::DepositPart::Percent(share) => (Some(share.to_string()), None),
        policy::DepositPart::Amount(amount) => (None, Some(amount.to_string())),
    };
    Deposit { percent, amount, balance_due_days_before: terms.balance_due_days_before }
}

pub(crate) fn hotel_path(code: &HotelCode) -> String {
    format!("/v1/hotels/{code}")
}
