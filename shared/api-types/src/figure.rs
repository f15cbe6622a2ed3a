//! A plain decimal number that is not money by itself: a percentage, or the value of a tax.

use std::fmt;

use serde::{Deserialize, Deserializer, de};
use utoipa::ToSchema;

/// As it was written: a string, or a JSON number short enough to have been read exactly.
#[derive(Clone, PartialEq, Eq, Debug, ToSchema)]
#[schema(value_type = String, example = "12")]
pub struct Figure(pub String);

/// A JSON number is read through a binary one, which keeps so many digits exactly.
const EXACT_DIGITS: usize = 15;

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Written)
    }
}

struct Written;

impl de::Visitor<'_> for Written {
    type Value = Figure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal number as a string, such as \"12\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Figure, E> {
        Ok(Figure(text.to_owned()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Figure, E> {
        Ok(Figure(number.to_string()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Figure, E> {
        Ok(Figure(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Figure, E> {
        let text = number.to_string();
        if text.bytes().filter(u8::is_ascii_digit).count() > EXACT_DIGITS {
            return Err(E::custom("must be a string: a JSON number of so many digits is not exact"));
        }
        Ok(Figure(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<String> {
        serde_json::from_str::<Figure>(json).ok().map(|figure| figure.0)
    }

    #[test]
    fn b105_a_figure_is_what_was_written_or_refused() {
        for (json, text) in
            [("\"12\"", "12"), ("12", "12"), ("5.25", "5.25"), ("0.1", "0.1"), ("-1", "-1"), ("12.0", "12")]
        {
            assert_eq!(read(json).as_deref(), Some(text), "{json}");
        }
        assert_eq!(read("\"90071992547409.93\"").as_deref(), Some("90071992547409.93"));
        for json in ["90071992547409.93", "0.1234567890123456", "1e300", "null", "true", "[]"] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
