//! The hotels and their rates, written by the operator.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use reqwest::{Method, StatusCode};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::{
    api::{Api, Call, CallError},
    fee,
    hotels::{CURRENCY, Hotels, RoomTypes},
    row::{Hotel, Plan},
    rules::{HORIZON_DAYS, MAX_ADULTS, MAX_CHILDREN, MAX_GUESTS},
    timings::Step,
};

/// Inventory is opened by the product itself, over the horizon, when the hotel is created.
pub(crate) async fn create(api: &Api, operator: &SecretString, hotels: &Hotels) -> Result<(), CallError> {
    for (hotel, room_types) in &hotels.0 {
        let call = Call {
            key: Some(format!("replay-hotel-{}", hotel.code())),
            body: Some(hotel_body(*hotel, room_types)),
            ..Call::new(Step::SetUp, Method::POST, "/v1/hotels", Some(operator))
        };
        let _: Value = api.send(call).await?.expect(StatusCode::CREATED)?;
    }
    Ok(())
}

/// Rates have the horizon's end like everything else, so the hotel writes new ones as time goes by.
#[derive(Debug)]
pub(crate) struct RateCard<'a> {
    api: &'a Api,
    operator: &'a SecretString,
    hotels: &'a Hotels,
    last_night: BTreeMap<Hotel, NaiveDate>,
}

impl<'a> RateCard<'a> {
    pub(crate) fn new(api: &'a Api, operator: &'a SecretString, hotels: &'a Hotels) -> Self {
        Self { api, operator, hotels, last_night: BTreeMap::new() }
    }

    /// Rates until `wanted`, and then at once until the end of the horizon: seldom is cheaper.
    pub(crate) async fn reach(&mut self, today: NaiveDate, wanted: NaiveDate) -> Result<(), CallError> {
        let horizon = today.checked_add_days(Days::new(HORIZON_DAYS)).unwrap_or(NaiveDate::MAX);
        for (hotel, room_types) in &self.hotels.0 {
            let so_far = self.last_night.get(hotel).copied();
            if so_far.is_some_and(|last| last >= wanted.min(horizon)) {
                continue;
            }
            let first = so_far.and_then(|last| last.succ_opt()).map_or(today, |next| next.max(today));
            for plan in Plan::ALL {
                self.write(*hotel, room_types, plan, (first, horizon)).await?;
            }
            self.last_night.insert(*hotel, horizon);
        }
        Ok(())
    }

    async fn write(
        &self,
        hotel: Hotel,
        room_types: &RoomTypes,
        plan: Plan,
        (first, last): (NaiveDate, NaiveDate),
    ) -> Result<(), CallError> {
        let change = |(code, room_type): (&_, &crate::hotels::RoomType)| {
            json!({
                "room_type": code,
                "rate_plan": plan.code(),
                "first_night": first,
                "last_night": last,
                "amount": room_type.rate(plan).to_string(),
            })
        };
        let changes: Vec<Value> = room_types.iter().map(change).collect();
        let path = format!("/v1/hotels/{}/rates", hotel.code());
        let call = Call {
            key: Some(format!("replay-rates-{}-{}-{first}", hotel.code(), plan.code())),
            body: Some(json!({ "changes": changes })),
            ..Call::new(Step::SetUp, Method::PUT, &path, Some(self.operator))
        };
        let _: Value = self.api.send(call).await?.expect(StatusCode::OK)?;
        Ok(())
    }
}

fn hotel_body(hotel: Hotel, room_types: &RoomTypes) -> Value {
    let room_types = room_types.iter().map(|(code, room_type)| {
        json!({
            "code": code,
            "name": format!("Room {code}"),
            // All guests are included, so that the rate alone makes the price.
            "base_occupancy": MAX_GUESTS,
            "max_adults": MAX_ADULTS,
            "max_children": MAX_CHILDREN,
            "max_occupancy": MAX_GUESTS,
            "units": room_type.units,
        })
    });
    json!({
        "code": hotel.code(),
        "name": hotel.name(),
        "time_zone": fee::ZONE.name(),
        "currency": CURRENCY,
        "city": hotel.town(),
        "taxes": [{ "kind": "percent", "label": "IVA 6 %", "value": "6", "included": true }],
        "room_types": room_types.collect::<Vec<_>>(),
        "rate_plans": rate_plans(),
    })
}

fn rate_plans() -> Value {
    let free_until_the_evening_before = json!({
        "until_days_before": fee::FREE_UNTIL_DAYS_BEFORE,
        "until_time": format!("{:02}:00", fee::FREE_UNTIL_HOUR),
        "penalty": { "kind": "none" },
    });
    json!([
        {
            "code": Plan::Flexible.code(),
            "name": "Flexible",
            "cancellation": [free_until_the_evening_before],
            "payment": "prepay",
        },
        {
            "code": Plan::NonRefundable.code(),
            "name": "Non-refundable",
            "cancellation": [],
            "payment": "prepay",
        },
    ])
}
