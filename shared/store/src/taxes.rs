//! `taxes`: taxes and fees of a hotel, in the order in which they are shown.

use keyrack_db::{DbError, ExactRows, PgConnection};
use keyrack_domain::{
    ids::HotelId,
    money::{Currency, Money},
    rule_version::RuleVersion,
    tax::{Tax, TaxKind},
};
use rust_decimal::Decimal;

pub async fn insert(connection: &mut PgConnection, hotel: HotelId, taxes: &[Tax]) -> Result<(), DbError> {
    let ids: Vec<i32> = (1..).take(taxes.len()).collect();
    let kinds: Vec<String> = taxes.iter().map(|t| t.kind.as_str().to_owned()).collect();
    let labels: Vec<String> = taxes.iter().map(|t| t.label.clone()).collect();
    let values: Vec<Decimal> = taxes.iter().map(|t| t.value).collect();
    let included: Vec<bool> = taxes.iter().map(|t| t.included).collect();
    let from: Vec<Option<Decimal>> = taxes.iter().map(|t| t.from_amount.map(Money::amount)).collect();
    let to: Vec<Option<Decimal>> = taxes.iter().map(|t| t.to_amount.map(Money::amount)).collect();
    sqlx::query!(
        "-- store::taxes::insert
        INSERT INTO taxes (hotel_id, tax_id, kind, label, value, included, from_amount, to_amount)
        SELECT $1, u.id, u.kind, u.label, u.value, u.included, u.from_amount, u.to_amount
        FROM unnest($2::int[], $3::text[], $4::text[], $5::numeric[], $6::bool[], $7::numeric[], $8::numeric[])
            AS u (id, kind, label, value, included, from_amount, to_amount)",
        hotel.0,
        &ids,
        &kinds,
        &labels,
        &values,
        &included,
        &from as &[Option<Decimal>],
        &to as &[Option<Decimal>]
    )
    .execute(connection)
    .await?
    .exactly(taxes.len(), "store::taxes::insert")
}

pub async fn of_hotel(
    connection: &mut PgConnection,
    hotel: HotelId,
    currency: Currency,
) -> Result<Vec<Tax>, DbError> {
    let rows = sqlx::query!(
        "-- store::taxes::of_hotel
        SELECT kind, label, value, included, from_amount, to_amount, version
        FROM taxes
        WHERE hotel_id = $1
        ORDER BY tax_id",
        hotel.0
    )
    .fetch_all(connection)
    .await?;
    let amount = |column: Option<Decimal>| {
        let money = column.map(|amount| Money::exact(amount, currency)).transpose();
        money.map_err(|e| DbError::unreadable("slab of a tax", &e))
    };
    let taxes = rows.into_iter().map(|row| {
        Ok(Tax {
            kind: TaxKind::from_name(&row.kind)
                .ok_or_else(|| DbError::unreadable("kind of tax", &row.kind))?,
            label: row.label,
            value: row.value.normalize(),
            included: row.included,
            from_amount: amount(row.from_amount)?,
            to_amount: amount(row.to_amount)?,
            version: RuleVersion(row.version),
        })
    });
    taxes.collect()
}
