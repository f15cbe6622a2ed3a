//! Several secrets at once, so that one can be replaced without a gap. A list in a file, one line in the
//! environment.

use std::fmt;

use secrecy::SecretString;
use serde::{
    Deserializer,
    de::{Error, SeqAccess, Visitor},
};

pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SecretString>, D::Error> {
    deserializer.deserialize_any(Secrets)
}

struct Secrets;

impl<'de> Visitor<'de> for Secrets {
    type Value = Vec<SecretString>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of secrets, or secrets with spaces between them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut secrets = Vec::new();
        while let Some(secret) = list.next_element::<String>()? {
            secrets.push(secret.into());
        }
        Ok(secrets)
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<Self::Value, E> {
        Ok(line.split_whitespace().map(SecretString::from).collect())
    }
}
