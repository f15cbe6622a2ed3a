//! The names that a provider gives by itself. Ours derive from the attempt and need no memory; a
//! provider that acts only on its own ids makes one necessary.

use std::{
    collections::HashMap,
    fmt,
    str::FromStr,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;

use crate::reference::Reference;

/// 1 to 255 of `[A-Za-z0-9_-]`, so that it stands in a path as it is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ProviderId(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of anything at a provider")]
pub struct NotAProviderId;

impl ProviderId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProviderId {
    type Err = NotAProviderId;

    fn from_str(text: &str) -> Result<Self, NotAProviderId> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if (1..=255).contains(&text.len()) && text.bytes().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAProviderId)
        }
    }
}

impl TryFrom<String> for ProviderId {
    type Error = NotAProviderId;

    fn try_from(text: String) -> Result<Self, NotAProviderId> {
        text.parse()
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Remembers what the provider called our calls. It only spares a search: whoever is not told an id
/// looks through the provider's own list, so a memory that cannot be reached says that it has nothing,
/// and logs why.
#[async_trait]
pub trait ProviderIds: fmt::Debug + Send + Sync {
    /// The first id of a reference stays.
    async fn keep(&self, reference: Reference, id: &ProviderId);

    async fn find(&self, reference: Reference) -> Option<ProviderId>;

    /// Which of our references an id was given for.
    async fn reference_of(&self, id: &ProviderId) -> Option<Reference>;
}

/// As long as the process: for tests, and for looking without a database.
#[derive(Debug, Default)]
pub struct ForgetfulIds(Mutex<HashMap<Reference, ProviderId>>);

#[async_trait]
impl ProviderIds for ForgetfulIds {
    async fn keep(&self, reference: Reference, id: &ProviderId) {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ids.entry(reference).or_insert_with(|| id.clone());
    }

    async fn find(&self, reference: Reference) -> Option<ProviderId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&reference).cloned()
    }

    async fn reference_of(&self, id: &ProviderId) -> Option<Reference> {
        let ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ids.iter().find(|(_, known)| *known == id).map(|(reference, _)| *reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stands_in_a_path_as_it_is() {
        for id in ["pi_3MtwBwLkdIwHu7ix28a3tqPa", "re_1", "A-b_9"] {
            assert_eq!(id.parse::<ProviderId>().map(|id| id.to_string()).as_deref(), Ok(id));
        }
        for text in ["", "pi_1/cancel", "pi 1", "pi_1?x", "..", "pi_\u{e9}", &"x".repeat(256)] {
            assert_eq!(text.parse::<ProviderId>(), Err(NotAProviderId), "{text:?}");
        }
    }
}
