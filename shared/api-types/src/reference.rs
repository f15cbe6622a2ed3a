//! An id in a request body. What is not an id names nothing: it is answered like an id that does
//! not exist, so that guessing teaches nothing about their form.

use std::{borrow::Cow, str::FromStr};

use serde::{Deserialize, Deserializer, de};
use utoipa::ToSchema;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ToSchema)]
#[schema(value_type = String)]
pub struct Reference<T>(pub Option<T>);

impl<'de, T: FromStr> Deserialize<'de> for Reference<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(d)?;
        if text.is_empty() {
            return Err(de::Error::custom("must not be empty"));
        }
        Ok(Self(text.parse().ok()))
    }
}
