use keyrack_api_types::{rate::RateNight, restriction::RestrictionNight};
use keyrack_booking::{rates::NightRateView, restrictions::NightRestrictionView};

pub(crate) fn rate_night(view: NightRateView) -> RateNight {
    let NightRateView { room_type, rate_plan, night, amount, extra_adult, extra_child, price_version } = view;
    RateNight {
        room_type: room_type.into(),
        rate_plan: rate_plan.into(),
        night: night.into(),
        amount: amount.to_string(),
        extra_adult: extra_adult.to_string(),
        extra_child: extra_child.to_string(),
        price_version,
    }
}

pub(crate) fn restriction_night(view: NightRestrictionView) -> RestrictionNight {
    let NightRestrictionView { room_type, rate_plan, night, restriction } = view;
    RestrictionNight {
        room_type: room_type.into(),
        rate_plan: rate_plan.map(Into::into),
        night: night.into(),
        rules: restriction.into(),
    }
}
