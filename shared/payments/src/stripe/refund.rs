//! Giving back of what an attempt's intent has taken.

use std::cmp::Ordering;

use keyrack_domain::money::Money;
use serde::Deserialize;

use super::{
    StripeProvider,
    amount::Amount,
    answer::{Complaint, Failed, Heard, not_asked_for},
    client::Fields,
    find::List,
    intent::{Intent, Metadata, REFERENCE, Status, provider_id},
};
use crate::{
    deadline::Deadline,
    outcome::{Doubt, NotSent, Refusal},
    provider_ids::ProviderId,
    reference::{Reference, RefundTry},
};

const INTENT: &str = "payment_intent";
const PAGE: usize = 100;
/// A payment has a handful of refunds.
const MAX_PAGES: usize = 10;

#[derive(Deserialize, Debug)]
pub(super) struct RefundObject {
    #[serde(deserialize_with = "provider_id")]
    pub(super) id: ProviderId,
    pub(super) amount: u64,
    pub(super) currency: String,
    pub(super) status: RefundStatus,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub(super) enum RefundStatus {
    Succeeded,
    /// With the bank, which may take days.
    Pending,
    /// The customer is asked where the money is to go.
    RequiresAction,
    Failed,
    Canceled,
    #[serde(other)]
    New,
}

impl RefundObject {
    fn is_of(&self, refund: RefundTry) -> bool {
        let reference = Reference::from(refund).to_string();
        self.metadata.get(REFERENCE).is_some_and(|said| *said == reference)
    }

    /// Whether it has given back what was asked for.
    pub(super) fn outcome(&self, amount: Amount) -> Result<(), Failed> {
        if self.amount != amount.units || self.currency != amount.code() {
            return Err(Failed::Refused(Refusal::ReferenceTaken));
        }
        match self.status {
            RefundStatus::Succeeded => Ok(()),
            RefundStatus::Failed | RefundStatus::Canceled => Err(Failed::Refused(Refusal::RefundFailed)),
            RefundStatus::Pending | RefundStatus::RequiresAction | RefundStatus::New => {
                Err(Failed::Unknown(Doubt::Undecided))
            }
        }
    }

    const fn is_lost(&self) -> bool {
        matches!(self.status, RefundStatus::Failed | RefundStatus::Canceled)
    }
}

impl StripeProvider {
    /// A repeat finds the refund among those of its intent, however long ago it was sent: its key may be
    /// forgotten, and its first answer may have been that it is pending.
    pub(super) async fn give_back(
        &self,
        refund: RefundTry,
        amount: Money,
        deadline: Deadline,
    ) -> Result<(), Failed> {
        let amount = Amount::try_from(amount).map_err(never_chargeable)?;
        let intent = self.find(refund.attempt, deadline).await?;
        let intent = intent.ok_or(Failed::Refused(Refusal::NothingToActOn))?;
        let earlier = self.refunds(INTENT, &intent.id, deadline).await?;
        if let Some(found) = earlier.iter().find(|earlier| earlier.is_of(refund)) {
            return found.outcome(amount);
        }
        may_give_back(&intent, &earlier, amount)?;
        self.send_refund(refund, &intent, amount, deadline).await
    }

    async fn send_refund(
        &self,
        refund: RefundTry,
        intent: &Intent,
        amount: Amount,
        deadline: Deadline,
    ) -> Result<(), Failed> {
        let reference = Reference::from(refund);
        let form: Fields = vec![
            (INTENT, intent.id.to_string()),
            ("amount", amount.units.to_string()),
            ("metadata[keyrack_attempt]", refund.attempt.to_string()),
            ("metadata[keyrack_reference]", reference.to_string()),
        ];
        match self
            .client
            .post::<RefundObject>("refunds", Some(reference.to_string()), &form, deadline)
            .await?
        {
            Heard::Done(made) if made.is_of(refund) => {
                self.keep(reference, &made.id, deadline).await;
                made.outcome(amount)
            }
            // The same name with other parameters, and not in the list a moment ago.
            Heard::Done(_) | Heard::KeyTaken => Err(not_asked_for()),
            Heard::Declined(_) => Err(Failed::Refused(Refusal::RefundFailed)),
            Heard::NotAccepted(complaint) => Err(Failed::Refused(refused(&complaint))),
        }
    }

    pub(super) async fn refund_named(
        &self,
        refund: RefundTry,
        deadline: Deadline,
    ) -> Result<Option<RefundObject>, Failed> {
        let Some(intent) = self.find_id(refund.attempt, deadline).await? else { return Ok(None) };
        let refunds = self.refunds(INTENT, &intent, deadline).await?;
        Ok(refunds.into_iter().find(|found| found.is_of(refund)))
    }

    /// Of an intent, or of a charge.
    pub(super) async fn refunds(
        &self,
        kind: &'static str,
        id: &ProviderId,
        deadline: Deadline,
    ) -> Result<Vec<RefundObject>, Failed> {
        let mut all: Vec<RefundObject> = Vec::new();
        for _ in 0..MAX_PAGES {
            let mut query: Fields = vec![(kind, id.to_string()), ("limit", PAGE.to_string())];
            query.extend(all.last().map(|last| ("starting_after", last.id.to_string())));
            let page = self.client.get::<List<RefundObject>>("refunds", &query, deadline).await?;
            let Heard::Done(page) = page else { return Err(not_asked_for()) };
            let is_last = !page.has_more || page.data.is_empty();
            all.extend(page.data);
            if is_last {
                return Ok(all);
            }
        }
        Err(Failed::Unknown(Doubt::TooMany))
    }
}

/// Sending it again would change nothing: a definite failure, so that somebody looks.
pub(super) fn never_chargeable(why: NotSent) -> Failed {
    match why {
        NotSent::NotChargeable => Failed::Refused(Refusal::Invalid),
        other => Failed::NotSent(other),
    }
}

/// Told by ourselves, and by the reason: Stripe has one code for many of them.
fn may_give_back(intent: &Intent, earlier: &[RefundObject], amount: Amount) -> Result<(), Failed> {
    if intent.status != Status::Succeeded || intent.currency != amount.code() {
        return Err(Failed::Refused(Refusal::NothingToActOn));
    }
    fits(earlier, amount, intent.amount_received)
}

/// All together never give back more than was taken, whoever has made them.
pub(super) fn fits(earlier: &[RefundObject], amount: Amount, taken: u64) -> Result<(), Failed> {
    let gone = earlier
        .iter()
        .filter(|refund| !refund.is_lost())
        .try_fold(0_u64, |sum, refund| sum.checked_add(refund.amount));
    let together = gone.and_then(|gone| gone.checked_add(amount.units));
    match together.map(|together| together.cmp(&taken)) {
        Some(Ordering::Less | Ordering::Equal) => Ok(()),
        Some(Ordering::Greater) | None => Err(Failed::Refused(Refusal::ExceedsWhatIsThere)),
    }
}

pub(super) fn refused(complaint: &Complaint) -> Refusal {
    if complaint.says("charge_already_refunded") || complaint.param.as_deref() == Some("amount") {
        Refusal::ExceedsWhatIsThere
    } else {
        Refusal::Invalid
    }
}
