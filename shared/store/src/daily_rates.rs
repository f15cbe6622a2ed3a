//! `daily_rates`: the price of one room of a type under a plan on a night.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    ids::{HotelId, RatePlanId, RoomTypeId},
    money::{Currency, Money},
    pricing::DailyRate,
};
use rust_decimal::Decimal;

/// A night's price within its hotel. Its order is the order in which the rows are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RateKey {
    pub room_type: RoomTypeId,
    pub rate_plan: RatePlanId,
    pub night: NaiveDate,
}

macro_rules! rate {
    ($row:expr, $currency:expr) => {{
        let row = $row;
        let key = RateKey {
            room_type: RoomTypeId(row.room_type_id),
            rate_plan: RatePlanId(row.rate_plan_id),
            night: row.stay_date,
        };
        let amount = |column: Decimal| {
            Money::exact(column, $currency).map_err(|e| DbError::unreadable("daily rate", &e))
        };
        let rate = DailyRate {
            amount: amount(row.amount)?,
            extra_adult: amount(row.extra_adult)?,
            extra_child: amount(row.extra_child)?,
            price_version: row.price_version,
        };
        Ok::<_, DbError>((key, rate))
    }};
}

/// A night without a rate is absent.
pub async fn read(
    connection: &mut PgConnection,
    hotel: HotelId,
    currency: Currency,
    keys: &[RateKey],
) -> Result<BTreeMap<RateKey, DailyRate>, DbError> {
    let room_types: Vec<i32> = keys.iter().map(|k| k.room_type.0).collect();
    let rate_plans: Vec<i32> = keys.iter().map(|k| k.rate_plan.0).collect();
    let nights: Vec<NaiveDate> = keys.iter().map(|k| k.night).collect();
    let rows = sqlx::query!(
        "-- store::daily_rates::read
        SELECT r.room_type_id, r.rate_plan_id, r.stay_date, r.amount, r.extra_adult, r.extra_child, r.price_version
        FROM unnest($2::int[], $3::int[], $4::date[]) AS w (room_type_id, rate_plan_id, stay_date)
        CROSS JOIN LATERAL (
            SELECT d.room_type_id, d.rate_plan_id, d.stay_date, d.amount, d.extra_adult, d.extra_child, d.price_version
            FROM daily_rates d
            WHERE d.hotel_id = $1
              AND d.room_type_id = w.room_type_id
              AND d.rate_plan_id = w.rate_plan_id
              AND d.stay_date = w.stay_date
        ) AS r",
        hotel.0,
        &room_types,
        &rate_plans,
        &nights
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| rate!(row, currency)).collect()
}

/// Both ends are nights; `rate_plan` narrows to one. In order of plan and date.
pub async fn of_room_type(
    connection: &mut PgConnection,
    hotel: HotelId,
    currency: Currency,
    room_type: RoomTypeId,
    rate_plan: Option<RatePlanId>,
    nights: (NaiveDate, NaiveDate),
) -> Result<Vec<(RateKey, DailyRate)>, DbError> {
    let rows = sqlx::query!(
        "-- store::daily_rates::of_room_type
        SELECT room_type_id, rate_plan_id, stay_date, amount, extra_adult, extra_child, price_version
        FROM daily_rates
        WHERE hotel_id = $1
          AND room_type_id = $2
          AND ($3::int IS NULL OR rate_plan_id = $3)
          AND stay_date BETWEEN $4 AND $5
        ORDER BY rate_plan_id, stay_date",
        hotel.0,
        room_type.0,
        rate_plan.map(|plan| plan.0),
        nights.0,
        nights.1
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| rate!(row, currency)).collect()
}

/// Writes rates whose `price_version` is one above what was read, 1 for a night that had none.
/// A night that another edit has moved on meanwhile is an error that rolls everything back.
pub async fn set(
    connection: &mut PgConnection,
    hotel: HotelId,
    rates: &BTreeMap<RateKey, DailyRate>,
) -> Result<(), DbError> {
    let room_types: Vec<i32> = rates.keys().map(|k| k.room_type.0).collect();
    let rate_plans: Vec<i32> = rates.keys().map(|k| k.rate_plan.0).collect();
    let nights: Vec<NaiveDate> = rates.keys().map(|k| k.night).collect();
    let amounts: Vec<Decimal> = rates.values().map(|r| r.amount.amount()).collect();
    let extra_adults: Vec<Decimal> = rates.values().map(|r| r.extra_adult.amount()).collect();
    let extra_children: Vec<Decimal> = rates.values().map(|r| r.extra_child.amount()).collect();
    let versions: Vec<i32> = rates.values().map(|r| r.price_version).collect();
    sqlx::query!(
        "-- store::daily_rates::set
        INSERT INTO daily_rates AS r (
            hotel_id, room_type_id, rate_plan_id, stay_date, amount, extra_adult, extra_child, price_version)
        SELECT $1, u.room_type_id, u.rate_plan_id, u.stay_date, u.amount, u.extra_adult, u.extra_child, u.price_version
        FROM unnest($2::int[], $3::int[], $4::date[], $5::numeric[], $6::numeric[], $7::numeric[], $8::int[])
            AS u (room_type_id, rate_plan_id, stay_date, amount, extra_adult, extra_child, price_version)
        ORDER BY u.room_type_id, u.rate_plan_id, u.stay_date
        ON CONFLICT (hotel_id, room_type_id, rate_plan_id, stay_date) DO UPDATE
        SET amount = excluded.amount,
            extra_adult = excluded.extra_adult,
            extra_child = excluded.extra_child,
            price_version = excluded.price_version
        WHERE r.price_version = excluded.price_version - 1",
        hotel.0,
        &room_types,
        &rate_plans,
        &nights,
        &amounts,
        &extra_adults,
        &extra_children,
        &versions
    )
    .execute(connection)
    .await?
    .exactly(rates.len(), "store::daily_rates::set")
}
