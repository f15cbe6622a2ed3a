//! How an amount that cannot be read is told.

use keyrack_domain::money::InvalidAmount;

use crate::FieldError;

pub(crate) fn amount_error(pointer: String, error: InvalidAmount) -> FieldError {
    let code = match error {
        InvalidAmount::NotADecimal => "INVALID_AMOUNT",
        InvalidAmount::TooManyDecimals => "TOO_MANY_DECIMALS",
        InvalidAmount::TooLarge => "TOO_LARGE",
    };
    FieldError::new(pointer, code, error.to_string())
}
