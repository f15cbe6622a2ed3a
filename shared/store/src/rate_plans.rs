//! `rate_plans`: under which terms a hotel sells, numbered in the order in which it was told.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    hotel::RatePlan,
    ids::{HotelId, RatePlanId},
    policy::PaymentPolicy,
    rule_version::RuleVersion,
};

use crate::read::{document, json};

pub async fn insert(
    connection: &mut PgConnection,
    hotel: HotelId,
    rate_plans: &[RatePlan],
) -> Result<(), DbError> {
    let ids: Vec<i32> = rate_plans.iter().map(|p| p.id.0).collect();
    let codes: Vec<String> = rate_plans.iter().map(|p| p.code.as_str().to_owned()).collect();
    let names: Vec<String> = rate_plans.iter().map(|p| p.name.clone()).collect();
    let ladders = rate_plans.iter().map(|p| json("cancellation policy", &p.cancellation));
    let ladders = ladders.collect::<Result<Vec<_>, _>>()?;
    let deposits =
        rate_plans.iter().map(|p| p.deposit.map(|terms| json("deposit terms", &terms)).transpose());
    let deposits = deposits.collect::<Result<Vec<_>, _>>()?;
    let payments: Vec<String> = rate_plans.iter().map(|p| p.payment.as_str().to_owned()).collect();
    sqlx::query!(
        "-- store::rate_plans::insert
        INSERT INTO rate_plans (hotel_id, rate_plan_id, code, name, cancellation, payment, deposit)
        SELECT $1, u.id, u.code, u.name, u.cancellation, u.payment, u.deposit
        FROM unnest($2::int[], $3::text[], $4::text[], $5::jsonb[], $6::text[], $7::jsonb[])
            AS u (id, code, name, cancellation, payment, deposit)",
        hotel.0,
        &ids,
        &codes,
        &names,
        &ladders,
        &payments,
        &deposits as &[Option<serde_json::Value>]
    )
    .execute(connection)
    .await?
    .exactly(rate_plans.len(), "store::rate_plans::insert")
}

pub async fn of_hotel(connection: &mut PgConnection, hotel: HotelId) -> Result<Vec<RatePlan>, DbError> {
    let rows = sqlx::query!(
        "-- store::rate_plans::of_hotel
        SELECT rate_plan_id, code, name, cancellation, payment, deposit, version
        FROM rate_plans
        WHERE hotel_id = $1
        ORDER BY rate_plan_id",
        hotel.0
    )
    .fetch_all(connection)
    .await?;
    let rate_plans = rows.into_iter().map(|row| {
        Ok(RatePlan {
            id: RatePlanId(row.rate_plan_id),
            code: row.code.parse().map_err(|e| DbError::unreadable("rate plan code", &e))?,
            name: row.name,
            cancellation: document("cancellation policy", row.cancellation)?,
            payment: PaymentPolicy::from_name(&row.payment)
                .ok_or_else(|| DbError::unreadable("payment policy", &row.payment))?,
            deposit: row.deposit.map(|terms| document("deposit terms", terms)).transpose()?,
            version: RuleVersion(row.version),
        })
    });
    rate_plans.collect()
}
