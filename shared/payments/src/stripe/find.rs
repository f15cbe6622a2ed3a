//! From an attempt to its intent: by the id that was kept, else by looking through Stripe's list. Never
//! by its search, which lags behind and is not offered in every country.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use keyrack_domain::ids::AttemptId;
use serde::Deserialize;
use tokio::time::timeout_at;

use super::{
    StripeProvider,
    answer::{Failed, Heard, not_asked_for},
    client::Fields,
    intent::Intent,
};
use crate::{deadline::Deadline, outcome::Doubt, provider_ids::ProviderId, reference::Reference};

/// Stripe's clock and ours may differ so much.
const CLOCKS_DIFFER: Duration = Duration::from_secs(600);

/// For so long after the attempt was opened its intent may be created: Stripe forgets keys after 24
/// hours, and a create without a key that holds could be a second one.
pub(super) const KEY_HOLDS: Duration = Duration::from_secs(23 * 3600);

const PAGE: usize = 100;
/// Ten thousand payments: more than a day of most chains.
const MAX_PAGES: usize = 100;

#[derive(Deserialize)]
pub(super) struct List<T> {
    pub(super) data: Vec<T>,
    pub(super) has_more: bool,
}

/// When the attempt was opened, by its id.
pub(super) fn opened_at(attempt: AttemptId) -> Option<Duration> {
    let (seconds, nanos) = attempt.uuid().get_timestamp()?.to_unix();
    Some(Duration::new(seconds, nanos))
}

/// Whether a key that this attempt's create may have been sent with is still known. Not for an attempt
/// whose id tells no time: there is no list to look it up in either.
pub(super) fn key_holds(attempt: AttemptId, now: SystemTime) -> bool {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    opened_at(attempt).is_some_and(|opened| now < opened + KEY_HOLDS)
}

impl StripeProvider {
    /// The intent of an attempt, as it stands; `None` where the attempt has none.
    pub(super) async fn find(
        &self,
        attempt: AttemptId,
        deadline: Deadline,
    ) -> Result<Option<Intent>, Failed> {
        if let Some(id) = self.kept(Reference::Authorization(attempt), deadline).await {
            return self.retrieve(attempt, &id, deadline).await.map(Some);
        }
        match self.listed(attempt, deadline).await? {
            // A list does not tell what was refunded.
            Some(id) => {
                self.keep(Reference::Authorization(attempt), &id, deadline).await;
                self.retrieve(attempt, &id, deadline).await.map(Some)
            }
            None => Ok(None),
        }
    }

    /// The same, where its id is enough.
    pub(super) async fn find_id(
        &self,
        attempt: AttemptId,
        deadline: Deadline,
    ) -> Result<Option<ProviderId>, Failed> {
        if let Some(id) = self.kept(Reference::Authorization(attempt), deadline).await {
            return Ok(Some(id));
        }
        self.listed(attempt, deadline).await
    }

    pub(super) async fn retrieve(
        &self,
        attempt: AttemptId,
        id: &ProviderId,
        deadline: Deadline,
    ) -> Result<Intent, Failed> {
        let query: Fields = vec![("expand[]", "latest_charge".to_owned())];
        match self.client.get::<Intent>(&format!("payment_intents/{id}"), &query, deadline).await? {
            Heard::Done(intent) if intent.id == *id => intent.of(attempt),
            // An id that was given is never taken back, so this is another account, or not Stripe.
            Heard::Done(_) | Heard::Declined(_) | Heard::KeyTaken | Heard::NotAccepted(_) => {
                Err(not_asked_for())
            }
        }
    }

    async fn listed(&self, attempt: AttemptId, deadline: Deadline) -> Result<Option<ProviderId>, Failed> {
        let opened = opened_at(attempt).ok_or(Failed::Unknown(Doubt::NoPlaceToLook))?;
        let from = opened.saturating_sub(CLOCKS_DIFFER).as_secs();
        let to = (opened + KEY_HOLDS + CLOCKS_DIFFER).as_secs() + 1;
        let mut after: Option<ProviderId> = None;
        for _ in 0..MAX_PAGES {
            let mut query: Fields = vec![
                ("limit", PAGE.to_string()),
                ("created[gte]", from.to_string()),
                ("created[lte]", to.to_string()),
            ];
            query.extend(after.as_ref().map(|id| ("starting_after", id.to_string())));
            let page = self.client.get::<List<Intent>>("payment_intents", &query, deadline).await?;
            let Heard::Done(page) = page else { return Err(not_asked_for()) };
            if let Some(intent) = page.data.iter().find(|intent| intent.is_of(attempt)) {
                return Ok(Some(intent.id.clone()));
            }
            match page.data.last() {
                Some(last) if page.has_more => after = Some(last.id.clone()),
                _ => return Ok(None),
            }
        }
        Err(Failed::Unknown(Doubt::TooMany))
    }

    /// Nothing is kept or found once the deadline has passed: no call outlasts it.
    pub(super) async fn keep(&self, reference: Reference, id: &ProviderId, deadline: Deadline) {
        let _ = timeout_at(deadline.instant(), self.ids.keep(reference, id)).await;
    }

    pub(super) async fn reference_of(&self, id: &ProviderId, deadline: Deadline) -> Option<Reference> {
        timeout_at(deadline.instant(), self.ids.reference_of(id)).await.ok().flatten()
    }

    pub(super) async fn kept(&self, reference: Reference, deadline: Deadline) -> Option<ProviderId> {
        timeout_at(deadline.instant(), self.ids.find(reference)).await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use keyrack_domain::ids::HotelId;
    use uuid::{NoContext, Timestamp, Uuid};

    use super::*;

    fn attempt_of(seconds: u64) -> AttemptId {
        AttemptId::new(HotelId(204), Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, 0)))
    }

    #[test]
    fn an_attempts_id_tells_when_its_key_is_forgotten() {
        let opened = 1_800_000_000;
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(key_holds(attempt_of(opened), at(opened)));
        assert!(key_holds(attempt_of(opened), at(opened + 23 * 3600 - 1)));
        assert!(!key_holds(attempt_of(opened), at(opened + 23 * 3600)));
        assert!(!key_holds(AttemptId::new(HotelId(204), Uuid::from_u128(7)), at(opened)));
    }
}
