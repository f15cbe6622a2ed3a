//! From columns to domain types. A row that cannot be read is an error, never a default.

use chrono::NaiveDate;
use keyrack_db::DbError;
use keyrack_domain::{
    money::{Currency, Money},
    stay::Stay,
};
use rust_decimal::Decimal;

pub(crate) fn currency(code: &str) -> Result<Currency, DbError> {
    code.parse().map_err(|e| DbError::unreadable("currency", &e))
}

pub(crate) fn money(amount: Decimal, code: &str) -> Result<Money, DbError> {
    Money::exact(amount, currency(code)?).map_err(|e| DbError::unreadable("amount", &e))
}

pub(crate) fn stay(check_in: NaiveDate, check_out: NaiveDate) -> Result<Stay, DbError> {
    Stay::new(check_in, check_out).map_err(|e| DbError::unreadable("stay", &e))
}

/// A JSON column as the type that was written.
pub(crate) fn document<T: serde::de::DeserializeOwned>(
    what: &'static str,
    value: serde_json::Value,
) -> Result<T, DbError> {
    serde_json::from_value(value).map_err(|e| DbError::unreadable(what, &e))
}

/// The JSON of a type whose serialization cannot fail (string keys, no floats).
pub(crate) fn json<T: serde::Serialize>(what: &'static str, value: &T) -> Result<serde_json::Value, DbError> {
    serde_json::to_value(value).map_err(|e| DbError::unreadable(what, &e))
}
