//! A PaymentIntent, as far as we read it: one for each attempt, named by it in its metadata.

use std::collections::HashMap;

use keyrack_domain::{ids::AttemptId, money::Money, page_url::PageUrl};
use serde::Deserialize;

use super::{
    amount::{self, Amount},
    answer::{Failed, not_asked_for, unreadable},
};
use crate::{
    outcome::{DeclineReason, Doubt, Standing},
    provider_ids::ProviderId,
};

/// The key of our attempt in the metadata of intents and refunds. Stripe copies an intent's to its charge.
pub(super) const ATTEMPT: &str = "keyrack_attempt";
/// The key of a refund's own reference.
pub(super) const REFERENCE: &str = "keyrack_reference";
/// Names the charge that a refund gives back, which is no attempt's own.
pub(super) const RETURN: &str = "keyrack_return";
/// Marks an intent that was only made to keep a late one out.
pub(super) const PLACEHOLDER: &str = "keyrack_placeholder";

pub(super) type Metadata = HashMap<String, String>;

#[derive(Deserialize, Debug)]
pub(super) struct Intent {
    #[serde(deserialize_with = "provider_id")]
    pub(super) id: ProviderId,
    pub(super) status: Status,
    pub(super) amount: u64,
    pub(super) amount_capturable: u64,
    pub(super) amount_received: u64,
    pub(super) currency: String,
    #[serde(default)]
    pub(super) metadata: Metadata,
    pub(super) last_payment_error: Option<PaymentError>,
    pub(super) next_action: Option<NextAction>,
    pub(super) latest_charge: Option<Charge>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    RequiresPaymentMethod,
    RequiresConfirmation,
    RequiresAction,
    Processing,
    RequiresCapture,
    Canceled,
    Succeeded,
    #[serde(other)]
    New,
}

#[derive(Deserialize, Debug)]
pub(super) struct PaymentError {
    code: Option<String>,
    decline_code: Option<String>,
}

#[derive(Deserialize, Debug)]
pub(super) struct NextAction {
    redirect_to_url: Option<Redirect>,
}

#[derive(Deserialize, Debug)]
struct Redirect {
    url: Option<String>,
}

/// Its id, or itself where it was asked for.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
pub(super) enum Charge {
    Whole { amount_refunded: u64 },
    Id(serde::de::IgnoredAny),
}

pub(super) fn provider_id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<ProviderId, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

impl PaymentError {
    pub(super) fn reason(&self) -> DeclineReason {
        let word = self.decline_code.as_deref().or(self.code.as_deref());
        DeclineReason::from_provider(word.unwrap_or_default())
    }
}

impl Intent {
    pub(super) fn is_of(&self, attempt: AttemptId) -> bool {
        self.metadata.get(ATTEMPT).is_some_and(|said| *said == attempt.to_string())
    }

    /// Every answer about an intent is checked for this before it is believed.
    pub(super) fn of(self, attempt: AttemptId) -> Result<Self, Failed> {
        if self.is_of(attempt) { Ok(self) } else { Err(not_asked_for()) }
    }

    pub(super) fn is_for(&self, amount: Amount) -> bool {
        self.amount == amount.units && self.currency == amount.code()
    }

    pub(super) fn has_taken(&self, amount: Amount) -> bool {
        self.status == Status::Succeeded
            && self.amount_received == amount.units
            && self.currency == amount.code()
    }

    pub(super) fn money(&self, units: u64) -> Result<Money, Failed> {
        amount::read(units, &self.currency).map_err(unreadable)
    }

    /// Where the customer is to go, where that is a page.
    pub(super) fn action_url(&self) -> Option<PageUrl> {
        self.next_action.as_ref()?.redirect_to_url.as_ref()?.url.as_ref()?.parse().ok()
    }

    /// What the authorization's reference stands for.
    pub(super) fn standing(&self) -> Result<Standing, Failed> {
        Ok(match self.status {
            Status::RequiresCapture => Standing::Authorized { amount: self.money(self.amount_capturable)? },
            Status::Succeeded => self.captured()?,
            Status::Canceled => Standing::Voided,
            Status::RequiresPaymentMethod if self.last_payment_error.is_some() => Standing::Declined,
            Status::RequiresAction => Standing::ActionRequired { amount: self.money(self.amount)? },
            // Nothing is set aside, and only we could confirm it. A void makes sure that nobody does.
            Status::RequiresPaymentMethod | Status::RequiresConfirmation => Standing::Nothing,
            Status::Processing | Status::New => return Err(Failed::Unknown(Doubt::Undecided)),
        })
    }

    pub(super) fn captured(&self) -> Result<Standing, Failed> {
        let Some(Charge::Whole { amount_refunded }) = self.latest_charge else {
            return Err(not_asked_for());
        };
        Ok(Standing::Captured {
            amount: self.money(self.amount_received)?,
            refunded: self.money(amount_refunded)?,
        })
    }
}
